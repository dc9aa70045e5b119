// The objects of the add-on eks-node-monitoring-agent: service account, roles, DaemonSet. Created
// and deleted with the add-on; the caller that runs the world runs the pods' agents.
import { agentDaemonSet, agentGrants } from '../../../src/api/agent-rights.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import type { GroupResource, WorldKube } from '../../contracts.ts';
import { clientFor, clusterIdentity, resources } from '../actors/index.ts';

const name = 'eks-node-monitoring-agent';
const account = { namespace: 'kube-system', name };

export const monitoringAgent = { ...account, labels: { 'app.kubernetes.io/name': name } } as const;

const collections: Readonly<Record<string, GroupResource>> = {
  ServiceAccount: resources.serviceaccounts,
  ClusterRole: resources.clusterroles,
  ClusterRoleBinding: resources.clusterrolebindings,
  Role: resources.roles,
  RoleBinding: resources.rolebindings,
  DaemonSet: resources.daemonsets,
};

const objectsOf = (image: string): readonly JsonObject[] => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account },
  ...agentGrants(name, account),
  agentDaemonSet(account, image),
];

const placeOf = (object: JsonObject) => {
  const collection = collections[String(object.kind)];
  if (collection === undefined) throw new Error(`no collection for ${String(object.kind)}`);
  const { namespace } = object.metadata as { readonly namespace?: string };
  return { collection, namespace, key: namespace === undefined ? { name } : { name, namespace } };
};

/** Creates missing objects and sets the add-on's version. */
export const installMonitoringAgent = (
  kube: WorldKube,
  { region, version }: { readonly region: string; readonly version: string },
): void => {
  const client = clientFor(kube, clusterIdentity);
  const image = `602401143452.dkr.ecr.${region}.amazonaws.com/eks/${name}:${version}`;
  for (const object of objectsOf(image)) {
    const { collection, namespace, key } = placeOf(object);
    if (kube.read(collection, key) === undefined) client.create(collection, namespace, object);
  }
  const body = { spec: { template: { spec: { containers: [{ name: 'agent', image }] } } } };
  client.patch(resources.daemonsets, account, { type: 'strategic', body });
};

export const removeMonitoringAgent = (kube: WorldKube): void => {
  const client = clientFor(kube, clusterIdentity);
  for (const object of objectsOf('').toReversed()) {
    const { collection, key } = placeOf(object);
    if (kube.read(collection, key) === undefined) continue;
    client.delete(collection, key, { propagationPolicy: 'Background' });
  }
};
