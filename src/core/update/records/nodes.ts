// The state of an update for each instance, read from its NodeDisruption. Pure.
import { type EpochMs, epochMs, parseTime } from '../../../api/brand.ts';
import type { DisruptionCause, NodeDisruption } from '../../../api/disruption.ts';
import { isOwnStrategy } from '../../../api/nodegroup-update.ts';
import { isOfRequest, victimState } from '../../nodegroup/index.ts';
import type { UpdateInstance, UpdateObservation } from '../observation.ts';

export const updateCauseId = (updateName: string): string => `update/${updateName}`;

/** The active cause with which this update requested the instance's drain. */
export const ownCause = (
  disruption: NodeDisruption | undefined,
  id: string,
): DisruptionCause | undefined =>
  disruption?.spec.causes.findLast(
    (cause) => cause.cancelledAt === undefined && isOfRequest(cause.id, id),
  );

export interface Emptied {
  readonly at: EpochMs;
  /** From this time on the instance may be terminated. */
  readonly cooledAt: EpochMs;
}

const emptiedOf = (
  { status }: NodeDisruption,
  { id, holdTermination, cooldownSeconds = 0 }: DisruptionCause,
): Emptied | undefined => {
  const { phase, completingCauses, drainedAt } = status ?? {};
  if (holdTermination !== true || phase !== 'Completing') return undefined;
  const at = parseTime(drainedAt);
  // A failed drain ends on its own, and the instance stays.
  if (at === undefined || completingCauses?.includes(id) !== true) return undefined;
  return { at, cooledAt: epochMs(at + cooldownSeconds * 1000) };
};

export type InstanceState =
  /** Not requested, or requested and uncordoned again. */
  | { readonly kind: 'untouched' }
  | { readonly kind: 'held'; readonly isMarked: boolean }
  /**
   * Held by one of Drover's own strategies: in flight, and not drained before its hook has ended.
   */
  | { readonly kind: 'hooking'; readonly isMarked: boolean }
  /** `emptied`: the drain has ended, and the instance stays until this update terminates it. */
  | { readonly kind: 'draining'; readonly emptied?: Emptied }
  | { readonly kind: 'drained' }
  /** Drained, cordoned and kept; it is not terminated before the update requests that. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Drained earlier, and another cause has become active since: a manual drain, an EC2 notice or a
 * repair.
 */
const isDrainedAnew = ({ status }: NodeDisruption): boolean => {
  const before = status?.previous?.outcome;
  return status?.phase !== 'Ended' && (before === 'Drained' || before === 'Forced');
};

export const instanceState = (
  { disruption, nodeName }: UpdateInstance,
  id: string,
  now: EpochMs,
): InstanceState => {
  const cause = ownCause(disruption, id);
  if (disruption === undefined || cause === undefined) return { kind: 'untouched' };
  const { status } = disruption;
  const isOpen = status?.handledCauses?.includes(cause.id) !== true;
  if (cause.hold === true && isOpen) {
    return { kind: 'held', isMarked: status?.phase === 'Draining' };
  }
  const emptied = isOpen ? emptiedOf(disruption, cause) : undefined;
  if (emptied !== undefined) return { kind: 'draining', emptied };
  const hasNode = nodeName !== undefined;
  if (!isOpen && cause.followUp === 'Release' && isDrainedAnew(disruption)) return { kind: 'kept' };
  const found = victimState(disruption, { id, hasNode, now }) ?? { kind: 'untouched' };
  const isKept = found.kind === 'drained' && cause.followUp === 'Release';
  return isKept ? { kind: 'kept' } : found;
};

/** Blue/green: the node is drained and kept, so its pods need not be read again. */
export const isEmptiedBy = (
  { update, now }: Pick<UpdateObservation, 'update' | 'now'>,
  instance: UpdateInstance,
): boolean => instanceState(instance, updateCauseId(update.metadata.name), now).kind === 'kept';

/** The instance is terminated with decrement, as this update requested, unless its drain fails. */
export const isRetired = (
  disruption: NodeDisruption | undefined,
  updateName: string,
  context: { readonly hasNode: boolean; readonly now: EpochMs },
): boolean => {
  const id = updateCauseId(updateName);
  if (disruption === undefined || ownCause(disruption, id)?.followUp !== 'Terminate') return false;
  const state = victimState(disruption, { id, ...context });
  return state !== undefined && state.kind !== 'failed';
};

export interface Counted {
  readonly instance: UpdateInstance;
  readonly state: InstanceState;
}

/** The instances of both revisions, and those that are terminating. */
export interface GroupNodes {
  readonly old: readonly Counted[];
  readonly fresh: readonly Counted[];
  readonly leavingOld: readonly UpdateInstance[];
  readonly leaving: readonly UpdateInstance[];
}

export const groupNodesOf = ({ update, status, instances, now }: UpdateObservation): GroupNodes => {
  const id = updateCauseId(update.metadata.name);
  const stateOf = (instance: UpdateInstance): InstanceState => {
    const state = instanceState(instance, id, now);
    const isBegun = state.kind === 'held' && isOwnStrategy(status.strategy) && !instance.isTarget;
    return isBegun ? { ...state, kind: 'hooking' } : state;
  };
  const counted = instances
    .filter(({ isCounted }) => isCounted)
    .map((instance) => ({ instance, state: stateOf(instance) }));
  const leaving = instances.filter(({ isCounted }) => !isCounted);
  return {
    old: counted.filter(({ instance }) => !instance.isTarget),
    fresh: counted.filter(({ instance }) => instance.isTarget),
    leaving,
    leavingOld: leaving.filter(({ isTarget }) => !isTarget),
  };
};

export const isServing = ({ instance, state }: Counted): boolean =>
  instance.isReady &&
  instance.awaitsHook !== true &&
  (state.kind === 'untouched' || state.kind === 'held');

/** The node accepts pods: Ready, with its labels. */
export const isJoined = ({ isReady, isLabelled }: UpdateInstance): boolean => isReady && isLabelled;

/** A new node that counts: it has joined and its hook has ended. */
export const isHealthyNew = ({ instance }: Counted): boolean =>
  isJoined(instance) && instance.awaitsHook !== true;

/** Every requested new node was launched and is healthy. */
export const areNewNodesHealthy = (
  { actualDesired }: Pick<UpdateObservation, 'actualDesired'>,
  { old, fresh, leaving }: GroupNodes,
): boolean =>
  fresh.every(isHealthyNew) && old.length + fresh.length + leaving.length >= actualDesired;

/** When the current phase began. */
export const phaseSince = ({ status, now }: UpdateObservation): EpochMs =>
  parseTime(status.phases?.findLast(({ phase }) => phase === status.phase)?.at) ?? now;

/** Drained, and kept for its hooks. */
export const isKeptEmpty = ({ state }: Counted): boolean =>
  state.kind === 'draining' && state.emptied !== undefined;

/** Old nodes that still count and whose drain, or a hook of it, is in progress. */
export const inFlightOf = ({ old }: GroupNodes): readonly Counted[] =>
  old.filter(
    ({ state, instance }) =>
      state.kind === 'hooking' ||
      state.kind === 'draining' ||
      state.kind === 'drained' ||
      (state.kind === 'kept' && instance.awaitsHook === true),
  );

/**
 * How many drains may begin: `slots` in all, of which at most `spare` on nodes that serve. Draining
 * a node that does not serve costs no capacity.
 */
export const freeToDrain = (
  { status, desired, limit = Number.POSITIVE_INFINITY }: UpdateObservation,
  groupNodes: GroupNodes,
): { readonly slots: number; readonly spare: number } => {
  const { maxUnavailable = 1 } = status;
  const inFlight = groupNodes.leaving.length + inFlightOf(groupNodes).length;
  const serving = [...groupNodes.old, ...groupNodes.fresh].filter(isServing).length;
  return {
    slots: Math.max(0, Math.min(limit, maxUnavailable - inFlight)),
    spare: Math.max(0, serving - Math.max(0, desired - maxUnavailable)),
  };
};
