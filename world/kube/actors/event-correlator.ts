// What becomes of an event before it is written, as client-go's EventCorrelator has it
// (tools/record/events_cache.go): many alike become one, and a source that says too much about one
// object is not heard for a while. Memory only, as there; never writes.
import { type Micros, microsPerSecond } from '../../kernel/index.ts';

/** From the tenth different message of one reason within ten minutes on they are told as one. */
const distinctMessages = 10;
const similarWithinMicros = 600 * microsPerSecond;
/** Events of one source about one object: this many at once, then one in five minutes. */
const burst = 25;
const refillMicros = 300 * microsPerSecond;

interface Similar {
  /** Most reasons are told once, with one message. */
  messages: string | Set<string>;
  lastAt: Micros;
}

interface Bucket {
  tokens: number;
  at: Micros;
}

export interface Correlated {
  readonly message: string;
  /** Events of the same key are one object with a count. */
  readonly key: string;
}

/** Drops what was not used for longest: maps keep the order of insertion. */
export const rememberIn = <T>(map: Map<string, T>, key: string, value: T, most: number): void => {
  map.delete(key);
  map.set(key, value);
  if (map.size <= most) return;
  const oldest = map.keys().next();
  if (oldest.done !== true) map.delete(oldest.value);
};

/** Takes the message in unless it is one too many. */
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

  /** `most`: how many objects, and how many reasons, are remembered. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The event as it is to be told, perhaps together with others like it. */
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

  /** Takes a token; false when this source has said enough about the object for now. */
  isHeard(about: string, now: Micros): boolean {
    const bucket = this.#buckets.get(about) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / refillMicros);
    const heard = tokens >= 1;
    rememberIn(this.#buckets, about, { tokens: heard ? tokens - 1 : tokens, at: now }, this.#most);
    return heard;
  }
}
