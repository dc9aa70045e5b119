// Metrics of the disruption controller: from its journal, from the grants of an allocation, and
// from the open NodeDisruptions right before a read. Decides nothing.
import { disruptionPhases, type NodeDisruption } from '../../api/disruption.ts';
import { isObject } from '../../api/json.ts';
import type { Grant } from '../../core/drain/index.ts';
import type { Metrics } from '../../ports/index.ts';
import type { JournalCounters } from '../journal-metrics.ts';
import { numberOf, textOf } from '../journal-metrics.ts';

export const disruptionCounters: JournalCounters = {
  'disruption:phase': ({ to, outcome, cause, drainSeconds }, metrics) => {
    if (to !== 'Ended') return;
    const labels = { cause: textOf(cause), outcome: textOf(outcome) };
    metrics.add('drover_drains_total', labels);
    const seconds = numberOf(drainSeconds);
    if (seconds !== undefined) metrics.observe('drover_drain_duration_seconds', labels, seconds);
  },
  'drain:forcing': (_facts, metrics) => metrics.add('drover_drains_forced_total', {}),
  'pod:evicted': ({ gone }, metrics) => {
    const result = gone === true ? 'gone' : 'done';
    metrics.add('drover_evictions_sent_total', { kind: 'evict', result, code: 'OK' });
  },
  'pod:deleted': ({ gone, why }, metrics) => {
    const result = gone === true ? 'gone' : 'done';
    metrics.add('drover_evictions_sent_total', { kind: 'delete', result, code: 'OK' });
    if (why === 'deadline' && gone !== true) metrics.add('drover_evictions_forced_total', {});
  },
  'pod:refused': ({ code, why }, metrics) => {
    const kind = why === undefined ? 'evict' : 'delete';
    const labels = { kind, result: 'refused', code: textOf(code) };
    metrics.add('drover_evictions_sent_total', labels);
  },
  'hook:completed': ({ result }, metrics) =>
    metrics.add('drover_lifecycle_hooks_total', { result: textOf(result) }),
  'hook:ended': ({ state }, metrics) =>
    metrics.add('drover_lifecycle_hooks_total', { result: textOf(state) }),
  'hook:heartbeat': (_facts, metrics) => metrics.add('drover_lifecycle_hook_heartbeats_total', {}),
};

/** `freed`: budgets that allow evictions again since the last allocation, and since when. */
export const countGrants = (
  metrics: Metrics | undefined,
  grants: readonly Grant[],
  { freed, now }: { readonly freed: ReadonlyMap<string, number>; readonly now: number },
): void => {
  if (metrics === undefined) return;
  const used = new Set<string>();
  for (const grant of grants) {
    const isSignal = grant.kind === 'evict' && grant.isSignal;
    metrics.add('drover_evictions_granted_total', { kind: isSignal ? 'signal' : grant.kind });
    if (isSignal) continue;
    const { budgets } = grant;
    for (const budget of budgets) {
      const at = used.has(budget) ? undefined : freed.get(budget);
      if (at === undefined) continue;
      used.add(budget);
      metrics.observe('drover_eviction_reaction_seconds', {}, Math.max(0, now - at) / 1000);
    }
  }
};

/** Sets the gauges of open drains. */
export const sampleDrains = (
  metrics: Metrics,
  disruptions: readonly NodeDisruption[],
  now: number,
): void => {
  const phases = new Map<string, number>();
  const waiting = new Map<string, { count: number; oldestSeconds: number }>();
  for (const { status, metadata } of disruptions) {
    const phase = status?.phase ?? 'Pending';
    if (phase === 'Ended') continue;
    phases.set(phase, (phases.get(phase) ?? 0) + 1);
    const [first] = status?.waitingOn ?? [];
    if (!isObject(first)) continue;
    const since = status?.startedAt ?? metadata.creationTimestamp;
    const age = since === undefined ? 0 : Math.max(0, (now - Date.parse(since)) / 1000);
    const known = waiting.get(first.kind) ?? { count: 0, oldestSeconds: 0 };
    waiting.set(first.kind, {
      count: known.count + 1,
      oldestSeconds: Math.max(known.oldestSeconds, age),
    });
  }
  for (const phase of disruptionPhases) {
    if (phase !== 'Ended') metrics.set('drover_drains_open', { phase }, phases.get(phase) ?? 0);
  }
  metrics.reset('drover_drains_waiting');
  metrics.reset('drover_drain_oldest_wait_seconds');
  for (const [kind, { count, oldestSeconds }] of waiting) {
    metrics.set('drover_drains_waiting', { waiting_on: kind }, count);
    metrics.set('drover_drain_oldest_wait_seconds', { waiting_on: kind }, oldestSeconds);
  }
};
