// The network between a controller and the world: how long calls take and which faults they meet.
// One instance per controller process; the network of a crashed process is cut for good.

import type { Kernel, Micros } from '../../../world/kernel/index.ts';
import type { Random } from '../../ports/index.ts';
import { onAbort } from '../../runtime/index.ts';

/** The fate of one call. `lost`: the call took effect, its answer never arrives. */
export type CallFate<Code extends string> =
  | { readonly kind: 'ok' }
  | { readonly kind: 'refused'; readonly code: Code }
  | { readonly kind: 'lost' };

/** A write to Kubernetes, or a call to AWS: then its operation and service. */
export interface Write {
  readonly verb: string;
  readonly resource: string;
  /** A patch, an object or a call's parameters. */
  readonly body?: unknown;
}

export interface NetworkFaults {
  /** Fate of a Kubernetes call; called once per call. */
  kubeCall(call: { readonly verb: string; readonly resource: string }): CallFate<string>;
  cloudCall(operation: string): CallFate<string>;
  /** Extra lag of a watch frame, and whether the stream breaks after it. */
  watchFrame(resource: string): { readonly lagMicros: Micros; readonly breaks: boolean };
  /** True if a resumed watch is refused because its version is too old. */
  watchExpired(resource: string): boolean;
  /** Called after each write that took effect; a process may be killed here. */
  afterWrite(write: Write): void;
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
  /** One way; each leg takes 0.5 to 1.5 times this value. 0: immediate. */
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

  /** Drops everything in flight, in both directions. */
  cut(): void {
    this.#cut = true;
  }

  /**
   * Pauses the process: it sends its pending calls and sees arrivals only after the pause. Models a
   * stopped virtual machine or a long garbage collection.
   */
  pause(micros: Micros): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#kernel.now() + Math.ceil(micros));
  }

  /** Runs `run` immediately, or after the pause; never after a cut. */
  whenAwake(run: () => void): void {
    if (this.#cut) return;
    const left = this.#pausedUntil - this.#kernel.now();
    if (left <= 0) run();
    else this.#kernel.after(left, () => this.whenAwake(run));
  }

  /** Runs `arrive` after one leg, unless the network is cut by then. */
  leg(arrive: () => void, extraMicros: Micros = 0): void {
    const jitter = this.#legMicros === 0 ? 0 : this.#legMicros * (0.5 + this.#random.next());
    this.#kernel.after(jitter + extraMicros, () => this.whenAwake(arrive));
  }

  /** A one-way stream in order: no delivery overtakes an earlier one. */
  stream(): (arrive: () => void, lagMicros: Micros) => void {
    let lastAt: Micros = 0;
    return (arrive, lagMicros) => {
      const now = this.#kernel.now();
      const jitter = this.#legMicros === 0 ? 0 : this.#legMicros * (0.5 + this.#random.next());
      lastAt = Math.max(lastAt, Math.round(now + jitter + lagMicros));
      this.#kernel.after(lastAt - now, () => this.whenAwake(arrive));
    };
  }

  /** A round trip: `serve` runs in the world, and its result settles the promise. */
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
