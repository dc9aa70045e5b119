// Time and randomness as ports. Everything that waits or draws random numbers takes these; no other
// code may read a clock.
import type { DurationMs, EpochMs } from '../api/brand.ts';

export interface Clock {
  now(): EpochMs;
  /** Resolves after `duration`; rejects with the signal's reason when aborted. */
  sleep(duration: DurationMs, signal?: AbortSignal): Promise<void>;
}

/** Derives a server's time from its answers. */
export interface DateReader {
  /**
   * Call it before a request is sent; pass the Date header of the answer to the returned function.
   */
  sent(): (date: string | undefined) => void;
}

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [0, bound). */
  below(bound: number): number;
}
