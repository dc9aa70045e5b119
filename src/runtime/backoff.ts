// How long to wait before a retry, and whether to retry at all. Decides from the retry classes of
// the ports' error tables; never sleeps except in `retry`, and then through the Clock.
import { type DurationMs, durationMs } from '../api/brand.ts';
import { type Clock, CloudError, KubeError, type Random, type Retry } from '../ports/index.ts';
import { sleepOrAbort } from './abort.ts';
import { NotLeader } from './fence.ts';

export interface BackoffPolicy {
  readonly baseMs: number;
  readonly capMs: number;
}

/**
 * Limits the load on an unavailable server: 30 s between tries is bearable even with many
 * controllers.
 */
export const defaultBackoff: BackoffPolicy = { baseMs: 100, capMs: 30_000 };

/** Decorrelated jitter (AWS Architecture Blog, "Exponential Backoff And Jitter"). */
export class Backoff {
  readonly #policy: BackoffPolicy;
  readonly #random: Random;
  #previousMs: number;
  constructor(random: Random, policy: BackoffPolicy = defaultBackoff) {
    this.#random = random;
    this.#policy = policy;
    this.#previousMs = policy.baseMs;
  }
  next(): DurationMs {
    const { baseMs, capMs } = this.#policy;
    const wanted = baseMs + this.#random.next() * (this.#previousMs * 3 - baseMs);
    this.#previousMs = Math.min(capMs, wanted);
    return durationMs(Math.round(this.#previousMs));
  }
  reset(): void {
    this.#previousMs = this.#policy.baseMs;
  }
}

/** Wait before try number `failures` + 1: exponential, with random jitter in the upper half. */
export const exponentialDelay = (
  failures: number,
  random: Random,
  policy: BackoffPolicy = defaultBackoff,
): DurationMs => {
  const full = Math.min(policy.capMs, policy.baseMs * 2 ** Math.min(failures - 1, 30));
  return durationMs(Math.round(full / 2 + (random.next() * full) / 2));
};

export interface RetryAdvice {
  /** `bug`: not a port's error, so probably a programming error; a retry may not help. */
  readonly retry: Retry | 'bug';
  /** The wait that the server requested; a wait may be longer, never shorter. */
  readonly atLeastMs: number;
}

export const retryAdvice = (error: unknown): RetryAdvice => {
  if (error instanceof KubeError)
    return { retry: error.retry, atLeastMs: (error.retryAfterSeconds ?? 0) * 1000 };
  if (error instanceof CloudError) return { retry: error.retry, atLeastMs: 0 };
  if (error instanceof NotLeader) return { retry: 'never', atLeastMs: 0 };
  return { retry: 'bug', atLeastMs: 0 };
};

/**
 * Number of retries of a conflict that are immediate (termination.md M1); further ones back off,
 * too.
 */
const immediateTries = 5;

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly policy?: BackoffPolicy;
  /** Total number of tries, the first one included; default 8. */
  readonly tries?: number;
  readonly onRetry?: (error: unknown, waitMs: number) => void;
}

/**
 * Runs `call` until it succeeds, fails permanently (retry class `never`, or not a port's error), or
 * the tries are used up; then the last error is thrown. An abort throws the signal's reason.
 */
export const retry = async <T>(options: RetryOptions, call: () => Promise<T>): Promise<T> => {
  const { clock, random, signal, policy = defaultBackoff, tries = 8 } = options;
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      const advice = retryAdvice(error);
      if (advice.retry === 'never' || advice.retry === 'bug' || failures >= tries) throw error;
      const atOnce = advice.retry === 'now' && failures <= immediateTries;
      const wait = atOnce ? 0 : exponentialDelay(failures, random, policy);
      const waitMs = Math.max(wait, advice.atLeastMs);
      options.onRetry?.(error, waitMs);
      if (waitMs > 0) await sleepOrAbort(clock, waitMs, signal);
    }
  }
};
