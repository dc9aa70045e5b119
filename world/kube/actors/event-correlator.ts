// Decides what happens to an event before it is written, as client-go's EventCorrelator does
// (tools/record/events_cache.go): similar events are aggregated, and a source that sends too many
// events about one object is rate-limited. Keeps its state in memory only, as upstream; never
// writes.
import { type Micros, microsPerSecond } from '../../kernel/index.ts';

/**
 * From the tenth distinct message of one reason within ten minutes, events are aggregated into one.
 */
const distinctMessages = 10;
const similarWithinMicros = 600 * microsPerSecond;
/** Events per source and object: a burst of this many, then one in five minutes. */
const burst = 25;
const refillMicros = 300 * microsPerSecond;

interface Similar {
  /** Usually one reason has one message, which is then stored as plain text. */
  messages: string | Set<string>;
  lastAt: Micros;
}

interface Bucket {
  tokens: number;
  at: Micros;
}

export interface Correlated {
  readonly message: string;
  /** Events with the same key are one object with a count. */
  readonly key: string;
}

/** Evicts the least recently used entry: maps keep the order of insertion. */
export const rememberIn = <T>(map: Map<string, T>, key: string, value: T, most: number): void => {
  map.delete(key);
  map.set(key, value);
  if (map.size <= most) return;
  const oldest = map.keys().next();
  if (oldest.done !== true) map.delete(oldest.value);
};

/** Records the message; false when it would be the tenth distinct one. */
const isOneMore = (similar: Similar, message: string): boolean => {
  if (similar.messages === message) return true;
  if (typeof similar.messages === 'string') similar.messages = new Set([similar.messages]);
  const { messages } = similar;
  if (messages.has(message)) return true;
  if (messages.size >= distinctMessages - 1) return false;
  messages.add(message);
  return true;
};

export class EventCorrelator {
  readonly #similar = new Map<string, Similar>();
  readonly #buckets = new Map<string, Bucket>();
  readonly #most: number;

  /** `most`: the maximum number of objects, and of reasons, that are remembered. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The event to write, possibly an aggregate of similar events. */
  correlate(
    event: { readonly about: string; readonly kind: string; readonly message: string },
    now: Micros,
  ): Correlated {
    const group = `${event.about}\n${event.kind}`;
    const known = this.#similar.get(group);
    const fresh = known === undefined || now - known.lastAt > similarWithinMicros;
    const similar = fresh ? { messages: event.message, lastAt: now } : known;
    similar.lastAt = now;
    rememberIn(this.#similar, group, similar, this.#most);
    if (isOneMore(similar, event.message)) {
      return { message: event.message, key: `${group}\n${event.message}` };
    }
    return { message: `(combined from similar events): ${event.message}`, key: group };
  }

  /** Takes a token; false when the source is rate-limited for this object. */
  isHeard(about: string, now: Micros): boolean {
    const bucket = this.#buckets.get(about) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / refillMicros);
    const heard = tokens >= 1;
    rememberIn(this.#buckets, about, { tokens: heard ? tokens - 1 : tokens, at: now }, this.#most);
    return heard;
  }
}
