// The Clock port over the world's kernel: time advances only with the world's events.

import { type Kernel, microsPerMs } from '../../../world/kernel/index.ts';
import { type DurationMs, type EpochMs, epochMs } from '../../api/brand.ts';
import type { Clock } from '../../ports/index.ts';
import { onAbort } from '../../runtime/index.ts';

export class SimClock implements Clock {
  readonly #kernel: Kernel;
  /** Added to the time that this component reads: clock skew (fault F11). */
  readonly #skewMs: number;
  readonly #whenAwake: (run: () => void) => void;
  /** `whenAwake` holds timers back while the process is paused (fault F6). */
  constructor(
    kernel: Kernel,
    options: {
      readonly skewMs?: number;
      readonly whenAwake?: (run: () => void) => void;
    } = {},
  ) {
    this.#kernel = kernel;
    this.#skewMs = options.skewMs ?? 0;
    this.#whenAwake = options.whenAwake ?? ((run) => run());
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
      const wake = (): void => {
        forget?.();
        resolve();
      };
      const handle = this.#kernel.after(duration * microsPerMs, () => this.#whenAwake(wake));
      const forget =
        signal &&
        onAbort(signal, () => {
          this.#kernel.cancel(handle);
          reject(signal.reason);
        });
    });
  }
}
