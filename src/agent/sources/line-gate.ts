// Limits how many lines of a log are examined: all of them at a normal rate, a sample beyond it.
import type { EpochMs } from '../../api/brand.ts';

/** Burst, and average rate. */
const burst = 5_000;
const linesPerSecond = 500;
/** Beyond that rate, one line in this many is examined. */
export const sampledOneIn = 50;

export class LineGate {
  #tokens = burst;
  #filledAt: EpochMs | undefined;
  #beyond = 0;
  #skipped = 0;

  /** Whether to examine the next line. */
  pass(now: EpochMs): boolean {
    const elapsed = this.#filledAt === undefined ? 0 : Math.max(0, now - this.#filledAt);
    this.#filledAt = now;
    this.#tokens = Math.min(burst, this.#tokens + (elapsed * linesPerSecond) / 1000);
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return true;
    }
    this.#beyond += 1;
    if (this.#beyond % sampledOneIn === 0) return true;
    this.#skipped += 1;
    return false;
  }

  /** Lines that were not examined since the last call. */
  takeSkipped(): number {
    const skipped = this.#skipped;
    this.#skipped = 0;
    return skipped;
  }
}
