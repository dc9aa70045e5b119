// The network between a controller and the world: how long calls take, and what goes wrong on the
// way. One instance per controller process; a crashed process' network is cut for good.

import type { Kernel, Micros } from '../../../world/kernel/index.ts';
import type { Random } from '../../ports/index.ts';
import { onAbort } from '../../runtime/index.ts';

/** What happens to one call. `lost` = the effect happened, the answer never came. */
export type CallFate<Code extends string> =
  | { readonly kind: 'ok' }
  | { readonly kind: 'refused'; readonly code: Code }
  | { readonly kind: 'lost' };

export interface NetworkFaults {
  /** Fate of a Kubernetes call, asked once per call. */
  kubeCall(call: { readonly verb: string; readonly resource: string }): CallFate<string>;
  cloudCall(operation: string): CallFate<string>;
  /** Extra lag of a watch frame, and whether the stream breaks after it. */
  watchFrame(resource: string): { readonly lagMicros: Micros; readonly breaks: boolean };
  /** True when a watch that resumes is told that its version is too old. */
  watchExpired(resource: string): boolean;
  /** Called after each write that took effect: the place where a process may be killed. */
  afterWrite(call: { readonly verb: string; readonly resource: string }): void;
}

export const noFaults: NetworkFaults = {
  kubeCall: () => ({ kind: 'ok' }),
  cloudCall: () => ({ kind: 'ok' }),
  watchFrame: () => ({ lagMicros: 0, breaks: false }),
  watchExpired: () => false,
  afterWrite: () => {},
};

export interface NetworkOptions {
  readonly kernel: Kernel;
  readonly random: Random;
  /** One way; each leg takes between half and one and a half of it. 0 = at once. */
  readonly legMicros: Micros;
  readonly faults: NetworkFaults;
}

export class Network {
  readonly faults: NetworkFaults;
  readonly #kernel: Kernel;
  readonly #random: Random;
  readonly #legMicros: Micros;
  #cut = false;
  #pausedUntil: Micros = 0;

  constructor(options: NetworkOptions) {
    this.#kernel = options.kernel;
    this.#random = options.random;
    this.#legMicros = options.legMicros;
    this.faults = options.faults;
  }

  get isCut(): boolean {
    return this.#cut;
  }

  /** Nothing that is still on its way arrives any more, in either direction. */
  cut(): void {
    this.#cut = true;
  }

  /**
   * The process stands still for so long: what it was about to send leaves when it goes on, what
   * comes meanwhile it sees then. As a stopped virtual machine or a long collection of garbage.
   */
  pause(micros: Micros): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#kernel.now() + Math.ceil(micros));
  }

  /** Runs `run` now, or once the process goes on; never after a cut. */
  whenAwake(run: () => void): void {
    if (this.#cut) return;
    const left = this.#pausedUntil - this.#kernel.now();
    if (left <= 0) run();
    else this.#kernel.after(left, () => this.whenAwake(run));
  }

  /** Runs `arrive` one leg later, unless the network is cut by then. */
  leg(arrive: () => void, extraMicros: Micros = 0): void {
    const jitter = this.#legMicros === 0 ? 0 : this.#legMicros * (0.5 + this.#random.next());
    this.#kernel.after(jitter + extraMicros, () => this.whenAwake(arrive));
  }

  /** A one-way stream in order: no delivery overtakes the one before it. */
  stream(): (arrive: () => void, lagMicros: Micros) => void {
    let lastAt: Micros = 0;
    return (arrive, lagMicros) => {
      const now = this.#kernel.now();
      const jitter = this.#legMicros === 0 ? 0 : this.#legMicros * (0.5 + this.#random.next());
      lastAt = Math.max(lastAt, Math.round(now + jitter + lagMicros));
      this.#kernel.after(lastAt - now, () => this.whenAwake(arrive));
    };
  }

  /** A call there and back: `serve` runs in the world, its result settles the promise. */
  call<T>(serve: () => T, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      let settled = false;
      const forget =
        signal &&
        onAbort(signal, () => {
          settled = true;
          reject(signal.reason);
        });
      const finish = (settle: () => void): void =>
        this.leg(() => {
          forget?.();
          if (!settled) settle();
        });
      this.leg(() => {
        try {
          const result = serve();
          finish(() => resolve(result));
        } catch (error) {
          finish(() => reject(error));
        }
      });
    });
  }
}
