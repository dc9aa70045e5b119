// A work queue on the kernel: a marked key is reconciled once, a little later. Failures are retried
// with growing delay, waits after the requested delay. Keys wait as durable events, so a restart
// loses none. Never reconciles inside a mark.
import type { JsonObject } from '../../../src/api/json.ts';
import type { Random } from '../../../src/ports/index.ts';
import {
  type Actor,
  type Kernel,
  type Micros,
  microsPerMs,
  type Table,
  type WorldEvent,
} from '../../kernel/index.ts';
import { type Latency, type LatencyName, latencies } from './latencies.ts';

/** Result of a reconcile: done, retry with backoff, or requeue after a time. */
export type Outcome = undefined | 'retry' | { readonly againInMicros: Micros };

/** Upstream's item backoff (client-go workqueue): 5 ms doubled per failure, up to 1000 s. */
const baseRetryMicros = 5 * microsPerMs;
const maxRetryMicros = 1000 * 1000 * microsPerMs;

/** Cap of the failure count per key; the delay reaches its maximum earlier. */
const maxFailures = 40;

export class Worker implements Actor {
  readonly name: string;
  readonly #kernel: Kernel;
  readonly #latency: Latency;
  readonly #random: Random;
  readonly #reconcile: (key: string) => Outcome;
  readonly #queued = new Set<string>();
  readonly #timers = new Map<string, { readonly handle: number; readonly at: Micros }>();
  readonly #failures = new Map<string, number>();

  constructor(options: {
    readonly kernel: Kernel;
    readonly name: LatencyName;
    readonly latency?: Latency;
    readonly reconcile: (key: string) => Outcome;
  }) {
    this.name = `kube.${options.name}`;
    this.#kernel = options.kernel;
    this.#latency = options.latency ?? latencies[options.name];
    this.#random = options.kernel.random(`${this.name}.latency`);
    this.#reconcile = options.reconcile;
    options.kernel.register(this);
  }

  /** Enqueues `key` after the controller's latency; marks in between are merged. */
  mark(key: string): void {
    if (this.#queued.has(key)) return;
    this.#queued.add(key);
    const { minMs, maxMs } = this.#latency;
    const spread = Math.round((maxMs - minMs) * microsPerMs);
    this.#kernel.schedule({
      afterMicros: minMs * microsPerMs + this.#random.below(spread + 1),
      actor: this.name,
      kind: 'reconcile',
      args: { key },
    });
  }

  /** Enqueues `key` after `micros` unless an earlier reconcile is already scheduled. */
  markAfter(key: string, micros: Micros): void {
    const at = this.#kernel.now() + micros;
    const timer = this.#timers.get(key);
    if (timer !== undefined) {
      if (timer.at <= at) return;
      this.#kernel.cancel(timer.handle);
    }
    const handle = this.#kernel.schedule({
      afterMicros: micros,
      actor: this.name,
      kind: 'timer',
      args: { key },
    });
    this.#timers.set(key, { handle, at });
  }

  /** Cancels the pending timer of `key`; a mark remains. */
  forget(key: string): void {
    const timer = this.#timers.get(key);
    if (timer !== undefined) this.#kernel.cancel(timer.handle);
    this.#timers.delete(key);
    this.#failures.delete(key);
  }

  handle(event: WorldEvent): void {
    const key = String(event.args.key);
    if (event.kind === 'reconcile') this.#queued.delete(key);
    else this.#timers.delete(key);
    const outcome = this.#reconcile(key);
    if (outcome === undefined) {
      this.#failures.delete(key);
      return;
    }
    if (outcome === 'retry') {
      const failures = Math.min((this.#failures.get(key) ?? 0) + 1, maxFailures);
      this.#failures.set(key, failures);
      const delay = Math.min(baseRetryMicros * 2 ** (failures - 1), maxRetryMicros);
      this.markAfter(key, delay);
      return;
    }
    this.#failures.delete(key);
    this.markAfter(key, outcome.againInMicros);
  }
}

interface TickerRow extends JsonObject {
  /** Time of the grid on which ticks fall. */
  readonly at: Micros;
  readonly isTicking: boolean;
}

/**
 * An actor that is called at a fixed period: always, or while `isNeeded` returns true and again
 * after a `wake`. Its grid, and whether it is ticking, survive a restart.
 */
export class Ticker implements Actor {
  readonly name: string;
  readonly #kernel: Kernel;
  readonly #periodMicros: Micros;
  readonly #tick: () => void;
  readonly #isNeeded: () => boolean;
  readonly #row: Table<TickerRow>;
  constructor(options: {
    readonly kernel: Kernel;
    readonly name: string;
    readonly periodMicros: Micros;
    readonly tick: () => void;
    readonly isNeeded?: () => boolean;
  }) {
    this.name = `kube.${options.name}`;
    this.#kernel = options.kernel;
    this.#periodMicros = options.periodMicros;
    this.#tick = options.tick;
    this.#isNeeded = options.isNeeded ?? (() => true);
    options.kernel.register(this);
    this.#row = options.kernel.tables.open<TickerRow>('kube.tickers');
    // Rows of worlds stored without this field belong to tickers that tick.
    if (this.#row.has(this.name)) return;
    this.#row.put(this.name, { at: options.kernel.now(), isTicking: true });
    this.#next();
  }

  /** Call when `isNeeded` may have become true. */
  wake(): void {
    const row = this.#row.get(this.name);
    if (row === undefined || row.isTicking !== false) return;
    this.#row.put(this.name, { at: row.at, isTicking: true });
    this.#next();
  }

  handle(): void {
    if (this.#isNeeded()) {
      this.#next();
      this.#tick();
      return;
    }
    const at = this.#row.get(this.name)?.at ?? this.#kernel.now();
    this.#row.put(this.name, { at, isTicking: false });
  }

  #next(): void {
    const since = this.#kernel.now() - (this.#row.get(this.name)?.at ?? 0);
    this.#kernel.schedule({
      afterMicros: this.#periodMicros - (since % this.#periodMicros),
      actor: this.name,
      kind: 'tick',
    });
  }
}
