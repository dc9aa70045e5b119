// Ties the world's time to the wall clock: runs due events, admits outside calls at the right time,
// and delays every answer until its changes are on disk. Decides nothing about events.
import type { Kernel, Micros } from '../../world/kernel/index.ts';

export interface PacerOptions {
  readonly kernel: Kernel;
  /** Monotonic wall time in milliseconds. */
  readonly wallMs: () => number;
  /** World seconds per wall second, or 'max' for full speed. */
  readonly speed: number | 'max';
  /** Resolves when every live task is waiting for the world. */
  readonly settle: () => Promise<void>;
  /** Writes changes. Throws when the disk refuses: the world then stops. */
  readonly commit: () => void;
}

/** Longest batch of events before sockets are served. */
const sliceMs = 8;
/** Longest sleep, so that clock changes are noticed. */
const longestSleepMs = 1000;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The world was stopped while a caller waited for it. */
export class WorldEnded extends Error {
  override readonly name = 'WorldEnded';
}

export class Pacer {
  readonly #options: PacerOptions;
  #worldBase: Micros;
  #wallBase: number;
  #speed: number | 'max';
  #advanceUntil: Micros = 0;
  #wake: (() => void) | undefined;
  #dirty = false;
  #committed: Promise<void> = Promise.resolve();
  #afterCommit: (() => void)[] = [];
  /** Why the world failed: after a refused commit nothing may happen. */
  #failure: { readonly error: unknown } | undefined;
  #ended = false;

  constructor(options: PacerOptions) {
    this.#options = options;
    this.#worldBase = options.kernel.now();
    this.#wallBase = options.wallMs();
    this.#speed = options.speed;
    options.kernel.onScheduled = () => this.#wake?.();
  }

  /**
   * Runs `call` as an outside call at the world's current time, then commits its changes. Throws
   * the disk's error once a commit was refused.
   */
  enter<T>(call: () => T): T {
    this.#mustBeWhole();
    const { kernel } = this.#options;
    const target = this.#target();
    const next = kernel.nextAt();
    if (kernel.now() < target && (next === undefined || next > target)) kernel.advanceTo(target);
    const result = call();
    this.#touch();
    return result;
  }

  /** Resolves when everything up to the present is on disk; rejects when it never will be. */
  committed(): Promise<void> {
    return this.#committed;
  }

  /** Runs `then` after the commit of the current changes: for frames of watches. */
  afterCommit(then: () => void): void {
    this.#afterCommit.push(then);
    this.#touch();
  }

  /** Advances at full speed; resolves at the target time, rejects when the world stops earlier. */
  async advance(micros: Micros): Promise<void> {
    const until = Math.max(this.#target(), this.#options.kernel.now()) + micros;
    this.#worldBase += micros;
    this.#advanceUntil = until;
    this.#wake?.();
    while (this.#options.kernel.now() < until) {
      if (this.#ended) throw new WorldEnded('the world stopped before it got there');
      await turn();
    }
    await this.#committed;
  }

  /** False once the disk has refused a commit. */
  get whole(): boolean {
    return this.#failure === undefined;
  }

  get speed(): number | 'max' {
    return this.#speed;
  }

  /** From now on; the world's time does not jump. */
  setSpeed(speed: number | 'max'): void {
    this.#worldBase = Math.max(this.#target(), this.#options.kernel.now());
    this.#wallBase = this.#options.wallMs();
    this.#speed = speed;
    this.#wake?.();
  }

  /** Runs until `signal` aborts; rejects when an event or a commit throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { kernel } = this.#options;
    const stop = (): void => this.#wake?.();
    signal.addEventListener('abort', stop);
    try {
      while (!signal.aborted) {
        this.#mustBeWhole();
        const behind = await this.#slice(signal);
        this.#mustBeWhole();
        if (behind) await turn();
        else await this.#sleep(kernel.nextAt());
      }
    } finally {
      this.#ended = true;
      signal.removeEventListener('abort', stop);
      if (this.#failure === undefined) this.#flush();
    }
  }

  /** One batch of due events; true when more are due. */
  async #slice(signal: AbortSignal): Promise<boolean> {
    const { kernel, wallMs } = this.#options;
    const end = wallMs() + sliceMs;
    while (!signal.aborted) {
      const next = kernel.nextAt();
      const speed = this.#speed;
      const target = speed === 'max' ? (next ?? kernel.now()) : this.#target();
      if (next === undefined || next > target) {
        if (kernel.now() < target) kernel.advanceTo(target);
        return speed === 'max' && next !== undefined;
      }
      const callbacks = kernel.callbacks;
      kernel.step();
      this.#touch();
      if (kernel.callbacks !== callbacks) await this.#options.settle();
      if (wallMs() > end) return true;
    }
    return false;
  }

  #target(): Micros {
    const speed = this.#speed;
    if (speed === 'max') return Math.max(this.#options.kernel.now(), this.#advanceUntil);
    return Math.floor(this.#worldBase + (this.#options.wallMs() - this.#wallBase) * 1000 * speed);
  }

  #mustBeWhole(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #touch(): void {
    if (this.#dirty) return;
    this.#dirty = true;
    this.#committed = new Promise((resolve, reject) => {
      setImmediate(() => {
        try {
          this.#mustBeWhole();
          this.#flush();
          resolve();
        } catch (error) {
          reject(error);
          this.#wake?.();
        }
      });
    });
    // `run` reports the failure; a caller that waits for the commit is rejected as well.
    this.#committed.catch(() => undefined);
  }

  #flush(): void {
    this.#dirty = false;
    try {
      this.#options.commit();
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
    const waiting = this.#afterCommit;
    this.#afterCommit = [];
    for (const then of waiting) then();
  }

  async #sleep(nextAt: Micros | undefined): Promise<void> {
    const speed = this.#speed;
    const perMs = speed === 'max' ? Number.POSITIVE_INFINITY : speed * 1000;
    const until = nextAt === undefined ? longestSleepMs : (nextAt - this.#target()) / perMs;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(longestSleepMs, Math.max(0, until)));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}
