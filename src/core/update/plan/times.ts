// Durations measured in this cluster. Boots come from instances and their nodes, replacements from
// pods that became Ready once and never restarted. Launches and terminations come from scaling
// activities, preparation from earlier updates. Pure.

import { parseTime } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import type { Condition } from '../../../api/kube.ts';
import type { FullPod } from '../../../api/workloads.ts';
import type { ActivityFacts, PlannedNode, TimeFacts } from '../preflight/snapshot.ts';
import { defaultTimes } from './model.ts';
import type { Spread } from './spread.ts';

/** Longer times are not those of a normal start. */
const longestBootSeconds = 900;
const longestStartSeconds = 3600;
/** A few measurements hardly show slow cases, so p90 is at least this factor above the median. */
const leastSpread = { node: 1.3, pod: 1.1, launch: 1.3, termination: 1.3, update: 1.3 } as const;

const since = (conditions: readonly Condition[] | undefined, type: string): number | undefined => {
  const found = conditions?.find((one) => one.type === type && one.status === 'True');
  return parseTime(found?.lastTransitionTime);
};

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

const pluralOf = (what: keyof typeof leastSpread, count: number): string => {
  if (count === 1) return '';
  return what === 'launch' ? 'es' : 's';
};

const spreadOf = (
  seconds: readonly number[],
  what: keyof typeof leastSpread,
): Spread | undefined => {
  if (seconds.length === 0) return undefined;
  const sorted = seconds.toSorted((a, b) => a - b);
  // Most API times are whole seconds.
  const p50 = Math.max(what === 'update' ? 0.1 : 1, quantile(sorted, 0.5));
  const p90 = Math.max(p50 * leastSpread[what], quantile(sorted, 0.9));
  const count = seconds.length;
  return { p50, p90, source: `measured on ${count} ${what}${pluralOf(what, count)}` };
};

export const bootSpread = (nodes: readonly PlannedNode[]): Spread => {
  const seconds = nodes.flatMap(({ isOfGroup, launchTime, node }) => {
    const launched = parseTime(launchTime);
    const ready = since(node.status.conditions, 'Ready');
    if (!isOfGroup || launched === undefined || ready === undefined) return [];
    const took = (ready - launched) / 1000;
    return took > 0 && took <= longestBootSeconds ? [took] : [];
  });
  return spreadOf(seconds, 'node') ?? defaultTimes.boot;
};

export const replaceSpread = (pods: readonly FullPod[]): Spread => {
  const seconds = pods.flatMap(({ status }) => {
    const scheduled = since(status.conditions, 'PodScheduled');
    const ready = since(status.conditions, 'Ready');
    const restarts = (status.containerStatuses ?? []).some((one) => (one.restartCount ?? 0) > 0);
    if (restarts || scheduled === undefined || ready === undefined) return [];
    const took = (ready - scheduled) / 1000;
    return took >= 0 && took <= longestStartSeconds ? [took] : [];
  });
  return spreadOf(seconds, 'pod') ?? defaultTimes.replace;
};

/** Like CloudTimes, as far as measured. */
interface MeasuredTimes {
  readonly setup?: Spread;
  readonly launch?: Spread;
  readonly terminate?: Spread;
}

/** Longer activities waited for something else, such as capacity or a lifecycle hook. */
const longestActivitySeconds = 600;

const isUsual = (seconds: number): boolean => seconds > 0 && seconds <= longestActivitySeconds;

/**
 * Terminations requested for a certain instance. An instance that a scale-in chose is drained
 * first, so its time would include that of its pods.
 */
const isTermination = ({ description, cause = '' }: ActivityFacts): boolean =>
  /^Terminating/.test(description) && /was taken out of service in response to a user/.test(cause);

/** The launch of a replacement, counted from when its predecessor began to terminate. */
const isReplacement = ({ description, cause = '' }: ActivityFacts): boolean =>
  /^Launching/.test(description) && /difference between desired and actual/.test(cause);

/**
 * When the size was changed by a request, to the second; undefined for a group that was just
 * created and launches at once.
 */
const askedAt = ({ cause = '' }: ActivityFacts): number | undefined =>
  parseTime(/At (\S+Z) a user request (?:update|set)/.exec(cause)?.[1]);

const launchSeconds = (activities: readonly ActivityFacts[]): readonly number[] => {
  const leaving = activities.filter(isTermination).flatMap((one) => parseTime(one.startedAt) ?? []);
  return activities.flatMap((one) => {
    const at = parseTime(one.startedAt);
    if (at === undefined || !isReplacement(one)) return [];
    const isOfRequest = /a user request/.test(one.cause ?? '');
    const before = leaving.filter((time) => time <= at);
    const from = isOfRequest ? askedAt(one) : before.length > 0 ? Math.max(...before) : undefined;
    return from === undefined ? [] : [(at - from) / 1000];
  });
};

export const measuredTimes = ({ activities, setups }: TimeFacts): MeasuredTimes => {
  const done = activities.filter(({ status }) => status === 'Successful');
  const ends = done.filter(isTermination).flatMap(({ startedAt, endedAt }) => {
    const [from, to] = [parseTime(startedAt), parseTime(endedAt)];
    return from === undefined || to === undefined ? [] : [(to - from) / 1000];
  });
  const setup = spreadOf(setups, 'update');
  const launch = spreadOf(launchSeconds(done).filter(isUsual), 'launch');
  const terminate = spreadOf(ends.filter(isUsual), 'termination');
  return {
    ...defined({ setup, launch, terminate }),
  };
};
