// What the page reads of a cluster: one informer per kind, each object trimmed to what is shown.
// They run only while a page is open. Read-only.
import { completeNodeGroup } from '../api/adopted.ts';
import { defined } from '../api/defined.ts';
import type { NodeDisruption } from '../api/disruption.ts';
import {
  type KubeObject,
  type ObjectMeta,
  type Pod,
  type PodDisruptionBudget,
  resourceTypes,
} from '../api/kube.ts';
import type { NodeRepair } from '../api/node-repair.ts';
import type { NodeGroup } from '../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../api/nodegroup-update.ts';
import { quantityValue } from '../api/quantity.ts';
import type { Clock, KubeApi, Log, Random } from '../ports/index.ts';
import { Informer } from '../runtime/index.ts';
import type { RoomyNode, Usage } from './rows/index.ts';

export interface CollectionDeps {
  readonly kube: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** A pod as the page reads it: `requests` replaces its containers. */
export type RoomyPod = Pod & { readonly requests: Omit<Usage, 'pods'> };

const mirrorAnnotation = 'kubernetes.io/config.mirror';

const slim = (metadata: ObjectMeta): ObjectMeta => {
  const { managedFields: _fields, ...rest } = metadata as ObjectMeta & {
    readonly managedFields?: unknown;
  };
  return rest;
};

const slimNode = ({ apiVersion, kind, metadata, spec, status }: RoomyNode): RoomyNode => {
  const { conditions, nodeInfo, allocatable } = status;
  const { kubeletVersion } = nodeInfo ?? {};
  const { annotations: _annotations, ...rest } = slim(metadata);
  return {
    apiVersion,
    kind,
    metadata: rest,
    spec: defined({
      providerID: spec.providerID,
      unschedulable: spec.unschedulable,
      taints: spec.taints,
    }),
    status: defined({
      conditions,
      nodeInfo: kubeletVersion === undefined ? undefined : { kubeletVersion },
      allocatable: allocatable && defined({ cpu: allocatable.cpu, memory: allocatable.memory }),
    }),
  };
};

interface Container {
  readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
}
type FullPod = Pod & {
  readonly spec: {
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
  };
};

/** As the scheduler counts: the sum of the containers, or the largest init container. */
const requestOf = ({ spec }: FullPod, resource: 'cpu' | 'memory'): number => {
  const each = (containers: readonly Container[] = []): readonly number[] =>
    containers.map(({ resources }) => quantityValue(resources?.requests?.[resource]));
  const sum = each(spec.containers).reduce((all, one) => all + one, 0);
  return Math.max(sum, ...each(spec.initContainers));
};

const slimPod = (pod: RoomyPod): RoomyPod => {
  const { apiVersion, kind, metadata, spec, status } = pod;
  const { labels: _labels, annotations = {}, ...rest } = slim(metadata);
  const mirror = annotations[mirrorAnnotation];
  return {
    apiVersion,
    kind,
    metadata:
      mirror === undefined ? rest : { ...rest, annotations: { [mirrorAnnotation]: mirror } },
    spec: defined({ nodeName: spec.nodeName, priorityClassName: spec.priorityClassName }),
    status: defined({ phase: status.phase }),
    requests: { cpu: requestOf(pod, 'cpu'), memory: requestOf(pod, 'memory') },
  };
};

const slimAny = <T extends KubeObject>(object: T): T => ({
  ...object,
  metadata: slim(object.metadata),
});

export interface Collections {
  readonly nodes: Informer<RoomyNode>;
  readonly pods: Informer<RoomyPod>;
  readonly budgets: Informer<PodDisruptionBudget>;
  readonly groups: Informer<NodeGroup>;
  readonly updates: Informer<NodeGroupUpdate>;
  readonly drains: Informer<NodeDisruption>;
  readonly repairs: Informer<NodeRepair>;
}

/** The index of pods by node. */
const byNode = 'node';

export const podsOn = ({ pods }: Collections, node: string): readonly RoomyPod[] =>
  pods.index(byNode, node);

export const createCollections = (deps: CollectionDeps): Collections => {
  const { nodes, pods, poddisruptionbudgets, nodegroups, ...drover } = resourceTypes;
  return {
    nodes: new Informer<RoomyNode>({ ...deps, type: nodes, project: slimNode }),
    pods: new Informer<RoomyPod>({
      ...deps,
      type: pods,
      project: slimPod,
      indexes: { [byNode]: ({ spec }) => (spec.nodeName === undefined ? [] : [spec.nodeName]) },
    }),
    budgets: new Informer<PodDisruptionBudget>({
      ...deps,
      type: poddisruptionbudgets,
      project: slimAny,
    }),
    groups: new Informer<NodeGroup>({
      ...deps,
      type: nodegroups,
      project: (group) => completeNodeGroup(slimAny(group)),
    }),
    updates: new Informer<NodeGroupUpdate>({
      ...deps,
      type: drover.nodegroupupdates,
      project: slimAny,
    }),
    drains: new Informer<NodeDisruption>({
      ...deps,
      type: drover.nodedisruptions,
      project: slimAny,
    }),
    repairs: new Informer<NodeRepair>({ ...deps, type: drover.noderepairs, project: slimAny }),
  };
};
