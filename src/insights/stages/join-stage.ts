// `join`: emits a row for each indexed row with an equal value. Keeps nothing itself.
import type { Read, Row } from '../evaluate/row.ts';
import type { RowIndex } from '../evaluate/row-index.ts';
import { QueryLimitError } from '../language/query-error.ts';
import type { Stage } from './stage.ts';

/** Maximum rows that a join may emit: a constant, plus a number for each input row. */
const maxMade = 5_000_000;
const maxMadeEach = 20;

export class JoinStage implements Stage {
  readonly #read: Read;
  readonly #index: RowIndex;
  readonly #slots: readonly number[];
  readonly #keepsAll: boolean;
  readonly #next: Stage;
  #left = 0;
  #made = 0;
  constructor(
    options: {
      readonly read: Read;
      readonly index: RowIndex;
      /** Slots for the values of an indexed row. */
      readonly slots: readonly number[];
      /** Whether rows without an equal row continue too. */
      readonly keepsAll: boolean;
    },
    next: Stage,
  ) {
    this.#read = options.read;
    this.#index = options.index;
    this.#slots = options.slots;
    this.#keepsAll = options.keepsAll;
    this.#next = next;
  }
  /** Throws QueryLimitError. */
  push(row: Row): void {
    const found = this.#index.find(this.#read(row));
    this.#left++;
    this.#made += found.length;
    if (this.#made > maxMade + maxMadeEach * this.#left) {
      throw new QueryLimitError(
        `\`join\` makes more than ${maxMade} rows of ${this.#left}: many on both sides are ` +
          'equal; ' +
          'add a `filter`, or count one side with `stats` first',
      );
    }
    if (found.length === 0 && this.#keepsAll) this.#next.push(row);
    for (const { values } of found) {
      const copy = row.copy();
      for (const [index, slot] of this.#slots.entries()) copy.slots[slot] = values[index];
      this.#next.push(copy);
    }
  }
  finish(): void {
    this.#next.finish();
  }
}
