// Bounds how many lines of a log are looked at: all of them at an ordinary pace, one of many beyond
// it.
import type { EpochMs } from '../../api/brand.ts';

/** At once, and on average over time. */
const burst = 5_000;
const linesPerSecond = 500;
/** Of lines beyond that pace one in so many is looked at. */
export const sampledOneIn = 50;

export class LineGate {
  #tokens = burst;
  #filledAt: EpochMs | undefined;
  #beyond = 0;
  #skipped = 0;

  /** Whether the next line is to be looked at. */
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

  /** Lines that were not looked at since the last call. */
  takeSkipped(): number {
    const skipped = this.#skipped;
    this.#skipped = 0;
    return skipped;
  }
}
