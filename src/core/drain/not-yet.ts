// Pods whose turn has not come: their owner asked not to evict them, they belong to a Job that may
// complete, or pods of lower priority go first. Each wait is bounded; a forced pod does not wait.
import { type EpochMs, epochMs, formatTime } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { WaitingOn } from '../../api/disruption.ts';
import type { DrainTier } from '../../api/drain-policy.ts';
import type { Pod } from '../../api/kube.ts';
import { keyOfObject } from './budgets.ts';
import type { DrainablePod } from './classify.ts';
import { protectedUntil, protectionOf } from './do-not-evict.ts';
import { criticalPriority, isOfJob, ownerName, priorityOf } from './pods.ts';

/** Absolute times, so that a restart neither extends nor skips a wait. */
export interface Waits {
  /** Start of the evictions; the waits of tiers count from it. */
  readonly startedAt: EpochMs;
  /** Until when do-not-evict annotations hold; absent: they do not. */
  readonly doNotEvictUntil?: EpochMs;
  /** Until when pods of Jobs may complete; absent: they are evicted like others. */
  readonly jobsUntil?: EpochMs;
  /** By rising priority; empty: all pods together. */
  readonly tiers: readonly DrainTier[];
  /** Time by which all tiers begin; absent: the drain has no deadline. */
  readonly tiersUntil?: EpochMs;
}

/** Workloads first, then what the cluster and its nodes need. */
export const criticalLast: readonly DrainTier[] = [
  { priority: 0, waitSeconds: 300 },
  { priority: criticalPriority },
];

export interface NotYet {
  readonly waiting: WaitingOn;
  /** When the wait ends by itself. */
  readonly until: EpochMs | undefined;
}

const common = (pod: Pod, forceAt: EpochMs | undefined) => ({
  pod: keyOfObject(pod),
  ...defined({ forceAt: forceAt && formatTime(forceAt) }),
});

const withOwner = (pod: Pod) => defined({ owner: ownerName(pod) });

const never = epochMs(0);
const forEver = epochMs(Number.POSITIVE_INFINITY);

/** The pod is protected by its own annotation, or may complete. */
const heldBack = (
  pod: Pod,
  { doNotEvictUntil = never, jobsUntil = never }: Waits,
  { now, forceAt }: { readonly now: EpochMs; readonly forceAt: EpochMs | undefined },
): NotYet | undefined => {
  const protection = now < doNotEvictUntil ? protectionOf(pod) : undefined;
  if (protection !== undefined) {
    const own = protectedUntil(pod, protection) ?? doNotEvictUntil;
    const until = epochMs(Math.min(doNotEvictUntil, own));
    const annotation = `${protection.annotation}=${protection.value}`;
    const more = { ...withOwner(pod), annotation, until: formatTime(until) };
    const waiting = { kind: 'doNotEvict', ...common(pod, forceAt), ...more } as const;
    if (now < until) return { waiting, until };
  }
  if (now >= jobsUntil || !isOfJob(pod)) return undefined;
  const more = { ...withOwner(pod), until: formatTime(jobsUntil) };
  return { waiting: { kind: 'job', ...common(pod, forceAt), ...more }, until: jobsUntil };
};

/** The tier of a pod; pods below the first tier belong to it. */
const tierOf = (pod: Pod, tiers: readonly DrainTier[]): number => {
  const priority = priorityOf(pod);
  return Math.max(
    0,
    tiers.findLastIndex((tier) => tier.priority <= priority),
  );
};

/** When a tier begins although pods of lower ones remain: after the sum of their waits. */
const beginsAt = (
  { startedAt, tiers, tiersUntil = forEver }: Waits,
  tier: number,
): EpochMs | undefined => {
  const waits = tiers.slice(0, tier).map(({ waitSeconds }) => waitSeconds);
  // If an earlier tier has no wait, only the deadline starts this tier while pods of that one
  // remain.
  if (waits.includes(undefined)) return tiersUntil === forEver ? undefined : tiersUntil;
  const sum = waits.reduce<number>((all, wait = 0) => all + wait * 1000, 0);
  return epochMs(Math.min(startedAt + sum, tiersUntil));
};

/** Terminating pods count: a tier has ended when its pods are gone. */
const countsOf = (pods: readonly DrainablePod[], { tiers }: Waits): readonly number[] => {
  const counts = tiers.map(() => 0);
  for (const { pod } of pods) {
    const tier = tierOf(pod, tiers);
    counts[tier] = (counts[tier] ?? 0) + 1;
  }
  return counts;
};

/** For the pods of one drain: why a pod's turn has not come; undefined: it has. */
export const notYetOf = (
  pods: readonly DrainablePod[],
  waits: Waits,
  now: EpochMs,
): ((pod: Pod, forceAt: EpochMs | undefined) => NotYet | undefined) => {
  const { tiers } = waits;
  const counts = tiers.length < 2 ? [] : countsOf(pods, waits);
  return (pod, forceAt) => {
    const held = heldBack(pod, waits, { now, forceAt });
    if (held !== undefined || counts.length === 0) return held;
    const tier = tierOf(pod, tiers);
    const podsBefore = counts.slice(0, tier).reduce((sum, count) => sum + count, 0);
    const until = beginsAt(waits, tier);
    if (podsBefore === 0 || (until !== undefined && now >= until)) return undefined;
    const { priority = 0 } = tiers[tier] ?? {};
    const more = { podsBefore, priority, ...defined({ until: until && formatTime(until) }) };
    return { waiting: { kind: 'tier', ...common(pod, forceAt), ...more }, until };
  };
};
