// The latest rows from the server, as signals: each node cell follows its own row, each list
// follows its table. Applies snapshots and deltas; computes nothing else.
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { PageDelta, PageEntry, PageKind, PageRows, PageSnapshot } from '../../src/api/page.ts';
import { reachTime, setTime } from './clock.ts';

/** Journal entries kept in the browser. */
const maxEntries = 1_000;

export class Rows<T extends { readonly key: string }> {
  readonly #rows = new Map<string, Signal<T>>();
  /** Changes with every row. */
  readonly #revision = signal(0);
  /** Changes when a row is added or removed. */
  readonly #members = signal(0);

  /** All rows, in the order in which they were added. */
  readonly all: ReadonlySignal<readonly T[]> = computed(() => {
    this.#revision.value;
    return [...this.#rows.values()].map((row) => row.peek());
  });

  /** All rows, recomputed only when a row is added or removed. */
  readonly members: ReadonlySignal<readonly T[]> = computed(() => {
    this.#members.value;
    return [...this.#rows.values()].map((row) => row.peek());
  });

  /** Follows one row; undefined: it does not exist. */
  of(key: string): T | undefined {
    const row = this.#rows.get(key);
    if (row !== undefined) return row.value;
    this.#members.value;
    return undefined;
  }

  put(rows: readonly T[]): void {
    for (const row of rows) {
      const known = this.#rows.get(row.key);
      if (known !== undefined) known.value = row;
      else {
        this.#rows.set(row.key, signal(row));
        this.#members.value = this.#members.peek() + 1;
      }
    }
    if (rows.length > 0) this.#revision.value = this.#revision.peek() + 1;
  }

  remove(keys: readonly string[]): void {
    const gone = keys.filter((key) => this.#rows.delete(key));
    if (gone.length === 0) return;
    this.#members.value = this.#members.peek() + 1;
    this.#revision.value = this.#revision.peek() + 1;
  }

  /** Rows that remain keep their signals, so their elements are not rendered again. */
  replace(rows: readonly T[]): void {
    const keys = new Set(rows.map(({ key }) => key));
    this.remove([...this.#rows.keys()].filter((key) => !keys.has(key)));
    this.put(rows.filter((row) => !isEqual(this.#rows.get(row.key)?.peek(), row)));
  }
}

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

type Tables = { readonly [K in PageKind]: Rows<PageRows[K]> };

export const tables: Tables = {
  group: new Rows(),
  node: new Rows(),
  update: new Rows(),
  drain: new Rows(),
  repair: new Rows(),
  budget: new Rows(),
};
const kinds: readonly PageKind[] = ['group', 'node', 'update', 'drain', 'repair', 'budget'];

export const server = signal<PageSnapshot['server'] | undefined>(undefined);
export const left = signal<PageSnapshot['left'] | undefined>(undefined);
export interface KeptJournal {
  /** The newest without a gap, oldest first. */
  readonly entries: readonly PageEntry[];
  /** How many the controllers have recorded in all. */
  readonly recorded: number;
}
export const journal = signal<KeptJournal>({ entries: [], recorded: 0 });
export const faults = signal<readonly string[]>([]);

export const applySnapshot = (snapshot: PageSnapshot): void =>
  batch(() => {
    server.value = snapshot.server;
    left.value = snapshot.left;
    journal.value = { entries: snapshot.journal, recorded: snapshot.recorded };
    faults.value = snapshot.faults;
    setTime(snapshot.time);
    for (const kind of kinds) (tables[kind] as Rows<never>).replace(snapshot.rows[kind] as never[]);
  });

/** A delta that skips entries starts a new list: a list with gaps would look complete. */
const grown = ({ entries, recorded }: KeptJournal, delta: PageDelta): KeptJournal => {
  const isNext = recorded + delta.journal.length === delta.recorded;
  const all = isNext ? [...entries, ...delta.journal] : delta.journal;
  return { entries: all.slice(-maxEntries), recorded: delta.recorded };
};

export const applyDelta = (delta: PageDelta): void =>
  batch(() => {
    reachTime(delta.time);
    for (const kind of kinds) {
      (tables[kind] as Rows<never>).remove(delta.gone[kind] ?? []);
      (tables[kind] as Rows<never>).put((delta.set[kind] ?? []) as never[]);
    }
    if (delta.recorded !== journal.peek().recorded) journal.value = grown(journal.peek(), delta);
    if (delta.faults.length + faults.peek().length > 0) faults.value = delta.faults;
  });
