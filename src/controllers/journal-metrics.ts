// Counts journal entries: each controller's metrics.ts lists the entries to count. The journal
// itself is passed on unchanged.
import type { Json, JsonObject } from '../api/json.ts';
import type { Journal, Metrics } from '../ports/index.ts';

/** By the type of the entry. */
export type JournalCounters = Readonly<
  Record<string, (facts: JsonObject, metrics: Metrics) => void>
>;

export const textOf = (value: Json | undefined): string =>
  typeof value === 'string' && value !== '' ? value : 'none';

export const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

export const countedJournal = (
  journal: Journal,
  metrics: Metrics,
  counters: readonly JournalCounters[],
): Journal => {
  const all = new Map(counters.flatMap((one) => Object.entries(one)));
  return {
    record: (entry) => {
      journal.record(entry);
      all.get(entry.type)?.(entry.facts, metrics);
    },
  };
};
