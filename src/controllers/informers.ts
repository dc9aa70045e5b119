// The informers that controllers share, with their projections and indexes: one watch per kind and
// process. Only main starts them. Fields that are dropped here are read nowhere.

import { completeNodeGroup } from '../api/adopted.ts';
import { instanceIdOfProviderId } from '../api/brand.ts';
import { nodeAmong } from '../api/claims.ts';
import { isReady } from '../api/conditions.ts';
import { defined } from '../api/defined.ts';
import { marks, type NodeDisruption } from '../api/disruption.ts';
import { setOwn } from '../api/json.ts';
import { type Condition, type Node, type ObjectMeta, resourceTypes } from '../api/kube.ts';
import { bundleCondition } from '../api/log-bundle.ts';
import type { NodeRepair } from '../api/node-repair.ts';
import { autoScalingGroupNameOf, type NodeGroup } from '../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../api/nodegroup-update.ts';
import type { NodeGroupUpdateSequence } from '../api/update-sequence.ts';
import { repairableConditions } from '../core/health/index.ts';
import type { Clock, KubeApi, Log, Random } from '../ports/index.ts';
import { Informer } from '../runtime/index.ts';

export interface InformerDeps {
  readonly kube: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

const byInstance = 'instance';
const byAutoScalingGroup = 'autoScalingGroup';

/** Metadata without managedFields, which are half of an object's size. */
export const slim = (metadata: ObjectMeta): ObjectMeta => {
  const { managedFields: _dropped, ...rest } = metadata as ObjectMeta & {
    readonly managedFields?: unknown;
  };
  return rest;
};

/**
 * Interns strings: thousands of nodes repeat the same few. Bounded by clearing all of them, which
 * also drops values of single nodes.
 */
const maxWords = 20_000;
const words = new Map<string, string>();

const kept = (word: string): string => {
  const known = words.get(word);
  if (known !== undefined) return known;
  if (words.size >= maxWords) words.clear();
  words.set(word, word);
  return word;
};

const withKeptLabels = (metadata: ObjectMeta): ObjectMeta => {
  if (metadata.labels === undefined) return metadata;
  const labels: Record<string, string> = {};
  for (const [key, value] of Object.entries(metadata.labels)) setOwn(labels, key, kept(value));
  return { ...metadata, labels };
};

/**
 * The conditions that can lead to a repair, with their times, and the agent's answer about a log
 * bundle; the others would double the size of a cached node. The heartbeat is kept only for a bad
 * condition, to detect a silent agent.
 */
const healthConditions = (conditions: readonly Condition[]): readonly Condition[] =>
  conditions
    .filter(({ type }) => repairableConditions.has(type) || type === bundleCondition)
    .map(({ type, status, lastTransitionTime, lastHeartbeatTime, reason, message }) => ({
      type: kept(type),
      status,
      ...defined({
        lastTransitionTime,
        reason: reason === undefined ? undefined : kept(reason),
        lastHeartbeatTime: type === 'Ready' || status === 'True' ? undefined : lastHeartbeatTime,
        // The reason why a node is not Ready becomes part of an update's failure.
        message:
          type === bundleCondition || (type === 'Ready' && status !== 'True') ? message : undefined,
      }),
    }));

const nodeStatus = (status: Node['status'] | undefined): Node['status'] => {
  const { conditions, nodeInfo: { bootID } = {} } = status ?? {};
  return defined({
    conditions: conditions === undefined ? undefined : healthConditions(conditions),
    nodeInfo: bootID === undefined ? undefined : { bootID },
  });
};

export const createNodeInformer = (deps: InformerDeps): Informer<Node> =>
  new Informer<Node>({
    ...deps,
    type: resourceTypes.nodes,
    project: ({ apiVersion, kind, metadata, spec, status }) => ({
      apiVersion,
      kind,
      metadata: withKeptLabels(slim(metadata)),
      spec: {
        ...defined({
          providerID: spec.providerID,
          unschedulable: spec.unschedulable,
          taints: spec.taints,
        }),
      },
      status: nodeStatus(status),
    }),
    indexes: {
      [byInstance]: (node) => {
        const id = instanceIdOfProviderId(node.spec.providerID);
        return id === undefined ? [] : [id];
      },
    },
  });

export const createNodeGroupInformer = (deps: InformerDeps): Informer<NodeGroup> =>
  new Informer<NodeGroup>({
    ...deps,
    type: resourceTypes.nodegroups,
    project: (group) => completeNodeGroup({ ...group, metadata: slim(group.metadata) }),
    indexes: { [byAutoScalingGroup]: (group) => [autoScalingGroupNameOf(group)] },
  });

export const createNodeGroupUpdateInformer = (deps: InformerDeps): Informer<NodeGroupUpdate> =>
  new Informer<NodeGroupUpdate>({
    ...deps,
    type: resourceTypes.nodegroupupdates,
    project: (update) => ({ ...update, metadata: slim(update.metadata) }),
  });

export const createUpdateSequenceInformer = (
  deps: InformerDeps,
): Informer<NodeGroupUpdateSequence> =>
  new Informer<NodeGroupUpdateSequence>({
    ...deps,
    type: resourceTypes.nodegroupupdatesequences,
    project: (sequence) => ({ ...sequence, metadata: slim(sequence.metadata) }),
  });

export const createDisruptionInformer = (deps: InformerDeps): Informer<NodeDisruption> =>
  new Informer<NodeDisruption>({
    ...deps,
    type: resourceTypes.nodedisruptions,
    project: (disruption) => ({ ...disruption, metadata: slim(disruption.metadata) }),
  });

export const createRepairInformer = (deps: InformerDeps): Informer<NodeRepair> =>
  new Informer<NodeRepair>({
    ...deps,
    type: resourceTypes.noderepairs,
    project: (repair) => ({ ...repair, metadata: slim(repair.metadata) }),
  });

/** The node of an instance: see `nodeAmong`. */
export const nodeOfInstance = (nodes: Informer<Node>, instanceId: string): Node | undefined =>
  nodeAmong(nodes.index(byInstance, instanceId));

/** The NodeGroups that name this Auto Scaling group; only one of them owns it. */
export const groupsNaming = (groups: Informer<NodeGroup>, name: string): readonly NodeGroup[] =>
  groups.index(byAutoScalingGroup, name);

/** Ready, and neither excluded from load balancers nor tainted for a drain. */
export const isInService = (node: Node): boolean =>
  isReady(node) &&
  node.metadata.labels?.[marks.excludeFromLoadBalancers] === undefined &&
  node.spec.taints?.some(({ key }) => key === marks.disruptedTaint) !== true;
