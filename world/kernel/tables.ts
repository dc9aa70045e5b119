// The world's state: named tables of immutable rows, with a list of changes since the last flush,
// so that the disk gets batches. Rows are shared by reference and must never be mutated.
import type { Json, JsonObject } from '../../src/api/json.ts';
import type { RowChange } from '../../src/ports/index.ts';
import { Sharing } from './sharing.ts';

/** Tables with many similar rows. */
const isAlike = (table: string): boolean => table.startsWith('kube/');

export class Table<T extends JsonObject> {
  readonly name: string;
  readonly #rows = new Map<string, T>();
  readonly #touch: (table: string, key: string) => void;
  constructor(name: string, touch: (table: string, key: string) => void) {
    this.name = name;
    this.#touch = touch;
  }
  get size(): number {
    return this.#rows.size;
  }
  get(key: string): T | undefined {
    return this.#rows.get(key);
  }
  has(key: string): boolean {
    return this.#rows.has(key);
  }
  put(key: string, row: T): void {
    this.#rows.set(key, row);
    this.#touch(this.name, key);
  }
  /** Returns true if the row existed. */
  delete(key: string): boolean {
    const existed = this.#rows.delete(key);
    if (existed) this.#touch(this.name, key);
    return existed;
  }
  /** In order of first insertion. */
  values(): IterableIterator<T> {
    return this.#rows.values();
  }
  entries(): IterableIterator<[string, T]> {
    return this.#rows.entries();
  }
  /** For loading only: records no change. */
  load(key: string, row: T): void {
    this.#rows.set(key, row);
  }
}

export class Tables {
  readonly #tables = new Map<string, Table<JsonObject>>();
  readonly #pending = new Map<string, Map<string, JsonObject>>();
  readonly #listeners = new Map<string, (key: string) => void>();
  readonly #isSaved: boolean;
  readonly #sharing = new Sharing();
  #dirty = new Map<string, Set<string>>();

  /** `saved: false`: changes are never taken, so none are recorded. */
  constructor(options: { readonly saved?: boolean } = {}) {
    this.#isSaved = options.saved ?? true;
  }

  /** The table of that name; includes rows loaded from disk before the first `open`. */
  open<T extends JsonObject>(name: string): Table<T> {
    const existing = this.#tables.get(name);
    // One owner opens each table with one row type; the map does not keep that type.
    if (existing !== undefined) return existing as Table<JsonObject> as Table<T>;
    const table = new Table<T>(name, (t, key) => this.#touch(t, key));
    for (const [key, row] of this.#pending.get(name) ?? []) table.load(key, row as T);
    this.#pending.delete(name);
    this.#tables.set(name, table as Table<JsonObject>);
    return table;
  }

  /** Stores a loaded row for `open`. Call before the owner opens the table. */
  restore(name: string, key: string, row: Json): void {
    const rows = this.#pending.get(name) ?? new Map<string, JsonObject>();
    rows.set(key, isAlike(name) ? this.#sharing.share(row as JsonObject) : (row as JsonObject));
    this.#pending.set(name, rows);
  }

  /**
   * Calls the listener synchronously for each put and delete in a table; for traces. One listener
   * per table.
   */
  observe(name: string, listener: (key: string) => void): void {
    this.#listeners.set(name, listener);
  }

  /** Whether changes are ever taken. */
  get isSaved(): boolean {
    return this.#isSaved;
  }

  get hasChanges(): boolean {
    return this.#dirty.size > 0;
  }

  /**
   * Changes since the last call; empty if there are none. Remaining rows are returned, and stored,
   * with their common parts shared.
   */
  takeChanges(): readonly RowChange[] {
    if (this.#dirty.size === 0) return [];
    const changes: RowChange[] = [];
    for (const [table, keys] of this.#dirty) {
      const rows = this.#tables.get(table);
      for (const key of keys) {
        const row = rows?.get(key);
        const value = row !== undefined && isAlike(table) ? this.#sharing.share(row) : row;
        if (value !== undefined && value !== row) rows?.load(key, value);
        changes.push({ table, key, value });
      }
    }
    this.#dirty = new Map();
    return changes;
  }

  #touch(table: string, key: string): void {
    if (this.#isSaved) {
      const keys = this.#dirty.get(table);
      if (keys === undefined) this.#dirty.set(table, new Set([key]));
      else keys.add(key);
    }
    this.#listeners.get(table)?.(key);
  }
}
