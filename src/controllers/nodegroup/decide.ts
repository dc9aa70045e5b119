// What a NodeGroup should say, given its Auto Scaling group and nodes: its status, and the desired
// size to write back when somebody changed the group from outside. Pure; never asks the cloud to
// change anything.
import { type EpochMs, formatKubeTime } from '../../api/brand.ts';
import type { Condition } from '../../api/kube.ts';
import type { NodeGroup, NodeGroupStatus } from '../../api/nodegroup.ts';
import type { ScalingGroup, ScalingInstance } from '../../ports/index.ts';

export interface NodeGroupFacts {
  readonly group: NodeGroup;
  /** Undefined: the cloud knows no group of this name. */
  readonly scaling: ScalingGroup | undefined;
  /** Whether the instance's node is Ready. */
  readonly isReady: (instanceId: string) => boolean;
  readonly now: EpochMs;
}

export interface NodeGroupDecision {
  /** New value of `spec.scaling.desired`; undefined leaves the spec alone. */
  readonly desired: number | undefined;
  /** For the generation that the spec has after that write. */
  readonly status: (generation: number | undefined) => NodeGroupStatus;
}

export const decideNodeGroup = (facts: NodeGroupFacts): NodeGroupDecision => {
  const desired = writeBack(facts);
  return {
    desired,
    status: (generation) => {
      const { group, scaling, now } = facts;
      const asked = desired ?? group.spec.scaling.desired;
      const draft = scaling === undefined ? missing(group) : present(facts, scaling, asked);
      const conditions = draft.conditions.map((condition) =>
        dated({ ...condition, ...(generation && { observedGeneration: generation }) }, group, now),
      );
      const observed = generation === undefined ? {} : { observedGeneration: generation };
      return { ...draft.status, ...observed, conditions };
    },
  };
};

/**
 * Somebody changed the group since we last looked: the field follows, as with autoscalers. A field
 * that differs although the group stands still is a request, and stays as it is.
 */
const writeBack = ({ group, scaling }: NodeGroupFacts): number | undefined => {
  const asked = group.spec.scaling.desired;
  const before = group.status?.desired;
  if (scaling === undefined || asked === undefined || before === undefined) return undefined;
  const actual = scaling.desiredCapacity;
  return actual !== before && actual !== asked ? actual : undefined;
};

interface Draft {
  readonly status: NodeGroupStatus;
  readonly conditions: readonly Condition[];
}

const missing = (group: NodeGroup): Draft => {
  const name = group.spec.autoScalingGroupName;
  const message = `Auto Scaling group ${name} does not exist.`;
  const { scaling } = group.spec;
  return {
    status: {
      state: 'DEGRADED',
      // The last that was seen: a group that is only missing from one answer has not changed.
      desired: group.status?.desired ?? scaling.desired ?? scaling.minSize,
      minSize: group.status?.minSize ?? scaling.minSize,
      maxSize: group.status?.maxSize ?? scaling.maxSize,
      instances: 0,
      ready: 0,
      perZone: {},
      health: [{ code: 'AutoScalingGroupNotFound', message, resourceIds: [name] }],
    },
    conditions: [
      condition('Ready', 'False', 'AutoScalingGroupNotFound', message),
      condition('Progressing', 'False', 'AutoScalingGroupNotFound', message),
      condition('Degraded', 'True', 'AutoScalingGroupNotFound', message),
    ],
  };
};

const present = (
  facts: NodeGroupFacts,
  scaling: ScalingGroup,
  asked: number | undefined,
): Draft => {
  const instances = scaling.instances.filter(({ lifecycleState }) => !isGone(lifecycleState));
  const serving = instances.filter(({ lifecycleState }) => lifecycleState === 'InService');
  const ready = serving.filter(({ instanceId }) => facts.isReady(instanceId)).length;
  const perZone: Record<string, number> = {};
  const zones = instances.map(({ availabilityZone }) => availabilityZone).toSorted();
  for (const zone of zones) perZone[zone] = (perZone[zone] ?? 0) + 1;
  const wanted = scaling.desiredCapacity;
  const nodes = `${ready} of ${wanted} nodes are Ready.`;
  return {
    status: {
      state: 'ACTIVE',
      desired: wanted,
      minSize: scaling.minSize,
      maxSize: scaling.maxSize,
      instances: instances.length,
      ready,
      perZone,
      health: [],
    },
    conditions: [
      ready >= wanted
        ? condition('Ready', 'True', 'NodesReady', nodes)
        : condition('Ready', 'False', 'NodesNotReady', nodes),
      progressing(instances, { wanted, asked }),
      condition('Degraded', 'False', 'Healthy', 'The Auto Scaling group exists.'),
    ],
  };
};

const progressing = (
  instances: readonly ScalingInstance[],
  size: { readonly wanted: number; readonly asked: number | undefined },
): Condition => {
  const moving = new Map<string, number>();
  for (const { lifecycleState } of instances) {
    if (lifecycleState === 'InService') continue;
    moving.set(lifecycleState, (moving.get(lifecycleState) ?? 0) + 1);
  }
  if (moving.size > 0) {
    const parts = [...moving].toSorted().map(([state, count]) => `${count} ${state}`);
    return condition('Progressing', 'True', 'InstancesChanging', `${parts.join(', ')}.`);
  }
  if (instances.length !== size.wanted) {
    const message = `${instances.length} of ${size.wanted} instances exist.`;
    return condition('Progressing', 'True', 'InstancesChanging', message);
  }
  if (size.asked !== undefined && size.asked !== size.wanted) {
    const message =
      `spec.scaling.desired asks for ${size.asked} nodes; this version changes no Auto Scaling ` +
      'group. Set its desired capacity: the field follows.';
    return condition('Progressing', 'False', 'ScalingNotSupported', message);
  }
  return condition('Progressing', 'False', 'Settled', 'All instances are in service.');
};

/** Instances that Auto Scaling still lists although they no longer count. */
const isGone = (lifecycleState: string): boolean =>
  lifecycleState === 'Terminated' || lifecycleState === 'Detached';

const condition = (
  type: string,
  status: Condition['status'],
  reason: string,
  message: string,
): Condition => ({ type, status, reason, message });

/** Keeps the time of the last change of status; a new reason or message alone is no transition. */
const dated = (next: Condition, group: NodeGroup, now: EpochMs): Condition => {
  const before = group.status?.conditions?.find(({ type }) => type === next.type);
  const same = before?.status === next.status ? before.lastTransitionTime : undefined;
  return { ...next, lastTransitionTime: same ?? formatKubeTime(now) };
};
