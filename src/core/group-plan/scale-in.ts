// A scale-in, or the drains of a delete: which instances to drain and to terminate, and whose cause
// to withdraw. No step takes the group below the target. Pure.
import { epochMs, formatTime } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import type { DisruptionCause, NodeDisruption } from '../../api/disruption.ts';
import type { NodeGroup, NodeGroupStatus } from '../../api/nodegroup.ts';
import type { GroupStep } from '../../api/plan.ts';
import {
  type Candidate,
  chooseForScaleIn,
  evictionFailure,
  isOfRequest,
  isOwnScaleIn,
  nextCauseId,
  type Victim,
  victimState,
} from '../nodegroup/index.ts';
import { causeWrite, defaultDrainTimeoutSeconds } from '../termination/index.ts';
import { updateCauseId } from '../update/index.ts';
import { countedOf, isForced, sizesOf, surplusOf } from './members.ts';
import { type GroupObservation, type Records, recordsOf } from './observation.ts';
import { lastFailure, scaleInNow } from './requests.ts';

export interface ScaleIn {
  readonly id: string;
  readonly target: number;
}

/** How many instances must be terminated, and the state of those that were asked to drain. */
export interface ScaleInView {
  readonly needed: number;
  readonly draining: readonly NodeDisruption[];
  readonly drained: readonly NodeDisruption[];
  readonly failed: readonly NodeDisruption[];
}

/** The members' NodeDisruptions, and the node of each member. */
export type DrainRecords = Pick<GroupObservation, 'nodeNames' | 'now'> & {
  readonly records: Records;
};

export const drainRecordsOf = ({
  disruptions,
  nodeNames,
  now,
}: GroupObservation): DrainRecords => ({ records: recordsOf(disruptions), nodeNames, now });

export const viewScaleIn = (
  { nodeNames, records, now }: DrainRecords,
  scaling: ScalingGroup,
  { id, target }: ScaleIn,
): ScaleInView => {
  const view = {
    needed: surplusOf(scaling, target),
    draining: [] as NodeDisruption[],
    drained: [] as NodeDisruption[],
    failed: [] as NodeDisruption[],
  };
  for (const { instanceId } of countedOf(scaling)) {
    const disruption = records.get(instanceId);
    if (disruption === undefined) continue;
    const state = victimState(disruption, { id, hasNode: nodeNames.has(instanceId), now });
    if (state !== undefined) view[state.kind].push(disruption);
  }
  return view;
};

/** The failure that ends this scale-in; undefined: it continues. */
export const scaleInFailure = (
  { metadata }: NodeGroup,
  view: ScaleInView,
  now: GroupObservation['now'],
): NodeGroupStatus['failure'] => {
  if (view.failed.length === 0) return undefined;
  const failure = evictionFailure(metadata.name, view.failed);
  return { ...failure, generation: metadata.generation ?? 0, at: formatTime(now) };
};

interface ScaleInLook {
  readonly scaleIn: NodeGroupStatus['scaleIn'];
  readonly view: ScaleInView | undefined;
  /** The failure that still applies. */
  readonly failure: NodeGroupStatus['failure'];
  /** The failure of the scale-in to give up. */
  readonly failed: NodeGroupStatus['failure'];
}

/** The scale-in that is needed and its state; none is needed without a target. */
export const lookAtScaleIn = (
  drains: DrainRecords,
  group: NodeGroup,
  { scaling, target }: { readonly scaling: ScalingGroup; readonly target: number | undefined },
): ScaleInLook => {
  const { now } = drains;
  const scaleIn = target === undefined ? undefined : scaleInNow(group, scaling, target, now);
  const isNew = scaleIn !== undefined && group.status?.scaleIn === undefined;
  const failure = isNew ? undefined : lastFailure(group);
  const view = scaleIn && viewScaleIn(drains, scaling, scaleIn);
  return { scaleIn, view, failure, failed: view && (failure ?? scaleInFailure(group, view, now)) };
};

/**
 * The desired capacity that a scale-in requests before it terminates anything: it no longer
 * includes instances that were never launched.
 */
export const loweredBy = (
  group: NodeGroup,
  scaling: ScalingGroup,
  { target }: ScaleIn,
): number | undefined => {
  const counted = countedOf(scaling).length;
  const floor = Math.max(target, Math.min(counted, scaling.desiredCapacity));
  const lower = isForced(group) ? target : floor;
  return lower < scaling.desiredCapacity ? lower : undefined;
};

/** Instances without a drain, and how many more must be drained. */
export const missingDrains = (
  scaling: ScalingGroup,
  { needed, draining, drained, failed }: ScaleInView,
) => {
  const asked = new Set([...draining, ...drained, ...failed].map(({ metadata }) => metadata.name));
  const open = countedOf(scaling).filter(({ instanceId }) => !asked.has(instanceId));
  return { open, missing: Math.max(0, needed - asked.size) };
};

const causeOf = (
  group: NodeGroup,
  { id, target, why }: ScaleIn & { readonly why: string },
  now: number,
): DisruptionCause => ({
  kind: 'ScaleIn',
  id,
  receivedAt: formatTime(epochMs(now)),
  deadline: formatTime(
    epochMs(now + (group.spec.drain?.timeoutSeconds ?? defaultDrainTimeoutSeconds) * 1000),
  ),
  // Drains respect budgets to the end; an owner who wants force sets spec.drain.onDeadline.
  onDeadline: group.spec.drain?.onDeadline ?? 'fail',
  // The group's controller terminates the instance, with decrement and never below the target.
  followUp: 'Release',
  requestedBy: `NodeGroup ${group.metadata.name}`,
  reason:
    group.metadata.deletionTimestamp === undefined
      ? `scale-in to ${target}: ${why === '' ? 'any node will do' : why}`
      : 'the node group is being deleted',
});

/** Undefined if the record is full of active causes, which cannot be dropped. */
const askStep = (
  { nodeNames, records, now }: DrainRecords,
  group: NodeGroup,
  scaleIn: ScaleIn,
  { instanceId, why }: Victim,
): GroupStep | undefined => {
  const nodeName = nodeNames.get(instanceId);
  const known = records.get(instanceId);
  const cause = causeOf(group, { ...scaleIn, id: nextCauseId(known, scaleIn.id), why }, now);
  const nodeGroup = group.metadata.name;
  const subject = { name: instanceId, instanceId, nodeGroup, ...defined({ nodeName }) };
  const write = causeWrite(known, subject, cause);
  if (write.kind === 'recorded' && write.refused === true) return undefined;
  return { kind: 'RecordCause', disruption: instanceId, ...defined({ nodeName }), cause };
};

/**
 * Requests as many drains as are missing; if one cannot be requested, the next instance is tried.
 */
const askSteps = (
  drains: DrainRecords,
  group: NodeGroup,
  scaleIn: ScaleIn,
  { candidates, missing }: { readonly candidates: readonly Candidate[]; readonly missing: number },
): readonly GroupStep[] => {
  const isDelete = group.metadata.deletionTimestamp !== undefined;
  let free = isDelete ? candidates.map((one) => ({ ...one, isProtected: false })) : candidates;
  const steps: GroupStep[] = [];
  while (steps.length < missing) {
    const chosen = chooseForScaleIn(free, missing - steps.length);
    if (chosen.length === 0) break;
    steps.push(...chosen.flatMap((victim) => askStep(drains, group, scaleIn, victim) ?? []));
    const tried = new Set(chosen.map(({ instanceId }) => instanceId));
    free = free.filter(({ instanceId }) => !tried.has(instanceId));
  }
  return steps;
};

export const setSizes = (
  scaling: ScalingGroup,
  change: Extract<GroupStep, { kind: 'SetSizes' }>['change'],
): GroupStep => ({
  kind: 'SetSizes',
  autoScalingGroupName: scaling.name,
  expected: sizesOf(scaling),
  members: countedOf(scaling).length,
  change,
});

/** All steps of a scale-in that are due. */
export const scaleInSteps = (
  drains: DrainRecords,
  {
    group,
    scaling,
    scaleIn,
    candidates = [],
  }: {
    readonly group: NodeGroup;
    readonly scaling: ScalingGroup;
    readonly scaleIn: ScaleIn;
    readonly candidates?: readonly Candidate[] | undefined;
  },
): readonly GroupStep[] => {
  const lower = loweredBy(group, scaling, scaleIn);
  if (lower !== undefined) return [setSizes(scaling, { desiredCapacity: lower })];
  if (isForced(group)) return [];
  const view = viewScaleIn(drains, scaling, scaleIn);
  const { missing } = missingDrains(scaling, view);
  const { id, target } = scaleIn;
  return [
    ...view.drained.slice(0, view.needed).map(
      ({ metadata }): GroupStep => ({
        kind: 'TerminateMember',
        instanceId: metadata.name,
        scaleIn: { id, target },
      }),
    ),
    ...askSteps(drains, group, scaleIn, { candidates, missing }),
  ];
};

/** Whether a cause still applies. */
export type Keep = (disruption: NodeDisruption, cause: DisruptionCause) => boolean;

/**
 * More drains were requested than needed, because another actor terminated an instance. Those
 * requested last are withdrawn.
 */
export const keepsCause = (view: ScaleInView, id: string | undefined): Keep => {
  const order = [...view.drained, ...view.draining, ...view.failed];
  const kept = new Set(order.slice(0, view.needed).map(({ metadata }) => metadata.name));
  return ({ metadata }, cause) =>
    id !== undefined && isOfRequest(cause.id, id) && kept.has(metadata.name);
};

/** A hold of a deleted update, which no controller would ever release. */
const isOrphaned = (
  { updates, group }: Pick<GroupObservation, 'updates' | 'group'>,
  { spec }: NodeDisruption,
  cause: DisruptionCause,
): boolean =>
  cause.kind === 'Update' &&
  cause.hold === true &&
  cause.cancelledAt === undefined &&
  spec.nodeGroup === group.metadata.name &&
  !updates.some(({ metadata }) => isOfRequest(cause.id, updateCauseId(metadata.name)));

/** Withdraws causes that are done. An instance that is terminating keeps its causes. */
export const withdrawalsOf = (
  { scaling, disruptions }: Pick<GroupObservation, 'scaling' | 'disruptions'>,
  isDone: Keep,
): readonly Extract<GroupStep, { kind: 'WithdrawCauses' }>[] => {
  const leaving = new Set(
    scaling.instances
      .filter(({ lifecycleState }) => /^Terminat/.test(lifecycleState))
      .map(({ instanceId }) => instanceId),
  );
  return disruptions.flatMap((one) => {
    const disruption = one.metadata.name;
    if (leaving.has(disruption)) return [];
    const causeIds = one.spec.causes.filter((cause) => isDone(one, cause)).map(({ id }) => id);
    return causeIds.length === 0 ? [] : [{ kind: 'WithdrawCauses', disruption, causeIds }];
  });
};

/** Withdraws outdated causes of scale-ins and updates, except those that `keep` keeps. */
export const withdrawSteps = (
  observation: Pick<GroupObservation, 'updates' | 'group' | 'scaling' | 'disruptions'>,
  keep: Keep,
): readonly GroupStep[] => {
  const { name } = observation.group.metadata;
  return withdrawalsOf(
    observation,
    (one, cause) =>
      (isOwnScaleIn(cause, name) && !keep(one, cause)) || isOrphaned(observation, one, cause),
  );
};
