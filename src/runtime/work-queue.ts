// A queue of keys to reconcile: each is queued at most once and never processed twice at the same
// time, with bounded concurrency, wake-up times, and backoff per failing key. Does not know what a
// key means. A pass always runs after the `add` that requested it, never inside it.
import { type EpochMs, epochMs } from '../api/brand.ts';
import { type Clock, type Log, type Metrics, noMetrics, type Random } from '../ports/index.ts';
import { aborted, type LinkedAbort, linkedAbort, sleepOrAbort } from './abort.ts';
import { type BackoffPolicy, defaultBackoff, exponentialDelay, retryAdvice } from './backoff.ts';
import { describeError } from './errors.ts';
import { NotLeader } from './fence.ts';

/** A pass may request its next one; the earliest requested time applies. */
export interface PassResult {
  readonly nextAt?: EpochMs;
}
export type Worker<K extends string> = (
  key: K,
  signal: AbortSignal,
) => Promise<PassResult | undefined>;

export interface QueueStats {
  readonly passes: number;
  /** Failed passes, programmers' errors included. */
  readonly failures: number;
  /** Failed passes whose error came from no port: bugs. */
  readonly bugs: number;
  readonly ready: number;
  readonly active: number;
  readonly waiting: number;
}

interface KeyState {
  /** Requested time of a pass; undefined = none. */
  wakeAt: number | undefined;
  /** When the failed pass is retried; cleared by a success. */
  retryAt: number | undefined;
  failures: number;
  active: boolean;
  /** Requested while a pass runs: another one runs right after it. */
  dirty: boolean;
  /** Since when the key is ready to be processed. */
  readySince: number;
}

/** Timers of operating systems overflow at 2^31 ms, so long sleeps are divided. */
const longestSleepMs = 12 * 3_600_000;

/** A conflict means that a cache was behind; it catches up within milliseconds. */
const conflictBackoff: BackoffPolicy = { baseMs: 10, capMs: 5_000 };

export class WorkQueue<K extends string> {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Log;
  readonly #metrics: Metrics;
  readonly #concurrency: number;
  readonly #policy: BackoffPolicy;
  readonly #keys = new Map<K, KeyState>();
  readonly #ready = new Set<K>();
  /** Keys that precede those in `#ready`, in the order of their arrival. */
  readonly #urgent = new Set<K>();
  #urgentAtWork = 0;
  readonly #inFlight = new Set<Promise<void>>();
  #worker: { readonly run: Worker<K>; readonly signal: AbortSignal } | undefined;
  #sleep: { readonly until: number; readonly link: LinkedAbort } | undefined;
  #passes = 0;
  #failures = 0;
  #bugs = 0;

  constructor(options: {
    readonly name: string;
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Log;
    readonly metrics?: Metrics;
    readonly concurrency: number;
    readonly backoff?: BackoffPolicy;
  }) {
    this.#name = options.name;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#log = options.log;
    this.#metrics = options.metrics ?? noMetrics;
    this.#concurrency = options.concurrency;
    this.#policy = options.backoff ?? defaultBackoff;
  }

  get stats(): QueueStats {
    let waiting = 0;
    for (const state of this.#keys.values()) if (dueAt(state) !== undefined) waiting++;
    const ready = this.#ready.size + this.#urgent.size;
    const active = this.#inFlight.size;
    return {
      passes: this.#passes,
      failures: this.#failures,
      bugs: this.#bugs,
      ready,
      active,
      waiting,
    };
  }

  /** Requests a pass for `key` as soon as possible. An earlier wake-up time stays set. */
  add(key: K): void {
    const state = this.#state(key);
    if (state.active) state.dirty = true;
    else if (!this.#isInLine(key)) {
      state.readySince = this.#clock.now();
      this.#ready.add(key);
    }
    this.#dispatch();
  }

  /** Like `add`, but ahead of all keys that are not urgent, for work that must not wait. */
  addUrgent(key: K): void {
    const state = this.#state(key);
    if (state.active) state.dirty = true;
    else {
      if (!this.#isInLine(key)) state.readySince = this.#clock.now();
      this.#ready.delete(key);
      this.#urgent.add(key);
    }
    this.#dispatch();
  }

  /** True while an urgent key is queued or being processed. */
  get hasUrgent(): boolean {
    return this.#urgent.size > 0 || this.#urgentAtWork > 0;
  }

  /** Requests a pass for `key` at `at` or earlier; of several times the earliest applies. */
  addAfter(key: K, at: EpochMs): void {
    if (at <= this.#clock.now()) {
      this.add(key);
      return;
    }
    const state = this.#state(key);
    if (state.wakeAt !== undefined && state.wakeAt <= at) return;
    state.wakeAt = at;
    this.#wakeTimer(at);
  }

  /**
   * Processes keys until `signal` aborts, then waits for the passes in flight. Runs once at a time.
   */
  async run(worker: Worker<K>, signal: AbortSignal): Promise<void> {
    if (this.#worker !== undefined) throw new Error(`queue ${this.#name} is already running`);
    this.#worker = { run: worker, signal };
    const timer = this.#runTimer(signal);
    const queue = { queue: this.#name };
    const stopSampling = this.#metrics.onRead(() =>
      this.#metrics.set('drover_workqueue_depth', queue, this.#ready.size + this.#urgent.size),
    );
    this.#dispatch();
    await aborted(signal);
    await timer;
    await Promise.all(this.#inFlight);
    stopSampling();
    this.#worker = undefined;
  }

  #state(key: K): KeyState {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const fresh: KeyState = {
      wakeAt: undefined,
      retryAt: undefined,
      failures: 0,
      active: false,
      dirty: false,
      readySince: 0,
    };
    this.#keys.set(key, fresh);
    return fresh;
  }

  #dispatch(): void {
    const worker = this.#worker;
    if (worker === undefined || worker.signal.aborted) return;
    for (const line of [this.#urgent, this.#ready]) {
      for (const key of line) {
        if (this.#inFlight.size >= this.#concurrency) return;
        line.delete(key);
        this.#start(key, worker, line === this.#urgent);
      }
    }
  }

  #start(
    key: K,
    worker: { readonly run: Worker<K>; readonly signal: AbortSignal },
    urgent: boolean,
  ): void {
    this.#state(key).active = true;
    if (urgent) this.#urgentAtWork++;
    const pass = this.#pass(key, worker).finally(() => {
      if (urgent) this.#urgentAtWork--;
      this.#inFlight.delete(pass);
      this.#dispatch();
    });
    this.#inFlight.add(pass);
  }

  async #pass(
    key: K,
    worker: { readonly run: Worker<K>; readonly signal: AbortSignal },
  ): Promise<void> {
    const state = this.#state(key);
    // One microtask, so that the pass never runs inside the listener that requested it.
    await undefined;
    this.#passes++;
    const startedAt = this.#clock.now();
    this.#observe('drover_workqueue_queue_duration_seconds', startedAt - state.readySince);
    try {
      const result = await worker.run(key, worker.signal);
      state.failures = 0;
      state.retryAt = undefined;
      state.active = false;
      if (result?.nextAt !== undefined) this.addAfter(key, result.nextAt);
    } catch (error) {
      state.active = false;
      if (!worker.signal.aborted) this.#failed(key, state, error);
    }
    this.#observe('drover_workqueue_work_duration_seconds', this.#clock.now() - startedAt);
    if (state.dirty) {
      state.dirty = false;
      // `addAfter` may have started an immediate pass already; then this requests another one after
      // it.
      this.add(key);
    } else if (!state.active && !this.#isInLine(key) && dueAt(state) === undefined) {
      if (state.failures === 0) this.#keys.delete(key);
    }
  }

  #observe(
    name: 'drover_workqueue_queue_duration_seconds' | 'drover_workqueue_work_duration_seconds',
    ms: number,
  ): void {
    // A corrected clock may go back.
    this.#metrics.observe(name, { queue: this.#name }, Math.max(0, ms) / 1000);
  }

  #count(retry: 'now' | 'backoff' | 'never' | 'bug'): void {
    const queue = { queue: this.#name };
    this.#metrics.add('drover_workqueue_retries_total', queue);
    if (retry === 'bug') this.#metrics.add('drover_assertion_failures_total', queue);
    else this.#metrics.add('drover_reconcile_errors_total', { ...queue, retry });
  }

  #failed(key: K, state: KeyState, error: unknown): void {
    state.failures++;
    this.#failures++;
    const advice = retryAdvice(error);
    const policy = advice.retry === 'now' ? conflictBackoff : this.#policy;
    const wait = exponentialDelay(state.failures, this.#random, policy);
    const at = this.#clock.now() + Math.max(wait, advice.atLeastMs);
    state.retryAt = at;
    this.#wakeTimer(at);
    const facts = { queue: this.#name, key, failures: state.failures, error: describeError(error) };
    if (error instanceof NotLeader) {
      this.#log.debug('pass ended, another process leads', facts);
      return;
    }
    this.#count(advice.retry);
    if (advice.retry === 'bug') {
      this.#bugs++;
      this.#log.error('pass failed on a programmer’s error', facts);
    } else if (advice.retry === 'now') this.#log.debug('pass failed, trying again', facts);
    else this.#log.warn('pass failed, trying again', facts);
  }

  #isInLine(key: K): boolean {
    return this.#ready.has(key) || this.#urgent.has(key);
  }

  /** Ends the timer's sleep if it would sleep past `at`. */
  #wakeTimer(at: number): void {
    if (this.#sleep !== undefined && at < this.#sleep.until) this.#sleep.link.abort();
  }

  async #runTimer(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const until = this.#promoteDue();
      const link = linkedAbort(signal);
      this.#sleep = { until, link };
      if (until === Number.POSITIVE_INFINITY) await aborted(link.signal);
      else {
        const leftMs = Math.min(until - this.#clock.now(), longestSleepMs);
        await sleepOrAbort(this.#clock, leftMs, link.signal);
      }
      this.#sleep = undefined;
      link.unlink();
    }
  }

  /** Queues every due key; returns when the next one is due. */
  #promoteDue(): number {
    const now = this.#clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [key, state] of this.#keys) {
      if (state.wakeAt !== undefined && state.wakeAt <= now) {
        state.wakeAt = undefined;
        this.add(key);
      }
      if (state.retryAt !== undefined && state.retryAt <= now) {
        state.retryAt = undefined;
        this.add(key);
      }
      next = Math.min(next, dueAt(state) ?? next);
    }
    return next;
  }
}

const dueAt = (state: KeyState): EpochMs | undefined => {
  const at = Math.min(
    state.wakeAt ?? Number.POSITIVE_INFINITY,
    state.retryAt ?? Number.POSITIVE_INFINITY,
  );
  return at === Number.POSITIVE_INFINITY ? undefined : epochMs(at);
};
