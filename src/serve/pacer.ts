// Ties the world's time to the wall clock: runs due events, lets outside calls in at the right
// moment, and makes every answer wait until what it tells is on disk. Decides nothing about events.
import type { Kernel, Micros } from '../../world/kernel/index.ts';

export interface PacerOptions {
  readonly kernel: Kernel;
  /** Monotonic wall time in milliseconds. */
  readonly wallMs: () => number;
  /** World seconds per wall second, or 'max' for as fast as the machine allows. */
  readonly speed: number | 'max';
  /** Resolves when every live task waits for the world again. */
  readonly settle: () => Promise<void>;
  /** Writes what changed. Throws when the disk refuses: the world then stops. */
  readonly commit: () => void;
}

/** Longest stretch of events without letting sockets be served. */
const sliceMs = 8;
/** Longest sleep, so that a changed clock is noticed. */
const longestSleepMs = 1000;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The world was told to stop while somebody waited for it. */
export class WorldEnded extends Error {
  override readonly name = 'WorldEnded';
}

export class Pacer {
  readonly #options: PacerOptions;
  #worldBase: Micros;
  #wallBase: number;
  #advanceUntil: Micros = 0;
  #wake: (() => void) | undefined;
  #dirty = false;
  #committed: Promise<void> = Promise.resolve();
  #afterCommit: (() => void)[] = [];
  /** Why the world can not go on: once a commit was refused, nothing may happen any more. */
  #failure: { readonly error: unknown } | undefined;
  #ended = false;

  constructor(options: PacerOptions) {
    this.#options = options;
    this.#worldBase = options.kernel.now();
    this.#wallBase = options.wallMs();
    options.kernel.onScheduled = () => this.#wake?.();
  }

  /**
   * Runs `call` as an outside call at this moment of the world; its changes are then committed.
   * Throws what the disk said once it has refused a commit.
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

  /** Resolves when everything that happened up to now is on disk; rejects when it never will be. */
  committed(): Promise<void> {
    return this.#committed;
  }

  /** Runs `then` after the commit of what is happening now: for frames of watches. */
  afterCommit(then: () => void): void {
    this.#afterCommit.push(then);
    this.#touch();
  }

  /** Runs ahead at full speed; resolves when the world is there, rejects when it ends before. */
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
    return this.#options.speed;
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

  /** One stretch of due events; true when there is more to do at once. */
  async #slice(signal: AbortSignal): Promise<boolean> {
    const { kernel, wallMs, speed } = this.#options;
    const end = wallMs() + sliceMs;
    while (!signal.aborted) {
      const next = kernel.nextAt();
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
    const { speed, wallMs } = this.#options;
    if (speed === 'max') return Math.max(this.#options.kernel.now(), this.#advanceUntil);
    return Math.floor(this.#worldBase + (wallMs() - this.#wallBase) * 1000 * speed);
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
    // `run` tells the failure; a caller that waits for the commit is told as well.
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
    const { speed } = this.#options;
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
