// The state of a drain, read from its NodeDisruption alone, and what it means for a waiting
// command. Pure; wait.ts polls it.

import { epochMs, parseTime } from '../../api/brand.ts';
import { isInForce } from '../../api/confirmation.ts';
import type {
  DisruptionCause,
  DisruptionOutcome,
  DisruptionPhase,
  NodeDisruption,
  NodeDisruptionStatus,
  OwnedMarks,
} from '../../api/disruption.ts';
import { causesInForce, mayBeWithdrawn } from '../../core/termination/index.ts';
import { type ExitCode, exitCodes } from '../context.ts';

export type DrainState =
  /** Recorded, and no controller has acted on it yet. */
  | { readonly kind: 'unclaimed' }
  | {
      readonly kind: 'working';
      readonly phase: DisruptionPhase;
      readonly disruption: NodeDisruption;
    }
  | {
      readonly kind: 'ended';
      readonly outcome: DisruptionOutcome;
      readonly message: string;
      /** The drain ended because of its deadline, not because of an error. */
      readonly atDeadline: boolean;
    }
  /** The record was deleted. */
  | { readonly kind: 'gone' };

const deadlineHasPassed = (over: Pick<NodeDisruptionStatus, 'deadline' | 'endedAt'>): boolean => {
  const deadline = parseTime(over.deadline);
  const ended = parseTime(over.endedAt);
  return deadline !== undefined && ended !== undefined && ended >= epochMs(deadline - 1000);
};

export const drainState = (disruption: NodeDisruption | undefined, causeId: string): DrainState => {
  if (disruption === undefined) return { kind: 'gone' };
  const { status } = disruption;
  if (status === undefined) return { kind: 'unclaimed' };
  if (status.phase !== 'Ended') {
    const { previous } = status;
    const over = status.handledCauses?.includes(causeId) === true;
    if (over && previous?.outcome !== undefined) {
      // Another cause, for example of an update that holds the node, has opened the next episode.
      const { outcome, message = '' } = previous;
      return { kind: 'ended', outcome, message, atDeadline: deadlineHasPassed(previous) };
    }
    return { kind: 'working', phase: status.phase, disruption };
  }
  const cause = disruption.spec.causes.find(({ id }) => id === causeId);
  const withdrawn = cause === undefined || cause.cancelledAt !== undefined;
  // An end that did not handle this cause belongs to an earlier drain.
  if (!withdrawn && status.handledCauses?.includes(causeId) !== true) return { kind: 'unclaimed' };
  return {
    kind: 'ended',
    outcome: withdrawn ? 'Cancelled' : (status.outcome ?? 'Failed'),
    message: status.message ?? '',
    atDeadline: deadlineHasPassed(status),
  };
};

const codeOfOutcome: Readonly<Record<DisruptionOutcome, ExitCode>> = {
  Drained: exitCodes.done,
  Forced: exitCodes.done,
  NothingToDrain: exitCodes.done,
  InstanceGone: exitCodes.done,
  Failed: exitCodes.failed,
  Cancelled: exitCodes.failed,
};

/** The exit code for the end of one drain. */
export const exitCodeOf = (state: DrainState): ExitCode => {
  if (state.kind === 'gone') return exitCodes.failed;
  if (state.kind !== 'ended') return exitCodes.timedOut;
  if (state.outcome === 'Failed' && state.atDeadline) return exitCodes.timedOut;
  return codeOfOutcome[state.outcome];
};

/** For several drains: a failure takes precedence over a timeout, a timeout over success. */
export const worstOf = (codes: readonly ExitCode[]): ExitCode => {
  const order = [exitCodes.failed, exitCodes.timedOut];
  return order.find((code) => codes.includes(code)) ?? exitCodes.done;
};

export type UndrainState =
  | { readonly kind: 'unclaimed' }
  | { readonly kind: 'working'; readonly phase: DisruptionPhase }
  | { readonly kind: 'undone' };

const anyOf = (marks: OwnedMarks | undefined): boolean =>
  marks !== undefined && Object.values(marks).some(Boolean);

/**
 * The state after every cause was withdrawn: undone once the node has none of Drover's labels,
 * taints or cordon.
 */
export const undrainState = (disruption: NodeDisruption | undefined): UndrainState => {
  if (disruption === undefined) return { kind: 'undone' };
  const { status } = disruption;
  // No controller can begin the drain any more: its first write requires the version that it read,
  // and the withdrawal has changed the version.
  if (status === undefined) return { kind: 'undone' };
  if (status.phase === 'Undoing') return { kind: 'working', phase: status.phase };
  if (status.phase === 'Ended' && !anyOf(status.ownedMarks)) return { kind: 'undone' };
  return { kind: 'unclaimed' };
};

export type UndrainDecision =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'refused'; readonly causes: readonly DisruptionCause[] }
  | { readonly kind: 'withdraw' };

const isOthers = (cause: DisruptionCause): boolean => !mayBeWithdrawn(cause) && isInForce(cause);

/** Whether withdrawing everything that an operator may withdraw returns the node to service. */
export const undrainDecision = (disruption: NodeDisruption | undefined): UndrainDecision => {
  if (disruption === undefined) return { kind: 'nothing' };
  const { status, spec } = disruption;
  const ended = status?.phase === 'Ended';
  const inForce = causesInForce(disruption);
  if (ended && inForce.length === 0) {
    if (!anyOf(status.ownedMarks)) return { kind: 'nothing' };
    // The labels, taints and cordon of an ended drain are removed only when every cause is
    // withdrawn.
    const causes = spec.causes.filter(isOthers);
    return causes.length > 0 ? { kind: 'refused', causes } : { kind: 'withdraw' };
  }
  const causes = inForce.filter(isOthers);
  return causes.length > 0 ? { kind: 'refused', causes } : { kind: 'withdraw' };
};
