// The latest changes of one collection, oldest first, bounded: what a watch resumes from and what a
// later page of a list undoes. Lives in memory only, so after a restart older versions are expired.
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

  /** Nothing is known of changes up to and including revision `floor`. */
  constructor(floor: number, size: number) {
    this.#floor = floor;
    this.#size = size;
  }

  push(change: Recorded): void {
    this.#items.push(change);
    if (this.#items.length - this.#start <= this.#size) return;
    this.#floor = this.#items[this.#start]?.revision ?? this.#floor;
    // What is too old to be asked for keeps no objects alive until the list is cut.
    this.#items[this.#start] = change;
    this.#start++;
    if (this.#start > this.#size) {
      this.#items = this.#items.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Changes after `revision`, or undefined when some of them are no longer known. */
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
