// `appendcols`: adds the values of other rows to the incoming rows, by position.
import type { Read, Row } from '../evaluate/row.ts';
import { alone } from '../evaluate/row-index.ts';
import { type Value, valueBytes } from '../evaluate/values.ts';
import type { MemoryBudget } from './budget.ts';
import type { Stage } from './stage.ts';

export interface AppendedColumn {
  readonly slot: number;
  /** The column of that name that is already shown; undefined when there is none. */
  readonly before: Read | undefined;
}

/** Approximate memory of a list and of an element. */
const rowBytes = 80;
const placeBytes = 16;

/** The other rows, which are read first. */
export class AppendedRows {
  readonly #reads: readonly Read[];
  readonly #max: number;
  readonly #budget: MemoryBudget;
  readonly rows: (readonly Value[])[] = [];
  constructor(reads: readonly Read[], max: number, budget: MemoryBudget) {
    this.#reads = reads;
    this.#max = max;
    this.#budget = budget;
  }
  /** Throws QueryLimitError. */
  push(row: Row): void {
    if (this.rows.length === this.#max) return;
    const values = this.#reads.map((read) => alone(read(row)));
    this.rows.push(values);
    this.#budget.charge(
      rowBytes + values.reduce<number>((sum, one) => sum + placeBytes + valueBytes(one), 0),
      () => `\`appendcols\` keeps ${this.rows.length} rows of those in brackets`,
      'ask for fewer with `max=`, or add a `filter`',
    );
  }
}

export class AppendStage implements Stage {
  readonly #columns: readonly AppendedColumn[];
  readonly #rows: readonly (readonly Value[])[];
  readonly #override: boolean;
  /** Called with the number of other rows without a counterpart. */
  readonly #onLeft: (count: number) => void;
  readonly #next: Stage;
  #at = 0;
  constructor(
    options: {
      readonly columns: readonly AppendedColumn[];
      readonly rows: readonly (readonly Value[])[];
      readonly override: boolean;
      readonly onLeft: (count: number) => void;
    },
    next: Stage,
  ) {
    this.#columns = options.columns;
    this.#rows = options.rows;
    this.#override = options.override;
    this.#onLeft = options.onLeft;
    this.#next = next;
  }
  push(row: Row): void {
    const values = this.#rows[this.#at++];
    const made = this.#columns.map(({ before }, index) => {
      const [mine, theirs] = [before?.(row), values?.[index]];
      return this.#override ? (theirs ?? mine) : (mine ?? theirs);
    });
    for (const [index, { slot }] of this.#columns.entries()) row.slots[slot] = made[index];
    this.#next.push(row);
  }
  finish(): void {
    const left = this.#rows.length - this.#at;
    if (left > 0) this.#onLeft(left);
    this.#next.finish();
  }
}
