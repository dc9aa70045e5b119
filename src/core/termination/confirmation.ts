// Whether the cloud confirms a notice: takes the facts of one instance and a cause, returns the
// cause with the cloud's verdict. One row per kind of notice; no other code may let a notice evict
// a pod.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import {
  type InstanceFacts,
  isConfirmed,
  isPending,
  isRefuted,
  needsConfirmation,
  type ScheduledFact,
  unknownToCloud,
} from '../../api/confirmation.ts';
import type { CauseKind, Confirmation, DisruptionCause } from '../../api/disruption.ts';
import { spotNoticeMs } from './cause-writes.ts';
import { hookEnd } from './hooks.ts';

/**
 * How far the cloud's answers may lag behind its messages; a denial after that refutes the cause.
 */
const answersWithinMs = 120_000;
/**
 * EC2 reclaims a spot instance at the end of its notice; one still running this much later is kept.
 */
const takenWithinMs = 60_000;
/** A cause that the cloud has not answered for this long is refuted. */
const unansweredWithinMs = 60 * 60_000;
/** Delays between questions about an unconfirmed cause; the last one repeats. */
const askAgainMs = [1_000, 2_000, 5_000, 10_000] as const;
/** How often the controller asks the cloud whether a confirmed cause still holds. */
const stillSoMs = 60_000;

type Verdict = Pick<Confirmation, 'state' | 'reason'>;
const pending = (reason: string): Verdict => ({ state: 'Pending', reason });
const confirmed = (reason: string): Verdict => ({ state: 'Confirmed', reason });
const refuted = (reason: string): Verdict => ({ state: 'Refuted', reason });

interface Claim {
  readonly cause: DisruptionCause;
  readonly facts: InstanceFacts;
  readonly now: EpochMs;
}

/** Undefined: the facts change nothing. */
type Row = (claim: Claim) => Verdict | undefined;

/** Pending for an hour, then refuted: after that, polling or another notice has to report it. */
const unanswered = ({ cause, facts: { failure }, now }: Claim, what: string): Verdict => {
  const reason = `${what} is not known${failure === undefined ? ' yet' : `: ${failure}`}`;
  const since = parseTime(cause.receivedAt) ?? now;
  return now - since < unansweredWithinMs ? pending(reason) : refuted(`${reason}, for an hour`);
};

/** Pending while the answer may be stale, then refuted. */
const denied = ({ cause, now }: Claim, reason: string): Verdict => {
  const since = parseTime(cause.receivedAt) ?? now;
  return now - since < answersWithinMs ? pending(reason) : refuted(reason);
};

/**
 * A lifecycle state of EC2 Auto Scaling: Terminating, Terminating:Wait, Warmed:Terminating:Proceed,
 * ...
 */
export const isTerminating = (state: string): boolean => /(?:^|:)Terminating(?::|$)/.test(state);

const hook: Row = (claim) => {
  const { cause, facts } = claim;
  const { lifecycleState: state } = facts;
  if (state === undefined) return isConfirmed(cause) ? undefined : unanswered(claim, 'its state');
  if (isTerminating(state)) return confirmed(`Auto Scaling: ${state}`);
  if (state === unknownToCloud) {
    return isConfirmed(cause) ? undefined : denied(claim, 'Auto Scaling does not know it');
  }
  const reason = `Auto Scaling: ${state}, not Terminating`;
  return isConfirmed(cause) ? refuted(reason) : denied(claim, reason);
};

const notSpot = refuted(
  'the instance is on demand: EC2 sends such notices for spot instances only',
);

const spotInterruption: Row = (claim) => {
  const { cause, facts, now } = claim;
  const { market, state } = facts;
  const endsAt = parseTime(cause.deadline) ?? now;
  if (isConfirmed(cause)) {
    const isKept = state === 'running' && now >= endsAt + takenWithinMs;
    return isKept
      ? refuted('EC2 did not reclaim it: it still runs after its two minutes')
      : undefined;
  }
  if (market === 'on-demand') return notSpot;
  if (now >= endsAt) return refuted('the notice is older than its two minutes');
  return market === 'spot' ? confirmed('EC2: a spot instance') : unanswered(claim, 'its market');
};

const rebalance: Row = (claim) => {
  const { cause, facts } = claim;
  if (isConfirmed(cause)) return undefined;
  if (facts.state === unknownToCloud) return denied(claim, 'EC2 does not know it');
  if (facts.market === undefined) return unanswered(claim, 'its market');
  return facts.market === 'spot' ? confirmed('EC2: a spot instance') : notSpot;
};

/** The window stated in the message is open; nothing else can confirm it. */
const isOpenWindow = ({ window }: DisruptionCause, now: EpochMs): boolean => {
  const [startsAt, endsAt] = [parseTime(window?.startsAt), parseTime(window?.endsAt)];
  return startsAt !== undefined && endsAt !== undefined && startsAt <= now && now < endsAt;
};

/** The next scheduled event of EC2's list. */
const soonest = ({ scheduled = [] }: InstanceFacts): ScheduledFact | undefined =>
  scheduled
    .filter(({ isOver }) => !isOver)
    .toSorted((a, b) => (parseTime(a.notBefore) ?? 0) - (parseTime(b.notBefore) ?? 0))[0];

const maintenance: Row = (claim) => {
  const { cause, facts, now } = claim;
  const { scheduled, state } = facts;
  const live = soonest(facts);
  if (live !== undefined) return confirmed(`EC2: ${live.code} is scheduled`);
  if (isOpenWindow(cause, now)) return confirmed('its window is open, as its message says');
  const endsAt = parseTime(cause.window?.endsAt);
  if (endsAt !== undefined && endsAt <= now) return refuted('its window has ended');
  if (scheduled === undefined) {
    return isConfirmed(cause) ? undefined : unanswered(claim, "EC2's list of events");
  }
  const reason = 'EC2 lists no such event';
  if (!isConfirmed(cause)) return denied(claim, reason);
  // EC2 lists events only for running instances.
  return state === 'running' ? refuted(reason) : undefined;
};

/** The states in which EC2 stops an instance; hibernation has the same. */
const isStop = (state: string): boolean => state === 'stopping' || state === 'stopped';

const stateChange: Row = (claim) => {
  const { cause, facts } = claim;
  const { state } = facts;
  if (state === undefined) return isConfirmed(cause) ? undefined : unanswered(claim, 'its state');
  if (isStop(state)) return confirmed(`EC2: ${state}`);
  if (!isConfirmed(cause)) return denied(claim, `EC2: ${state}, not stopped`);
  return state === 'running' ? refuted('EC2: running again') : undefined;
};

const believed: Row = () => undefined;

const rows: Readonly<Record<CauseKind, Row>> = {
  LifecycleHook: hook,
  SpotInterruption: spotInterruption,
  RebalanceRecommendation: rebalance,
  Maintenance: maintenance,
  StateChange: stateChange,
  ScaleIn: believed,
  Update: believed,
  Repair: believed,
  Manual: believed,
};

/** The drain timeout starts at the confirmation and is bounded by the hook's end. */
const fromNow = (cause: DisruptionCause, now: EpochMs): DisruptionCause => {
  const { hook: ref, deadline, receivedAt, onDeadline } = cause;
  const [before, since] = [parseTime(deadline), parseTime(receivedAt)];
  const begun = { ...cause, receivedAt: formatTime(now) };
  if (ref === undefined || before === undefined || since === undefined) return begun;
  if (onDeadline === 'fail') return begun;
  const later = Math.min(hookEnd(ref), before + (now - since));
  return { ...begun, deadline: formatTime(epochMs(later)) };
};

/** A cause confirmed only by its own message drains as budgets allow and never forces. */
const withoutForce = ({ deadline: _, ...cause }: DisruptionCause): DisruptionCause => ({
  ...cause,
  onDeadline: 'fail',
});

/** The event starts when EC2's own list says, whatever the message says. */
const asListed = (cause: DisruptionCause, live: ScheduledFact, now: EpochMs): DisruptionCause => {
  const start = parseTime(live.notBefore);
  if (start === undefined) return cause;
  return { ...cause, deadline: formatTime(epochMs(Math.max(start, now + spotNoticeMs))) };
};

/** A pending cause shows the cloud's latest answer as its reason. */
const withReason = (cause: DisruptionCause, verdict: Verdict, now: EpochMs): DisruptionCause =>
  verdict.reason === cause.confirmation?.reason
    ? cause
    : { ...cause, confirmation: { ...verdict, at: formatTime(now) } };

/**
 * The cause with the cloud's answer; the same object where that answer is already recorded. A
 * refuted cause stays refuted unless another notice or the cloud's own list reports it.
 */
export const confirmCause = (
  cause: DisruptionCause,
  facts: InstanceFacts,
  now: EpochMs,
): DisruptionCause => {
  if (cause.cancelledAt !== undefined || isRefuted(cause)) return cause;
  const verdict = rows[cause.kind]({ cause, facts, now });
  if (verdict === undefined || verdict.state === cause.confirmation?.state) {
    return isPending(cause) && verdict !== undefined ? withReason(cause, verdict, now) : cause;
  }
  const confirmation: Confirmation = { ...verdict, at: formatTime(now) };
  if (verdict.state !== 'Confirmed') return { ...cause, confirmation };
  const begun = fromNow(cause, now);
  if (cause.kind !== 'Maintenance') return { ...begun, confirmation };
  const live = soonest(facts);
  const timed = live === undefined ? withoutForce(begun) : asListed(begun, live, now);
  return { ...timed, confirmation };
};

/** Refutes a cause whose message cannot be true, for example one from another account. */
export const refuteCause = (
  cause: DisruptionCause,
  reason: string,
  now: EpochMs,
): DisruptionCause => ({ ...cause, confirmation: { ...refuted(reason), at: formatTime(now) } });

/** When to ask the cloud about a cause again; undefined = never. */
export const nextLookAt = (cause: DisruptionCause, now: EpochMs): EpochMs | undefined => {
  if (!needsConfirmation[cause.kind] || cause.cancelledAt !== undefined) return undefined;
  if (isPending(cause)) {
    const age = now - (parseTime(cause.receivedAt) ?? now);
    const wait = askAgainMs.find((ms) => ms > age) ?? askAgainMs[askAgainMs.length - 1] ?? 0;
    return epochMs(now + wait);
  }
  if (!isConfirmed(cause)) return undefined;
  if (cause.kind !== 'SpotInterruption') return epochMs(now + stillSoMs);
  const kept = (parseTime(cause.deadline) ?? now) + takenWithinMs;
  return epochMs(kept > now ? kept : now + stillSoMs);
};
