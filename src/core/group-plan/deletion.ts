// The plan of a node group that is being deleted and still has instances. Its nodes are drained as
// in a scale-in to zero. A failed drain ends the try, and a later try starts over. Pure.
import { type EpochMs, epochMs, formatTime } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import {
  deleteAgainAnnotation,
  type NodeGroup,
  type NodeGroupStatus,
} from '../../api/nodegroup.ts';
import type { GroupPlan, GroupStep } from '../../api/plan.ts';
import { isOfRequest, scaleInId } from '../nodegroup/index.ts';
import { isForced, suspendedOf } from './members.ts';
import type { GroupObservation } from './observation.ts';
import { noSurge } from './requests.ts';
import {
  type DrainRecords,
  drainRecordsOf,
  type Keep,
  missingDrains,
  scaleInFailure,
  scaleInSteps,
  setSizes,
  viewScaleIn,
  withdrawSteps,
} from './scale-in.ts';

/** A delete whose drains failed is retried after this, unless a user requests it earlier. */
const deleteAgainMs = 300_000;
/** The cloud is read this often during drains. */
const drainingLookMs = 5_000;

/** AZRebalance would terminate nodes after a forced drain and launch others for them. */
export const suspendedByDelete = ['AZRebalance'] as const;

type ScaleInStatus = NonNullable<NodeGroupStatus['scaleIn']>;
type Failure = NonNullable<NodeGroupStatus['failure']>;

/**
 * The drains that a delete starts or continues; otherwise why the last ones failed, and when it
 * retries.
 */
export const deleteTry = (
  group: NodeGroup,
  now: EpochMs,
): {
  readonly scaleIn?: ScaleInStatus;
  readonly failure?: Failure;
  readonly dueAt?: EpochMs;
} => {
  const { status, metadata } = group;
  const { failure, scaleIn } = status ?? {};
  // A delete was requested while a failed scale-in was being abandoned.
  if (scaleIn?.target === 0 && failure === undefined) return { scaleIn };
  // A failure from before the delete does not delay it. Adds one second, since the API server
  // truncates times to seconds.
  const begun = Date.parse(metadata.deletionTimestamp ?? '') + 1000;
  if (failure !== undefined && Date.parse(failure.at) >= begun) {
    const dueAt = epochMs(Date.parse(failure.at) + deleteAgainMs);
    const isAsked = metadata.annotations?.[deleteAgainAnnotation] === failure.at;
    const isNow = isAsked || isForced(group) || now >= dueAt;
    if (!isNow) return { failure, dueAt };
  }
  const since = formatTime(now);
  return { scaleIn: { id: scaleInId(metadata.name, since), target: 0, since } };
};

interface LeavingTry {
  readonly scaleIn: ScaleInStatus | undefined;
  readonly failure: Failure | undefined;
  readonly draining: readonly NodeDisruption[] | undefined;
  readonly dueAt: EpochMs | undefined;
}

const tryOf = (drains: DrainRecords, group: NodeGroup, scaling: ScalingGroup): LeavingTry => {
  const { scaleIn: begun, failure: last, dueAt } = deleteTry(group, drains.now);
  const view = begun && viewScaleIn(drains, scaling, begun);
  const failed = view && scaleInFailure(group, view, drains.now);
  const scaleIn = failed === undefined ? begun : undefined;
  return { scaleIn, failure: failed ?? last, draining: view?.draining, dueAt };
};

/** Instances without a drain: all of them are to be terminated. */
export const instancesToLeave = (observation: GroupObservation) => {
  const { group, scaling } = observation;
  const drains = drainRecordsOf(observation);
  const { scaleIn } = tryOf(drains, group, scaling);
  if (scaleIn === undefined || isForced(group)) return { open: [], missing: 0 };
  return missingDrains(scaling, viewScaleIn(drains, scaling, scaleIn));
};

/** Keeps Auto Scaling from replacing terminated instances. */
const openBounds = ({ spec }: NodeGroup, scaling: ScalingGroup): readonly GroupStep[] => {
  const { name, minSize, maxSize, desiredCapacity } = scaling;
  const processes = suspendedByDelete.filter((one) => !suspendedOf(scaling).includes(one));
  const most = Math.max(spec.scaling.maxSize, desiredCapacity);
  const change = {
    ...(minSize === 0 ? {} : { minSize: 0 }),
    ...(maxSize > most ? { maxSize: most } : {}),
  };
  return [
    ...(processes.length === 0
      ? []
      : [{ kind: 'SuspendProcesses', autoScalingGroupName: name, processes } as const]),
    ...(Object.keys(change).length === 0 ? [] : [setSizes(scaling, change)]),
  ];
};

export interface LeavingDecision {
  readonly plan: GroupPlan;
  readonly isActing: boolean;
  readonly failure: Failure | undefined;
  readonly draining: readonly NodeDisruption[] | undefined;
}

export const decideLeaving = (observation: GroupObservation): LeavingDecision => {
  const { group, scaling, candidates, now } = observation;
  const drains = drainRecordsOf(observation);
  const { scaleIn, failure, draining, dueAt } = tryOf(drains, group, scaling);
  // Only the causes of this request stay on the nodes.
  const keep: Keep = (_, cause) => scaleIn !== undefined && isOfRequest(cause.id, scaleIn.id);
  const { name } = group.metadata;
  const updating = group.status?.updating;
  const record = { target: 0, surge: noSurge, scaleIn, failure, updating };
  const steps: readonly GroupStep[] = [
    { kind: 'WriteGroupStatus', group: name, record },
    ...withdrawSteps(observation, keep),
    ...(scaleIn === undefined
      ? []
      : [
          ...openBounds(group, scaling),
          ...scaleInSteps(drains, { group, scaling, scaleIn, candidates }),
        ]),
  ];
  const names = (draining ?? []).map(({ metadata }) => metadata.name);
  const nextCheckAt = scaleIn === undefined ? dueAt : epochMs(now + drainingLookMs);
  return {
    plan: {
      subject: name,
      steps,
      waitingOn:
        names.length === 0
          ? []
          : [{ kind: 'drains', disruptions: names.slice(0, 20), total: names.length }],
      ...(nextCheckAt === undefined ? {} : { nextCheckAt }),
    },
    isActing: scaleIn !== undefined,
    failure,
    draining,
  };
};

/** No instance is left, and Auto Scaling has none to launch. */
export const isEmpty = ({ instances, desiredCapacity }: ScalingGroup): boolean =>
  instances.length === 0 && desiredCapacity === 0;
