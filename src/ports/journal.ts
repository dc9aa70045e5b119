// The typed in-process journal: every reportable event is recorded here once and feeds the log,
// Kubernetes events, the simulator's trace and the tests. Also the developer's log.
import type { EpochMs } from '../api/brand.ts';
import type { JsonObject } from '../api/json.ts';

export interface JournalEntry {
  readonly at: EpochMs;
  /** e.g. `node:drain:started`; constant text, facts are fields. */
  readonly type: string;
  /** The NodeDisruption, node or group of the event. */
  readonly subject: string;
  readonly facts: JsonObject;
}

export interface Journal {
  record(entry: Omit<JournalEntry, 'at'>): void;
}

export interface Log {
  debug(message: string, facts?: JsonObject): void;
  info(message: string, facts?: JsonObject): void;
  warn(message: string, facts?: JsonObject): void;
  error(message: string, facts?: JsonObject): void;
  child(facts: JsonObject): Log;
}
