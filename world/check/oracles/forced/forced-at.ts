// The forced-at time of a pod: the earliest forcing deadline of the causes in force, minus the
// safety margin, minus the pod's grace period within the cap and the intervals that the group's
// policy sets between forced deletions (docs/designs/drain-order.md).
import { objectOr } from '../../../../src/api/json.ts';
import type { Context } from '../../oracle.ts';
import type { DisruptionState, PodState } from '../../state/book.ts';
import { inForce } from '../../state/disruptions.ts';
import { microsPerMinute, microsPerSecond, numberOf, textOf } from '../../state/read.ts';

/**
 * Time before its deadline at which a drain must be over; the second if all causes are spot
 * interruptions.
 */
const safetyMicros = 10 * microsPerSecond;
const spotSafetyMicros = 5 * microsPerSecond;
const graceCapMicros = 10 * microsPerMinute;

/** RFC 3339 times in the journal have milliseconds; smaller differences are rounding. */
const roundingMicros = 1000;
/** Tolerance, in seconds, of a shortened grace period against the time left until the deadline. */
const graceSlackSeconds = 2;

const secondsText = (micros: number): string => `${Math.ceil(micros / microsPerSecond)} s`;

/** The safety margin and the time to stop this pod, both before the deadline. */
const stopMicros = (
  { book, disruption, pod }: Forcing,
  deadlineAt: number,
): { readonly safety: number; readonly grace: number } => {
  const causes = inForce(disruption, { at: book.now, lagMicros: book.lagMicros });
  const isSpot = causes.every((cause) => cause.kind === 'SpotInterruption');
  const began = book.beganAt(disruption);
  const half = began === undefined ? graceCapMicros : Math.max(0, (deadlineAt - began) / 2);
  const grace = Math.min(pod.graceSeconds * microsPerSecond, graceCapMicros);
  return {
    safety: isSpot ? spotSafetyMicros : safetyMicros,
    grace: Math.min(grace + intervalsMicros({ book, disruption, pod }), half),
  };
};

/** The group's policy may space forced deletions: one interval earlier per other pod to drain. */
const intervalsMicros = ({ book, disruption, pod }: Forcing): number => {
  const group = book.repairs.groups.get(textOf(objectOr(disruption.object.spec).nodeGroup));
  if (group === undefined) return 0;
  const isRecent = book.now - group.specAt <= book.lagMicros;
  const seconds = [group.spec, ...(isRecent ? [group.specBefore] : [])].map(
    (spec) => numberOf(objectOr(spec.drain).forceIntervalSeconds) ?? 0,
  );
  const pods = [...book.pods.on(pod.nodeName)].filter((one) => book.isDrainable(one));
  return Math.max(...seconds) * microsPerSecond * pods.length;
};

/** A cause may state when forcing begins; its deadline then leaves every pod its grace period. */
const forceFrom = ({ book, disruption }: Forcing): number | undefined => {
  const causes = inForce(disruption, { at: book.now, lagMicros: book.lagMicros });
  const times = causes.flatMap((cause) => (cause.isForcing ? (cause.forceFromAt ?? []) : []));
  return times.length === 0 ? undefined : Math.min(...times);
};

export interface Forcing {
  readonly book: Context['book'];
  readonly disruption: DisruptionState;
  readonly pod: PodState;
}

/** The reason why this pod must not be forced yet; undefined: it may be. */
export const wrongWith = (forcing: Forcing, asked: number | undefined): string | undefined => {
  const { book, disruption, pod } = forcing;
  const deadlineAt = book.forcingDeadline(disruption);
  if (deadlineAt === undefined) return 'although no cause in force has a forcing deadline';
  const now = disruption.statusForces ? disruption.statusDeadlineAt : undefined;
  // A controller that was paused may follow the previous episode's deadline; others follow this
  // one's.
  const before = book.episodeBefore(disruption)?.deadlineAt;
  const told = Math.min(before ?? Number.POSITIVE_INFINITY, now ?? Number.POSITIVE_INFINITY);
  if (!Number.isFinite(told)) return 'although the journal names no forcing deadline';
  const { safety, grace } = stopMicros(forcing, deadlineAt);
  const usual = Math.max(deadlineAt, told) - safety - grace;
  const early = Math.min(usual, forceFrom(forcing) ?? usual) - book.now;
  const skew = book.facts.clockSkew ?? 0;
  if (early > roundingMicros + skew) return `${secondsText(early)} before its forced-at time`;
  if (asked === undefined || asked >= pod.graceSeconds) return undefined;
  const left = (deadlineAt - safetyMicros - skew - book.now) / microsPerSecond;
  const least = Math.max(1, Math.min(pod.graceSeconds, left) - graceSlackSeconds);
  return asked >= Math.floor(least)
    ? undefined
    : `with a grace of ${asked} s where ${Math.floor(left)} s were left`;
};
