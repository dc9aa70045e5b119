// What a Windows group requires of its cluster, as far as it can be read: the VPC CNI's ConfigMap,
// other nodes, the address family, kubelets' messages about pods without an address. Reads only.
import { type KubeObject, type Node, resourceTypes } from '../../api/kube.ts';
import { vpcAgentOf, type WindowsEvidence } from '../../core/explain/index.ts';
import { type CloudApi, type KubeApi, orUnknown } from '../../ports/index.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Event extends KubeObject {
  readonly reason?: string;
  readonly message?: string;
  readonly source?: { readonly host?: string };
  readonly reportingInstance?: string;
  readonly involvedObject?: { readonly namespace?: string; readonly name?: string };
}

const where = { namespace: 'kube-system', name: 'amazon-vpc-cni' } as const;
const agent = { namespace: 'kube-system', name: 'aws-node' } as const;
const groupLabel = 'eks.amazonaws.com/nodegroup';

const vpcCniOf = async (kube: KubeApi): Promise<WindowsEvidence['vpcCni']> => {
  const found = await kube.get<ConfigMap>(resourceTypes.configmaps, where);
  return found.kind === 'gone' ? 'absent' : (found.object.data ?? {});
};

const vpcAgentIn = async (kube: KubeApi): Promise<WindowsEvidence['vpcAgent']> => {
  const found = await kube.get<KubeObject>(resourceTypes.daemonsets, agent);
  return found.kind === 'gone' ? undefined : vpcAgentOf(found.object);
};

const refusedOf = async (
  kube: KubeApi,
  nodes: ReadonlySet<string>,
): Promise<WindowsEvidence['refused']> => {
  const { items } = await kube.list<Event>(resourceTypes.events);
  return items
    .filter(
      ({ reason, source, reportingInstance }) =>
        reason === 'FailedCreatePodSandBox' && nodes.has(source?.host ?? reportingInstance ?? ''),
    )
    .map(({ involvedObject, message = '' }) => ({
      pod: `${involvedObject?.namespace ?? ''}/${involvedObject?.name ?? ''}`,
      message,
    }));
};

export const gatherWindowsEvidence = async (
  kube: KubeApi,
  cloud: CloudApi,
  group: { readonly name: string; readonly cluster: string },
): Promise<WindowsEvidence> => {
  const nodes = (await orUnknown(kube.list<Node>(resourceTypes.nodes)))?.items;
  const own = (nodes ?? []).filter(({ metadata }) => metadata.labels?.[groupLabel] === group.name);
  const names = new Set(own.map(({ metadata }) => metadata.name));
  return {
    vpcCni: await orUnknown(vpcCniOf(kube)),
    vpcAgent: await orUnknown(vpcAgentIn(kube)),
    otherNodes: nodes?.filter(({ metadata }) => metadata.labels?.['kubernetes.io/os'] !== 'windows')
      .length,
    serviceCidr: (await orUnknown(cloud.describeCluster(group.cluster)))?.serviceCidr,
    refused: names.size === 0 ? [] : ((await orUnknown(refusedOf(kube, names))) ?? []),
  };
};
