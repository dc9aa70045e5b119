// What the cluster provides to a Windows group, for the group's condition: the VPC CNI's ConfigMap
// and agent, nodes of other systems, the address family. Reads only; skips what it may not read.
import { type KubeObject, resourceTypes } from '../../../api/kube.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import { vpcAgentOf, type WindowsEvidence, windowsCauses } from '../../../core/explain/index.ts';
import { familyOf, type WindowsLack } from '../../../core/nodegroup/index.ts';
import { orUnknown } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const vpcCni = { namespace: 'kube-system', name: 'amazon-vpc-cni' } as const;
const vpcAgent = { namespace: 'kube-system', name: 'aws-node' } as const;
/** Operators fix these by hand, and see the effect within a minute. */
const lookAgainMs = 60_000;

export interface WindowsMemory {
  readonly at: number;
  readonly lacks: readonly WindowsLack[];
}

export const isWindows = ({ spec }: NodeGroup): boolean =>
  familyOf(spec.amiType)?.bootstrap === 'powershell';

const evidenceOf = async (
  { kube, cloud, nodes }: NodeGroupDeps,
  { spec }: NodeGroup,
  signal: AbortSignal,
): Promise<WindowsEvidence> => {
  const { configmaps, daemonsets } = resourceTypes;
  const map = await orUnknown(kube.get<ConfigMap>(configmaps, vpcCni, { signal }));
  const agent = await orUnknown(kube.get<KubeObject>(daemonsets, vpcAgent, { signal }));
  const cluster = await orUnknown(cloud.describeCluster(spec.clusterName, { signal }));
  return {
    vpcCni: map?.kind === 'found' ? (map.object.data ?? {}) : map && 'absent',
    vpcAgent: agent?.kind === 'found' ? vpcAgentOf(agent.object) : undefined,
    otherNodes: nodes
      .list()
      .filter(({ metadata }) => metadata.labels?.['kubernetes.io/os'] !== 'windows').length,
    serviceCidr: cluster?.serviceCidr,
    refused: [],
  };
};

/** Empty: the cluster has everything it needs; undefined: not a Windows group. */
export const windowsLacks = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  memory: { windows?: WindowsMemory },
  signal: AbortSignal,
): Promise<readonly WindowsLack[] | undefined> => {
  if (!isWindows(group)) return undefined;
  const now = deps.clock.now();
  if (memory.windows !== undefined && now < memory.windows.at + lookAgainMs) {
    return memory.windows.lacks;
  }
  const windows = await evidenceOf(deps, group, signal);
  const lacks = windowsCauses({ isWindows: true, windows }).map(({ code, what, remedy }) => ({
    code,
    message: `${what}. ${remedy[0] ?? ''}`.trim(),
  }));
  memory.windows = { at: now, lacks };
  return lacks;
};
