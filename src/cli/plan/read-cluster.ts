// What a plan reads of the Kubernetes API, each collection once. Reads only.
import type { NodeDisruption } from '../../api/disruption.ts';
import type { PodDisruptionBudget } from '../../api/kube.ts';
import {
  type CsiNode,
  type EndpointSlice,
  type FullNode,
  type FullPod,
  type LimitRange,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type ResourceQuota,
  preflightTypes as types,
  type WebhookConfiguration,
  type Workload,
} from '../../api/workloads.ts';
import type { Snapshot } from '../../core/update/preflight/index.ts';
import type { KubeApi } from '../../ports/index.ts';
import { type Collector, planTypes } from './collect.ts';

export type ClusterRead = Pick<
  Snapshot,
  | 'pods'
  | 'budgets'
  | 'workloads'
  | 'claims'
  | 'volumes'
  | 'csiNodes'
  | 'quotas'
  | 'limitRanges'
  | 'webhooks'
  | 'endpointSlices'
  | 'disruptions'
> & { readonly nodes: readonly FullNode[] };

export const readCluster = async (kube: KubeApi, collector: Collector): Promise<ClusterRead> => {
  const list = collector.list.bind(collector);
  const [nodes, pods, budgets, disruptions] = await Promise.all([
    list<FullNode>('nodes', kube, planTypes.nodes),
    list<FullPod>('pods', kube, planTypes.pods),
    list<PodDisruptionBudget>('budgets', kube, planTypes.budgets),
    // Empty in a cluster without Drover.
    collector.listIfServed<NodeDisruption>('disruptions', kube, planTypes.disruptions),
  ]);
  const workloads = await Promise.all(
    [planTypes.replicasets, types.statefulsets, planTypes.daemonsets, types.jobs].map((type) =>
      list<Workload>('workloads', kube, type),
    ),
  );
  const [claims, volumes, csiNodes] = await Promise.all([
    list<PersistentVolumeClaim>('volumes', kube, types.persistentvolumeclaims),
    list<PersistentVolume>('volumes', kube, types.persistentvolumes),
    collector.listIfServed<CsiNode>('volumes', kube, types.csinodes),
  ]);
  const [quotas, limitRanges] = await Promise.all([
    list<ResourceQuota>('quotas', kube, types.resourcequotas),
    list<LimitRange>('quotas', kube, types.limitranges),
  ]);
  const [validating, mutating, endpointSlices] = await Promise.all([
    collector.listIfServed<WebhookConfiguration>('webhooks', kube, types.validatingwebhooks),
    collector.listIfServed<WebhookConfiguration>('webhooks', kube, types.mutatingwebhooks),
    list<EndpointSlice>('endpoints', kube, types.endpointslices),
  ]);
  return {
    nodes,
    pods,
    // Its controller writes the status a moment after the budget is created.
    budgets: budgets.map((budget) => ({ ...budget, status: budget.status ?? {} })),
    disruptions,
    workloads: workloads.flat(),
    claims,
    volumes,
    csiNodes,
    quotas,
    limitRanges,
    webhooks: [...validating, ...mutating],
    endpointSlices,
  };
};
