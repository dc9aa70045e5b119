// The latest changes of one collection, oldest first, bounded: watches resume from it, later pages
// of a list undo it. In memory only, so older versions expire with a restart.
import type { Stored } from './objects.ts';

export interface Recorded {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly key: string;
  readonly object: Stored;
  readonly previous: Stored | undefined;
}

export class History {
  readonly #size: number;
  #floor: number;
  #items: Recorded[] = [];
  #start = 0;

  /** Changes up to and including revision `floor` are unknown. */
  constructor(floor: number, size: number) {
    this.#floor = floor;
    this.#size = size;
  }

  push(change: Recorded): void {
    this.#items.push(change);
    if (this.#items.length - this.#start <= this.#size) return;
    this.#floor = this.#items[this.#start]?.revision ?? this.#floor;
    // Overwrites expired changes, so that they keep no objects in memory until the list is cut.
    this.#items[this.#start] = change;
    this.#start++;
    if (this.#start > this.#size) {
      this.#items = this.#items.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Changes after `revision`, or undefined when some of them have expired. */
  since(revision: number): readonly Recorded[] | undefined {
    if (revision < this.#floor) return undefined;
    let low = this.#start;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#items[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#items.slice(low);
  }
}
