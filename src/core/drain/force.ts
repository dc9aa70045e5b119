// When a pod that its budget still protects is deleted anyway, and with how much grace. Nothing is
// forced without a deadline, or by a drain that fails at its deadline (rule E6).
import { type EpochMs, epochMs } from '../../api/brand.ts';
import type { Pod } from '../../api/kube.ts';
import { graceOf, isTerminating, terminationEnd } from './pods.ts';

export interface ForceWindow {
  /** Start of the drain. Budgets get at least half of the time from here to the deadline. */
  readonly startedAt: EpochMs;
  readonly deadline: EpochMs;
  readonly onDeadline: 'force' | 'fail';
  /**
   * Forcing starts at this time and not before, whatever the grace periods; the deadline is late
   * enough for them.
   */
  readonly forceFrom?: EpochMs;
  /** How much earlier the instance may end: 10 s, or 5 s after a spot notice. */
  readonly safetyMs: number;
  /** Time between two forced deletions on the node; absent: all at once. */
  readonly intervalMs?: number;
  /**
   * When the deadline became known: intervals use at most half of the time between then and the
   * deadline.
   */
  readonly intervalsFrom?: EpochMs;
}

export const safetyMs = 10_000;
export const spotSafetyMs = 5_000;
/** A longer grace than this does not make forcing start earlier: budgets matter more. */
const maxHonouredGraceMs = 600_000;
/** A shorter grace is requested only when it brings the end forward by more than this. */
const worthShorteningMs = 1_000;

/** How long before the deadline a pod is forced: its grace, and the intervals after it. */
const leadOf = (pod: Pod, window: ForceWindow, intervalsMs: number): number => {
  const half = Math.max(0, (window.deadline - window.startedAt) / 2);
  return Math.min(Math.min(graceOf(pod), maxHonouredGraceMs) + intervalsMs, half);
};

/** Undefined when the pod is never forced. */
export const forceAt = (
  pod: Pod,
  window: ForceWindow | undefined,
  intervalsMs = 0,
): EpochMs | undefined => {
  if (window === undefined || window.onDeadline !== 'force') return undefined;
  if (window.forceFrom !== undefined) return window.forceFrom;
  return epochMs(window.deadline - window.safetyMs - leadOf(pod, window, intervalsMs));
};

/**
 * How much earlier each pod of a node is forced, so that forced deletions are an interval apart:
 * one interval per pod after it, long graces first. Where the intervals would take more than half
 * of the time that is left, they are shorter, so that budgets keep their half and no deletions
 * coincide. A forced update (`forceFrom`) has no intervals.
 */
export const intervalsOf = (
  pods: readonly { readonly pod: Pod }[],
  window: ForceWindow | undefined,
): ReadonlyMap<string, number> => {
  const intervalMs = window?.intervalMs ?? 0;
  if (intervalMs === 0) return noIntervals;
  if (window === undefined || window.forceFrom !== undefined) return noIntervals;
  const left = pods.map(({ pod }) => pod).filter((pod) => !isTerminating(pod));
  const { deadline, intervalsFrom = window.startedAt } = window;
  const longestGrace = Math.max(0, ...left.map(graceOf));
  const room = Math.max(0, (deadline - intervalsFrom) / 2 - longestGrace);
  const step = Math.min(intervalMs, room / Math.max(1, left.length - 1));
  const lastFirst = left.toSorted(
    (a, b) => graceOf(a) - graceOf(b) || (a.metadata.uid < b.metadata.uid ? -1 : 1),
  );
  return new Map(lastFirst.map(({ metadata: { uid } }, i) => [uid, i * step]));
};

const noIntervals: ReadonlyMap<string, number> = new Map();

/** Grace of a deletion sent at `now`: the remaining time, never 0 (0 would skip the kubelet). */
export const forcedGraceSeconds = (window: ForceWindow, now: EpochMs): number =>
  Math.max(1, Math.floor((window.deadline - window.safetyMs - now) / 1000));

/** True when a terminating pod would outlive the deadline and its grace can be shortened. */
export const shouldShorten = (pod: Pod, window: ForceWindow | undefined, now: EpochMs): boolean => {
  const at = forceAt(pod, window);
  const end = terminationEnd(pod);
  if (window === undefined || at === undefined || end === undefined || now < at) return false;
  if (end <= window.deadline) return false;
  return now + forcedGraceSeconds(window, now) * 1000 < end - worthShorteningMs;
};
