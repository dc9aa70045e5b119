// The world's clock and its heap of events. Durable events are data for a named actor and survive a
// restart. Transient events are callbacks (answers to a caller) and do not. Nothing here waits: the
// caller decides when `step` runs.
import type { JsonObject } from '../../src/api/json.ts';
import type { Random } from '../../src/ports/index.ts';
import { SeededRandom } from './random.ts';
import { type Table, Tables } from './tables.ts';

/** Microseconds since the Unix epoch, an integer. */
export type Micros = number;
export const microsPerMs = 1000;
export const microsPerSecond = 1_000_000;

export interface WorldEvent {
  readonly at: Micros;
  readonly seq: number;
  readonly actor: string;
  readonly kind: string;
  readonly args: JsonObject;
}

export interface Actor {
  readonly name: string;
  /** Runs synchronously to its end; may schedule, cancel, and change tables. */
  handle(event: WorldEvent): void;
}

interface Entry {
  readonly at: Micros;
  readonly seq: number;
  readonly event: WorldEvent | undefined;
  readonly run: (() => void) | undefined;
}

interface KernelRow extends JsonObject {
  readonly now: number;
  readonly seq: number;
  readonly seed: number;
}

const before = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.seq < b.seq);

export class Kernel {
  readonly tables: Tables;
  readonly seed: number;
  readonly #actors = new Map<string, Actor>();
  readonly #randoms = new Map<string, SeededRandom>();
  readonly #heap: Entry[] = [];
  readonly #cancelled = new Set<number>();
  readonly #queued = new Set<number>();
  readonly #durable: Table<JsonObject>;
  readonly #meta: Table<JsonObject>;
  #now: Micros;
  #seq = 0;
  #steps = 0;
  #callbacks = 0;
  #onScheduled: (() => void) | undefined;

  /** `tables` may hold a stored world: time, heap and random streams then continue from it. */
  constructor(options: {
    readonly seed: number;
    readonly startAt: Micros;
    readonly tables?: Tables;
  }) {
    this.tables = options.tables ?? new Tables();
    this.#durable = this.tables.open('kernel.heap');
    this.#meta = this.tables.open('kernel.meta');
    const stored = this.#meta.get('kernel') as KernelRow | undefined;
    this.seed = stored?.seed ?? options.seed;
    this.#now = stored?.now ?? options.startAt;
    this.#seq = stored?.seq ?? 0;
    for (const [key, row] of this.#meta.entries()) {
      if (key.startsWith('random/')) {
        this.#randoms.set(key.slice(7), new SeededRandom(Number(row.state)));
      }
    }
    for (const row of this.#durable.values()) {
      const event = row as JsonObject & WorldEvent;
      this.#push({ at: event.at, seq: event.seq, event, run: undefined });
    }
  }

  now(): Micros {
    return this.#now;
  }
  /** Events handled so far in this process. */
  get steps(): number {
    return this.#steps;
  }

  /**
   * Called for every scheduled event: a caller that sleeps until `nextAt` may have to wake earlier.
   */
  set onScheduled(listener: (() => void) | undefined) {
    this.#onScheduled = listener;
  }

  /** Callbacks run so far; after one, live tasks may have work before the next step. */
  get callbacks(): number {
    return this.#callbacks;
  }

  register(actor: Actor): void {
    if (this.#actors.has(actor.name)) throw new Error(`actor ${actor.name} registered twice`);
    this.#actors.set(actor.name, actor);
  }

  /**
   * Schedules a durable event for `actor`, `afterMicros` from now (not negative). Returns its
   * handle.
   */
  schedule(event: {
    readonly afterMicros: Micros;
    readonly actor: string;
    readonly kind: string;
    readonly args?: JsonObject;
  }): number {
    const at = this.#now + Math.max(0, Math.round(event.afterMicros));
    const seq = ++this.#seq;
    const row: WorldEvent = {
      at,
      seq,
      actor: event.actor,
      kind: event.kind,
      args: event.args ?? {},
    };
    // A world that is never saved is never restored.
    if (this.tables.isSaved) this.#durable.put(String(seq), row as WorldEvent & JsonObject);
    this.#push({ at, seq, event: row, run: undefined });
    return seq;
  }

  /**
   * Schedules a callback that does not survive a restart: answers to callers, timers of live tasks.
   */
  after(micros: Micros, run: () => void): number {
    const seq = ++this.#seq;
    this.#push({ at: this.#now + Math.max(0, Math.round(micros)), seq, event: undefined, run });
    return seq;
  }

  cancel(handle: number): void {
    if (!this.#queued.has(handle)) return;
    this.#cancelled.add(handle);
    if (this.tables.isSaved) this.#durable.delete(String(handle));
  }

  /** The random stream of `component`. */
  random(component: string): Random {
    const known = this.#randoms.get(component);
    if (known !== undefined) return known;
    const fresh = SeededRandom.split(this.seed, component);
    this.#randoms.set(component, fresh);
    return fresh;
  }

  /** Time of the next event; undefined if there is none. */
  nextAt(): Micros | undefined {
    this.#dropCancelled();
    return this.#heap[0]?.at;
  }

  /** Handles the next event and advances time to it. Returns false if there is none. */
  step(): boolean {
    this.#dropCancelled();
    const entry = this.#pop();
    if (entry === undefined) return false;
    this.#now = Math.max(this.#now, entry.at);
    this.#steps++;
    if (entry.run !== undefined) {
      this.#callbacks++;
      entry.run();
      return true;
    }
    const event = entry.event;
    if (event === undefined) return true;
    if (this.tables.isSaved) this.#durable.delete(String(event.seq));
    const actor = this.#actors.get(event.actor);
    if (actor === undefined) throw new Error(`event for unknown actor ${event.actor}`);
    actor.handle(event);
    return true;
  }

  /** Advances time to `at` unless an event is due earlier: the pace of a served world. */
  advanceTo(at: Micros): void {
    const next = this.nextAt();
    if (next !== undefined && next < at) throw new Error('an earlier event is still due');
    this.#now = Math.max(this.#now, at);
  }

  /**
   * Writes the random streams, and the clock if anything else changed, to the tables, so that the
   * next flush holds the complete state. If only time has passed, it writes nothing: the next event
   * will.
   */
  checkpoint(): void {
    for (const [name, random] of this.#randoms) {
      const stored = this.#meta.get(`random/${name}`);
      if (stored?.state !== random.state) {
        this.#meta.put(`random/${name}`, { state: random.state });
      }
    }
    if (!this.tables.hasChanges && this.#meta.has('kernel')) return;
    this.#meta.put('kernel', { now: this.#now, seq: this.#seq, seed: this.seed });
  }

  #dropCancelled(): void {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (!this.#cancelled.delete(top.seq)) return;
      this.#pop();
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    this.#queued.add(entry.seq);
    let i = heap.length;
    heap.push(entry);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !before(entry, above)) break;
      heap[i] = above;
      i = parent;
    }
    heap[i] = entry;
    this.#onScheduled?.();
  }

  #pop(): Entry | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined) return undefined;
    this.#queued.delete(top.seq);
    if (heap.length === 0) return top;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      const left = heap[child];
      if (left === undefined) break;
      const right = heap[child + 1];
      const least = right !== undefined && before(right, left) ? right : left;
      if (least === right) child++;
      if (!before(least, last)) break;
      heap[i] = least;
      i = child;
    }
    heap[i] = last;
    return top;
  }
}
