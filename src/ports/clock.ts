// Time and chance as ports. Everything that waits or rolls dice takes these; nothing else in the
// code base may read a clock.
import type { DurationMs, EpochMs } from '../api/brand.ts';

export interface Clock {
  now(): EpochMs;
  /** Resolves after `duration`; rejects with the signal's reason when aborted. */
  sleep(duration: DurationMs, signal?: AbortSignal): Promise<void>;
}

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [0, bound). */
  below(bound: number): number;
}
