// Combines the causes on one instance into one demand: the earliest deadline that forces, the
// strongest follow-up, every hook that Drover owns. Causes that are withdrawn, not confirmed by the
// cloud, or from earlier episodes do not count.

import { type DurationMs, durationMs, type EpochMs, epochMs, parseTime } from '../../api/brand.ts';
import { isInForce } from '../../api/confirmation.ts';
import { defined } from '../../api/defined.ts';
import {
  type DisruptionCause,
  type FollowUp,
  followUps,
  type NodeDisruption,
} from '../../api/disruption.ts';
import { safetyMs, spotSafetyMs } from '../drain/index.ts';
import { spotNoticeMs, wasHandled } from './cause-writes.ts';
import { hookKey, type KnownHook, knownHooks, lastCompletion } from './hooks.ts';
import type { Observation } from './observation.ts';

export const causesInForce = (disruption: NodeDisruption): readonly DisruptionCause[] => {
  const handled = disruption.status?.handledCauses ?? [];
  return disruption.spec.causes.filter((cause) => isInForce(cause) && !wasHandled(cause, handled));
};

/**
 * Causes handled by an earlier episode and never withdrawn: a notice whose instance still has to be
 * terminated, or a drained node that was not uncordoned. The marks stay for these too.
 */
export const standingCauses = ({ spec, status }: NodeDisruption): readonly DisruptionCause[] =>
  spec.causes.filter((cause) => isInForce(cause) && wasHandled(cause, status?.handledCauses ?? []));

/**
 * The causes that this episode handles. From Completing on these are the ones recorded for it: a
 * cause that arrived later has drained nothing yet, and its hook must not be completed.
 */
const causesToServe = (disruption: NodeDisruption): readonly DisruptionCause[] => {
  const causes = causesInForce(disruption);
  const { phase, completingCauses } = disruption.status ?? {};
  if (phase !== 'Completing' || completingCauses === undefined) return due(causes);
  return causes.filter((cause) => wasHandled(cause, completingCauses));
};

const isHolding = (cause: DisruptionCause): boolean => cause.hold === true;

/**
 * One cause without a hold is enough for the drain to continue. Causes with a hold wait for the
 * next episode, unless the instance is terminated anyway, which leaves nothing for them to do.
 */
const due = (causes: readonly DisruptionCause[]): readonly DisruptionCause[] => {
  const now = causes.filter((cause) => !isHolding(cause));
  return now.length === 0 || now.some(({ kind }) => endsByItself[kind]) ? causes : now;
};

/**
 * Whether the status records a hold. The status must say that the hold ended before the first
 * eviction.
 */
export const wasHeld = ({ status }: NodeDisruption): boolean =>
  status?.waitingOn?.some(({ kind }) => kind === 'hold') ?? false;

/** Whether the node is only marked for the time being, without evictions. */
export const isHeld = (disruption: NodeDisruption): boolean =>
  holdingCause(causesInForce(disruption)) !== undefined;

/** The cause whose hold keeps the pods on the marked node; undefined = none. */
export const holdingCause = (causes: readonly DisruptionCause[]): DisruptionCause | undefined =>
  causes.every(isHolding) ? causes[0] : undefined;

/**
 * The cause that keeps a drained instance from being terminated; undefined = none. One cause that
 * ends the instance and waits for nothing is enough to allow the termination.
 */
const keepingCause = (causes: readonly DisruptionCause[]): DisruptionCause | undefined => {
  const ending = causes.filter(
    ({ followUp }) => followUp === 'Terminate' || followUp === 'Replace',
  );
  return ending.every(({ holdTermination }) => holdTermination === true) ? ending[0] : undefined;
};

/** Kinds of causes after which the cloud terminates the instance once Drover is done with it. */
export const endsByItself: Readonly<Record<DisruptionCause['kind'], boolean>> = {
  ScaleIn: true,
  LifecycleHook: true,
  SpotInterruption: true,
  RebalanceRecommendation: false,
  Maintenance: false,
  // EC2 stops the instance, which ends its pods as a termination does.
  StateChange: true,
  Update: false,
  Repair: false,
  Manual: false,
};

/**
 * Causes that arrived while earlier ones were being completed. They open the next episode; until
 * then their hooks need heartbeats.
 */
export const causesToCome = (disruption: NodeDisruption): readonly DisruptionCause[] => {
  const { phase, completingCauses = [] } = disruption.status ?? {};
  if (phase !== 'Completing' && phase !== 'Undoing') return [];
  return causesInForce(disruption).filter((cause) => !wasHandled(cause, completingCauses));
};

/** Ids of causes that need no further episode: withdrawn, handled earlier, or in `done`. */
export const handledIds = (
  { spec, status }: NodeDisruption,
  done: readonly DisruptionCause[],
): readonly string[] => {
  const before = status?.handledCauses ?? [];
  return spec.causes
    .filter(
      (cause) =>
        cause.cancelledAt !== undefined || wasHandled(cause, before) || done.includes(cause),
    )
    .map(({ id }) => id);
};

export interface Demand {
  readonly causes: readonly DisruptionCause[];
  readonly hooks: readonly KnownHook[];
  readonly followUp: FollowUp;
  /**
   * Pods that keep returning prevent the node from being empty: an update without force fails on
   * them.
   */
  readonly waitsForReturning: boolean;
  /** Set when every cause has a hold: then nothing is evicted and no timeout runs. */
  readonly heldBy?: DisruptionCause;
  /** The node is drained, but its instance must not be terminated yet. */
  readonly keptBy?: DisruptionCause;
  readonly onDeadline: 'force' | 'fail';
  readonly deadline?: EpochMs;
  /** From the cause whose deadline forces. */
  readonly forceFrom?: EpochMs;
  /** When the cause whose deadline forces was received, or its hold ended. */
  readonly forcingSince?: EpochMs;
  readonly safetyMs: number;
  /**
   * The longest cooldown that a cause requests between the end of the drain and the termination.
   */
  readonly cooldownMs: DurationMs;
}

export const isDue = ({ deadline }: Demand, at: EpochMs): boolean =>
  deadline !== undefined && at >= deadline;

interface Term {
  readonly cause: DisruptionCause;
  readonly deadline: EpochMs | undefined;
  readonly onDeadline: 'force' | 'fail';
}

const hasDefaultTimeout: Readonly<Record<DisruptionCause['kind'], boolean>> = {
  ScaleIn: true,
  LifecycleHook: true,
  Update: true,
  Repair: true,
  SpotInterruption: false,
  RebalanceRecommendation: false,
  Maintenance: false,
  StateChange: false,
  Manual: false,
};

/** When the timeout of a cause starts to run; it does not run during a hold. */
const beginOf = (cause: DisruptionCause, { disruption, now }: Observation): EpochMs => {
  const receivedAt = parseTime(cause.receivedAt) ?? now;
  if (cause.hold === undefined) return receivedAt;
  const lifted = wasHeld(disruption) ? now : (parseTime(disruption.status?.heldUntil) ?? 0);
  return epochMs(Math.max(receivedAt, lifted));
};

/**
 * The deadline of one cause, as recorded with it even if the group's settings have changed. A drain
 * with `onDeadline: fail` keeps its instance as long as the hook allows.
 */
const termOf = (cause: DisruptionCause, observation: Observation): Term => {
  const { group, options } = observation;
  const { onDeadline } = cause;
  if (onDeadline === 'fail' && cause.hook !== undefined) {
    return { cause, onDeadline, deadline: lastCompletion(cause.hook) };
  }
  const own = parseTime(cause.deadline);
  if (own !== undefined) return { cause, onDeadline, deadline: afterForceFrom(cause, own) };
  const receivedAt = beginOf(cause, observation);
  if (cause.kind === 'SpotInterruption') {
    return { cause, onDeadline, deadline: epochMs(receivedAt + spotNoticeMs) };
  }
  const seconds = group?.spec.drain?.timeoutSeconds;
  const timeoutMs = seconds === undefined ? options.drainTimeoutMs : seconds * 1000;
  if (!hasDefaultTimeout[cause.kind]) return { cause, onDeadline, deadline: undefined };
  return { cause, onDeadline, deadline: afterForceFrom(cause, epochMs(receivedAt + timeoutMs)) };
};

/**
 * Forcing starts some time before the deadline and not before `forceFrom`, so a later `forceFrom`
 * also moves the deadline.
 */
const afterForceFrom = (cause: DisruptionCause, deadline: EpochMs): EpochMs =>
  epochMs(Math.max(deadline, (forceFromOf(cause) ?? 0) + safetyMs));

const forceFromOf = ({ onDeadline, forceFrom }: DisruptionCause): EpochMs | undefined =>
  onDeadline === 'force' ? parseTime(forceFrom) : undefined;

const earliest = (terms: readonly Term[]): Term | undefined => {
  let first: Term | undefined;
  for (const term of terms) {
    if (term.deadline === undefined) continue;
    if (first?.deadline === undefined || term.deadline < first.deadline) first = term;
  }
  return first;
};

/** If nothing forces, the drain fails at the latest deadline of its causes. */
const latest = (terms: readonly Term[]): EpochMs | undefined => {
  let last: EpochMs | undefined;
  for (const { deadline } of terms) {
    if (deadline === undefined) return undefined;
    if (last === undefined || deadline > last) last = deadline;
  }
  return last;
};

/**
 * The earliest deadline that forces. Undefined if a hook with `onDeadline: fail` ends earlier:
 * forcing is not allowed that early, and the hook ends the drain.
 */
const forcingTerm = (terms: readonly Term[], hooks: readonly KnownHook[]): Term | undefined => {
  const open = hooks.filter(({ status }) => status.state === 'Open');
  const keys = new Set(open.map(({ ref }) => hookKey(ref)));
  const keeping = terms.filter(
    ({ cause: { hook }, onDeadline }) =>
      onDeadline === 'fail' && hook !== undefined && keys.has(hookKey(hook)),
  );
  const first = earliest(terms.filter(({ onDeadline }) => onDeadline === 'force'));
  const over = earliest(keeping)?.deadline ?? Number.POSITIVE_INFINITY;
  return first?.deadline !== undefined && first.deadline > over ? undefined : first;
};

const strongest = (causes: readonly DisruptionCause[]): FollowUp => {
  const rank = Math.max(0, ...causes.map(({ followUp }) => followUps.indexOf(followUp)));
  return followUps[rank] ?? 'Release';
};

const longestCooldown = (causes: readonly DisruptionCause[]): DurationMs =>
  durationMs(1000 * Math.max(0, ...causes.map(({ cooldownSeconds = 0 }) => cooldownSeconds)));

/**
 * What delayed the termination of a drained instance according to the causes it was drained for,
 * withdrawn ones included.
 */
export const keptAsAsked = ({
  spec,
  status,
}: NodeDisruption): Pick<Demand, 'keptBy' | 'cooldownMs'> => {
  const { completingCauses = [] } = status ?? {};
  const causes = spec.causes.filter((cause) => wasHandled(cause, completingCauses));
  const keptBy = keepingCause(causes);
  return { ...defined({ keptBy }), cooldownMs: longestCooldown(causes) };
};

export const demandOf = (observation: Observation): Demand => {
  const causes = causesToServe(observation.disruption);
  const hooks = knownHooks(observation, causes);
  const heldBy = holdingCause(causes);
  const keptBy = keepingCause(causes);
  const terms = causes
    .filter((cause) => !isHolding(cause))
    .map((cause) => termOf(cause, observation));
  const forcing = forcingTerm(terms, hooks);
  const wanted = forcing === undefined ? latest(terms) : forcing.deadline;
  // An open hook is completed before it ends, whatever the causes request.
  const bounds = hooks
    .filter(({ status }) => status.state === 'Open')
    .map(({ ref }) => lastCompletion(ref));
  const deadline = Math.min(wanted ?? Number.POSITIVE_INFINITY, ...bounds);
  const spot = forcing?.cause.kind === 'SpotInterruption';
  const forceFrom = forcing && forceFromOf(forcing.cause);
  const forcingSince = forcing && beginOf(forcing.cause, observation);
  return {
    causes,
    hooks,
    followUp: strongest(causes),
    ...defined({ heldBy, keptBy }),
    onDeadline: forcing === undefined ? 'fail' : 'force',
    waitsForReturning: forcing === undefined && causes.some(({ kind }) => kind === 'Update'),
    safetyMs: spot ? spotSafetyMs : safetyMs,
    cooldownMs: longestCooldown(causes),
    ...defined({ forceFrom, forcingSince }),
    ...(Number.isFinite(deadline) ? { deadline: epochMs(deadline) } : {}),
  };
};
