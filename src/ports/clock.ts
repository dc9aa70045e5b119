// Time and chance as ports. Everything that waits or rolls dice takes these; nothing else in the
// code base may read a clock.
import type { DurationMs, EpochMs } from '../api/brand.ts';

export interface Clock {
  now(): EpochMs;
  /** Resolves after `duration`; rejects with the signal's reason when aborted. */
  sleep(duration: DurationMs, signal?: AbortSignal): Promise<void>;
}

/** Learns a server's time from its answers. */
export interface DateReader {
  /** To be called before a request leaves; what it returns takes the Date header of the answer. */
  sent(): (date: string | undefined) => void;
}

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [0, bound). */
  below(bound: number): number;
}
