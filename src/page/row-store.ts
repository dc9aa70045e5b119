// The rows that were last sent to readers, each with its JSON: finds what changed, counts what
// the limits leave out. Knows no object of Kubernetes.
import {
  type PageDelta,
  type PageKind,
  type PageRows,
  pageKinds,
  pageLimits,
} from '../api/page.ts';

const limits: Readonly<Record<PageKind, number>> = {
  group: pageLimits.groups,
  node: pageLimits.nodes,
  update: pageLimits.updates,
  drain: pageLimits.drains,
  repair: pageLimits.repairs,
  budget: pageLimits.budgets,
};

export class RowStore {
  readonly #rows: Readonly<Record<PageKind, Map<string, string>>>;
  readonly #left: Readonly<Record<PageKind, Set<string>>>;
  #set: Record<PageKind, Map<string, string>>;
  #gone: Record<PageKind, Set<string>>;

  constructor() {
    this.#rows = fresh(() => new Map<string, string>());
    this.#left = fresh(() => new Set<string>());
    this.#set = fresh(() => new Map<string, string>());
    this.#gone = fresh(() => new Set<string>());
  }

  put<K extends PageKind>(kind: K, row: PageRows[K]): void {
    const rows = this.#rows[kind];
    const { key } = row;
    const known = rows.get(key);
    if (known === undefined && rows.size >= limits[kind]) {
      this.#left[kind].add(key);
      return;
    }
    const json = JSON.stringify(row);
    if (json === known) return;
    rows.set(key, json);
    this.#left[kind].delete(key);
    this.#gone[kind].delete(key);
    this.#set[kind].set(key, json);
  }

  remove(kind: PageKind, key: string): void {
    this.#left[kind].delete(key);
    if (!this.#rows[kind].delete(key)) return;
    this.#set[kind].delete(key);
    this.#gone[kind].add(key);
  }

  /** Keys of a kind that are shown. */
  keys(kind: PageKind): readonly string[] {
    return [...this.#rows[kind].keys()];
  }

  /** The changes since the last call, as the JSON of `set` and `gone`; undefined: none. */
  take(): { readonly set: string; readonly gone: string } | undefined {
    const kinds = pageKinds.filter((kind) => this.#set[kind].size > 0 || this.#gone[kind].size > 0);
    if (kinds.length === 0) return undefined;
    const set = kinds
      .filter((kind) => this.#set[kind].size > 0)
      .map((kind) => `"${kind}":[${[...this.#set[kind].values()].join(',')}]`);
    const gone: Partial<Record<PageKind, readonly string[]>> = {};
    for (const kind of kinds) if (this.#gone[kind].size > 0) gone[kind] = [...this.#gone[kind]];
    this.#set = fresh(() => new Map<string, string>());
    this.#gone = fresh(() => new Set<string>());
    return { set: `{${set.join(',')}}`, gone: JSON.stringify(gone satisfies PageDelta['gone']) };
  }

  /** All rows, as the JSON of `rows` of a snapshot. */
  rowsJson(): string {
    const parts = pageKinds.map(
      (kind) => `"${kind}":[${[...this.#rows[kind].values()].join(',')}]`,
    );
    return `{${parts.join(',')}}`;
  }

  left(): Readonly<Record<PageKind, number>> {
    const count = (kind: PageKind): number => this.#left[kind].size;
    return {
      group: count('group'),
      node: count('node'),
      update: count('update'),
      drain: count('drain'),
      repair: count('repair'),
      budget: count('budget'),
    };
  }
}

const fresh = <T>(make: () => T): Record<PageKind, T> => ({
  group: make(),
  node: make(),
  update: make(),
  drain: make(),
  repair: make(),
  budget: make(),
});
