// Keys of one collection in list order. Additions and removals are cheap; the order is rebuilt on
// the next read, in linear time.

export class SortedKeys {
  #sorted: readonly string[];
  readonly #added = new Set<string>();
  readonly #removed = new Set<string>();

  constructor(keys: readonly string[]) {
    this.#sorted = keys.toSorted(compare);
  }

  add(key: string): void {
    if (!this.#removed.delete(key)) this.#added.add(key);
  }

  remove(key: string): void {
    if (!this.#added.delete(key)) this.#removed.add(key);
  }

  all(): readonly string[] {
    if (this.#added.size > 0 || this.#removed.size > 0) this.#merge();
    return this.#sorted;
  }

  withPrefix(prefix: string): readonly string[] {
    const keys = this.all();
    const from = lowerBound(keys, prefix, (key) => key);
    let to = from;
    while (keys[to]?.startsWith(prefix) === true) to++;
    return keys.slice(from, to);
  }

  #merge(): void {
    const added = [...this.#added].sort(compare);
    const merged: string[] = [];
    let next = 0;
    for (const key of this.#sorted) {
      if (this.#removed.has(key)) continue;
      for (let fresh = added[next]; fresh !== undefined && fresh < key; fresh = added[next]) {
        merged.push(fresh);
        next++;
      }
      merged.push(key);
    }
    for (; next < added.length; next++) {
      const fresh = added[next];
      if (fresh !== undefined) merged.push(fresh);
    }
    this.#sorted = merged;
    this.#added.clear();
    this.#removed.clear();
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Index of the first item whose key is not smaller than `wanted`; items are in key order. */
export function lowerBound<T>(
  items: readonly T[],
  wanted: string,
  keyOf: (item: T) => string,
): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle];
    if (item !== undefined && keyOf(item) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
