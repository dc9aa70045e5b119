// Runs a world and the tasks in it in virtual time: one event, then every task until all wait for
// the world again, then the next event. The same seed takes the same steps.
import { type Kernel, type Micros, microsPerSecond } from '../../world/kernel/index.ts';

/**
 * Resolves when every promise that can continue has continued; the only part outside virtual time.
 */
export type Settle = () => Promise<void>;

export class Driver {
  readonly #kernel: Kernel;
  readonly #settle: Settle;
  constructor(kernel: Kernel, settle: Settle) {
    this.#kernel = kernel;
    this.#settle = settle;
  }

  get steps(): number {
    return this.#kernel.steps;
  }

  /** Runs everything that is due up to `until` and advances time to it. */
  async runUntil(until: Micros): Promise<void> {
    const kernel = this.#kernel;
    await this.#settle();
    for (;;) {
      const next = kernel.nextAt();
      if (next === undefined || next > until) break;
      const callbacks = kernel.callbacks;
      kernel.step();
      if (kernel.callbacks !== callbacks) await this.#settle();
    }
    kernel.advanceTo(until);
  }

  advance(seconds: number): Promise<void> {
    return this.runUntil(this.#kernel.now() + Math.round(seconds * microsPerSecond));
  }

  /**
   * Runs until `holds` returns true; checks it every `everySeconds` of world time. Resolves to
   * false if it does not hold within `limitSeconds`.
   */
  async until(
    holds: () => boolean,
    {
      limitSeconds,
      everySeconds = 1,
    }: { readonly limitSeconds: number; readonly everySeconds?: number },
  ): Promise<boolean> {
    const end = this.#kernel.now() + limitSeconds * microsPerSecond;
    while (!holds()) {
      if (this.#kernel.now() >= end) return false;
      await this.advance(everySeconds);
    }
    return true;
  }
}
