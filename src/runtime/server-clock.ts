// The API server's time: the process' own clock, corrected by the Date header of each answer.
// Leaders write and compare times of this clock, so two processes with different clocks agree.
// Makes no call.
import { type DurationMs, type EpochMs, epochMs } from '../api/brand.ts';
import type { Clock, DateReader } from '../ports/index.ts';

/** A Date header (RFC 9110) drops the fraction of its second. */
const dateStepMs = 1_000;

export class ServerClock implements Clock, DateReader {
  readonly #own: Clock;
  #aheadMs = 0;
  #latest = 0;

  constructor(own: Clock) {
    this.#own = own;
  }

  /**
   * Stands still where a correction would move it back by less than a step of the header: a
   * decision for which a time has come is not taken back by the next answer.
   */
  now(): EpochMs {
    const corrected = this.#own.now() + this.#aheadMs;
    const isStep = corrected < this.#latest && this.#latest - corrected <= dateStepMs;
    if (!isStep) this.#latest = corrected;
    return epochMs(this.#latest);
  }

  sleep(duration: DurationMs, signal?: AbortSignal): Promise<void> {
    return this.#own.sleep(duration, signal);
  }

  /**
   * The server set the Date after the request was sent and before the answer arrived, so the
   * correction has a lower and an upper bound. It changes only if it is outside of them: a correct
   * clock is never moved.
   */
  sent(): (date: string | undefined) => void {
    const sentAt = this.#own.now();
    return (date) => {
      const at = date === undefined ? Number.NaN : Date.parse(date);
      const answeredAt = this.#own.now();
      if (Number.isNaN(at) || answeredAt < sentAt) return;
      const least = at - answeredAt;
      const most = at + dateStepMs - sentAt;
      this.#aheadMs = Math.min(Math.max(this.#aheadMs, least), most);
    };
  }
}
