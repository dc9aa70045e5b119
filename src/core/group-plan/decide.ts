// The plan of a node group that is not being deleted: its sizes, the next step of an update, and
// which instances to drain. Effects are recorded before they happen. Pure: at a fixed state it has
// no step.
import { type EpochMs, epochMs } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import {
  followedAnnotation,
  type NodeGroup,
  type NodeGroupScaling,
  type NodeGroupStatus,
} from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { GroupPlan, GroupStep, SizeChange } from '../../api/plan.ts';
import { inTurn, isRetired, type UpdateSurge } from '../update/index.ts';
import { planCalls, readSizes } from './late-calls.ts';
import { lateSuspension } from './late-suspension.ts';
import { countedOf, isForced, surplusOf } from './members.ts';
import type { GroupObservation } from './observation.ts';
import {
  netDesired,
  noSurge,
  type SizesNow,
  type SizesSeen,
  seeSizes,
  sizesNow,
  withCall,
} from './requests.ts';
import {
  type DrainRecords,
  drainRecordsOf,
  keepsCause,
  lookAtScaleIn,
  missingDrains,
  type ScaleIn,
  type ScaleInView,
  scaleInSteps,
  setSizes,
  withdrawSteps,
} from './scale-in.ts';
import { isRollingOut, preparing, type RolloutPart, rolloutPart } from './update.ts';
import { waitingOf } from './waiting.ts';

/** After a change the controller observes the cloud again after this time. */
export const againMs = 1_000;

export interface GroupDecision {
  readonly plan: GroupPlan;
  /** The plan changes the cloud, so earlier observations are stale after it. */
  readonly isActing: boolean;
  /** The part of a version update; undefined: none is in progress. */
  readonly rollout: RolloutPart | undefined;
}

/** New nodes that the last update could not remove; fewer if the desired size has grown since. */
const leftoverSurge = (
  { updates, group, scaling }: Pick<GroupObservation, 'updates' | 'group' | 'scaling'>,
  followed: NodeGroup,
): UpdateSurge => {
  const last = updates
    .filter(({ spec, status }) => spec.nodeGroup === group.metadata.name && status?.target)
    .toSorted(inTurn)
    .at(-1);
  const { status, leftover = 0 } = last?.status ?? {};
  if (status === 'InProgress' || leftover === 0) return noSurge;
  const wanted = netDesired(followed, scaling);
  const more = Math.max(0, scaling.desiredCapacity - wanted);
  const count = Math.min(leftover, more);
  // The maximum is raised only by the nodes that do not fit into the user's maximum.
  return { desired: count, maxSize: Math.max(0, wanted + count - followed.spec.scaling.maxSize) };
};

/** Instances that the update terminates with decrement: they count until they are gone. */
const terminatingOf = (
  { records, nodeNames, now }: DrainRecords,
  scaling: ScalingGroup,
  update: NodeGroupUpdate | undefined,
): number => {
  if (update === undefined) return 0;
  return countedOf(scaling).filter(({ instanceId }) => {
    const hasNode = nodeNames.has(instanceId);
    return isRetired(records.get(instanceId), update.metadata.name, { hasNode, now });
  }).length;
};

const sameSizes = (a: NodeGroupScaling, b: NodeGroupScaling): boolean =>
  a.minSize === b.minSize && a.maxSize === b.maxSize && a.desired === b.desired;

/**
 * The group after Drover wrote sizes back to its spec, and that step; no step if the spec already
 * has these sizes.
 */
const follow = (
  group: NodeGroup,
  scaling: NodeGroupScaling,
): { readonly group: NodeGroup; readonly steps: readonly GroupStep[] } => {
  const { spec, metadata } = group;
  if (sameSizes(scaling, spec.scaling)) return { group, steps: [] };
  const generation = (metadata.generation ?? 0) + 1;
  const annotations = { ...metadata.annotations, [followedAnnotation]: String(generation) };
  return {
    group: {
      ...group,
      metadata: { ...metadata, generation, annotations },
      spec: { ...spec, scaling },
    },
    steps: [{ kind: 'WriteSpecSizes', group: metadata.name, from: spec.scaling, scaling }],
  };
};

/** Reads the sizes, before anything is decided on them. */
export const sizesAsked = ({ group, scaling, left, epoch, now }: GroupObservation) => {
  const { late, ...read } = readSizes({ now, ...defined({ epoch }) }, group, scaling, left);
  return { late, seen: seeSizes(read.group, read.scaling, left) };
};

/** The sizes to reach, and the state of a scale-in if one is needed. */
interface Sizing {
  readonly group: NodeGroup;
  readonly seen: SizesSeen;
  readonly late: ReturnType<typeof sizesAsked>['late'];
  readonly rollout: RolloutPart | undefined;
  readonly followed: readonly GroupStep[];
  readonly sizes: SizesNow;
  readonly look: ReturnType<typeof lookAtScaleIn>;
}

const sizingOf = (observation: GroupObservation, drains: DrainRecords): Sizing => {
  const { scaling, update } = observation;
  const { late, seen } = sizesAsked(observation);
  const { group, steps } = follow(observation.group, seen.followed);
  const rollout = rolloutPart({ ...observation, group });
  const surge = rollout?.surge ?? leftoverSurge(observation, group);
  const isUpdating = rollout !== undefined;
  const retiring = terminatingOf(drains, scaling, update);
  const sizes = sizesNow(group, seen, { surge, isUpdating, retiring });
  // No scale-in during an update, which terminates nodes itself.
  const target = isUpdating ? undefined : sizes.target;
  const look = lookAtScaleIn(drains, group, { scaling, target });
  return { group, seen, late, rollout, followed: steps, sizes, look };
};

/**
 * Instances among which the plan chooses the next one to drain; none if it has no choice to make.
 */
export const instancesToRead = (observation: GroupObservation) => {
  const { group, scaling } = observation;
  const none = { open: [], missing: 0 };
  if (isRollingOut(observation) || isForced(group)) return none;
  const { view, failed } = sizingOf(observation, drainRecordsOf(observation)).look;
  if (view === undefined || failed !== undefined) return none;
  return missingDrains(scaling, view);
};

/** Gives up a failed scale-in: records it, then sets the spec back to the actual size. */
const giveUp = (
  { scaling }: GroupObservation,
  { group, sizes, look }: Sizing,
): {
  readonly group: NodeGroup;
  readonly target: number;
  readonly scaleIn: NodeGroupStatus['scaleIn'];
  readonly failure: NodeGroupStatus['failure'];
  readonly steps: readonly GroupStep[];
} => {
  const { scaleIn, failure, failed } = look;
  const { target, surge } = sizes;
  if (failed === undefined) return { group, target, scaleIn, failure, steps: [] };
  const desired = scaling.desiredCapacity;
  const { minSize, maxSize } = group.spec.scaling;
  const back = follow(group, { minSize, maxSize: Math.max(maxSize, desired), desired });
  const updating = group.status?.updating;
  // Recorded first, so that the failure survives a crash between the two writes.
  const record = { target, surge, scaleIn, failure: failed, updating };
  const note: GroupStep = { kind: 'WriteGroupStatus', group: group.metadata.name, record };
  const steps = [note, ...back.steps];
  return { group: back.group, target: desired, scaleIn: undefined, failure: failed, steps };
};

const soonest = (times: readonly (EpochMs | undefined)[]): { readonly nextCheckAt?: number } => {
  const known = times.flatMap((at) => at ?? []);
  return known.length === 0 ? {} : { nextCheckAt: Math.min(...known) };
};

const againAt = (
  { group, scaling, now }: GroupObservation,
  change: SizeChange | undefined,
  scaleIn: ScaleIn | undefined,
): readonly EpochMs[] => {
  const isDraining =
    scaleIn !== undefined &&
    (surplusOf(scaling, scaleIn.target) > 0 || scaling.desiredCapacity > scaleIn.target);
  return [
    ...(change === undefined ? [] : [epochMs(now + againMs)]),
    ...(isDraining ? [epochMs(now + (isForced(group) ? againMs : againMs * 5))] : []),
  ];
};

const keepOf = (view: ScaleInView | undefined, scaleIn: ScaleIn | undefined) =>
  scaleIn !== undefined && view !== undefined ? keepsCause(view, scaleIn.id) : () => false;

/**
 * The first plan of an update: its target is resolved and written to its status, and the next plan
 * follows at once. Sizes do not change before the group's status records the update.
 */
const prepare = (observation: GroupObservation, { metadata }: NodeGroupUpdate): GroupDecision => {
  const { group, now } = observation;
  const { seen } = sizesAsked(observation);
  const { name: update } = metadata;
  const step: GroupStep = { kind: 'PrepareUpdate', update, desired: seen.wanted };
  const subject = group.metadata.name;
  const inPhase = { kind: 'phase', phase: 'Preparing' } as const;
  const waitingOn = [{ kind: 'update', update, waitingOn: inPhase } as const];
  const steps = [...follow(group, seen.followed).steps, step];
  return {
    plan: { subject, steps, waitingOn, nextCheckAt: now },
    isActing: false,
    rollout: undefined,
  };
};

/** All steps for the group at this time, in order. */
export const decideGroup = (observation: GroupObservation): GroupDecision => {
  const begun = preparing(observation);
  if (begun !== undefined) return prepare(observation, begun);
  const { scaling, left, epoch, now } = observation;
  const drains = drainRecordsOf(observation);
  const sizing = sizingOf(observation, drains);
  const { rollout, seen, late } = sizing;
  const { group, target, scaleIn, failure, steps: givenUp } = giveUp(observation, sizing);
  const isUpdating = rollout !== undefined;
  const sums = { ...group.spec.scaling, target, lower: rollout?.lower };
  const surge = isUpdating
    ? withCall(sizing.sizes.surge, seen.settled, scaling, sums)
    : sizing.sizes.surge;
  const asked = { sums, surge, isUpdating, scaleIn, late, left };
  const moment = { now, ...defined({ epoch }) };
  const { change, sizeCalls } = planCalls(moment, group, scaling, asked);
  const updating = rollout?.updating;
  const record = { target, surge, scaleIn, failure, updating, sizeCalls };
  const { candidates } = observation;
  const resume = isUpdating ? [] : lateSuspension(observation);
  const next = againAt(observation, change, scaleIn);
  const all: readonly GroupStep[] = [
    ...sizing.followed,
    ...(rollout?.first ?? []),
    ...givenUp,
    { kind: 'WriteGroupStatus', group: group.metadata.name, record },
    ...withdrawSteps(observation, keepOf(sizing.look.view, scaleIn)),
    ...(change === undefined ? [] : [setSizes(scaling, change)]),
    ...(scaleIn === undefined ? [] : scaleInSteps(drains, { group, scaling, scaleIn, candidates })),
    ...(rollout?.last ?? resume),
  ];
  const subject = group.metadata.name;
  const waitingOn = waitingOf(observation, { target, view: sizing.look.view, rollout });
  const times = [observation.healthNextAt, rollout?.nextAt, ...next];
  return {
    plan: { subject, steps: all, waitingOn, ...soonest(times) },
    isActing: next.length > 0 || resume.length > 0,
    rollout,
  };
};
