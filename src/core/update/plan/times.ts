// How long things take in this cluster, as far as what stands there tells: boots from instances and
// their nodes, replacements from pods that became Ready once and never restarted. Pure.
import { parseTime } from '../../../api/brand.ts';
import type { Condition } from '../../../api/kube.ts';
import type { FullPod } from '../../../api/workloads.ts';
import type { PlannedNode } from '../preflight/snapshot.ts';
import { defaultTimes, type Spread } from './model.ts';

/** What took longer was no start but a story of its own. */
const longestBootSeconds = 900;
const longestStartSeconds = 3600;
/** A few measurements say little of the slow ones: p90 is at least so much above the median. */
const leastSpread = { node: 1.3, pod: 1.1 } as const;

const since = (conditions: readonly Condition[] | undefined, type: string): number | undefined => {
  const found = conditions?.find((one) => one.type === type && one.status === 'True');
  return parseTime(found?.lastTransitionTime);
};

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

const spreadOf = (
  seconds: readonly number[],
  what: keyof typeof leastSpread,
): Spread | undefined => {
  if (seconds.length === 0) return undefined;
  const sorted = seconds.toSorted((a, b) => a - b);
  // Times of the API are whole seconds.
  const p50 = Math.max(1, quantile(sorted, 0.5));
  const p90 = Math.max(p50 * leastSpread[what], quantile(sorted, 0.9));
  const count = seconds.length;
  return { p50, p90, source: `measured on ${count} ${what}${count === 1 ? '' : 's'}` };
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
