// The Clock port over the world's kernel: time that moves only when the world's events do.
import { type DurationMs, type EpochMs, epochMs } from '../api/brand.ts';
import type { Clock } from '../ports/index.ts';
import { type Kernel, microsPerMs } from '../world/kernel/index.ts';

export class SimClock implements Clock {
  readonly #kernel: Kernel;
  /** Added to what this component believes the time is: clock skew (fault F11). */
  readonly #skewMs: number;
  constructor(kernel: Kernel, skewMs = 0) {
    this.#kernel = kernel;
    this.#skewMs = skewMs;
  }
  now(): EpochMs {
    return epochMs(Math.floor(this.#kernel.now() / microsPerMs) + this.#skewMs);
  }
  sleep(duration: DurationMs, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const abort = (): void => {
        this.#kernel.cancel(handle);
        reject(signal?.reason);
      };
      const handle = this.#kernel.after(duration * microsPerMs, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}
