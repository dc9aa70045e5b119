// Commands that turn one row into several, or carry values from row to row. None of them keeps a
// row.
import type { Read, Row } from '../evaluate/row.ts';
import { Row as NewRow } from '../evaluate/row.ts';
import { listIn, toNumber, toText, type Value } from '../evaluate/values.ts';
import type { Stage } from './stage.ts';

/** `limit any`: the first rows. After these, no further row can change the result. */
export class AnyStage implements Stage {
  readonly #count: number;
  readonly #next: Stage;
  readonly #onDone: () => void;
  #passed = 0;
  constructor(count: number, onDone: () => void, next: Stage) {
    this.#count = count;
    this.#onDone = onDone;
    this.#next = next;
  }
  push(row: Row): void {
    if (this.#passed === this.#count) return;
    this.#passed++;
    this.#next.push(row);
    if (this.#passed === this.#count) this.#onDone();
  }
  finish(): void {
    this.#next.finish();
  }
}

type ElementsOf = (row: Row) => readonly Value[];

/** `unnest`: the elements of a list, none for other values. */
export const elementsOf =
  (read: Read): ElementsOf =>
  (row) => {
    const value = read(row);
    return Array.isArray(value) ? value.map((one) => (one === null ? undefined : one)) : [];
  };

/** `expand`: the elements of a list, or of JSON text with one; other values stay unchanged. */
export const elementsOrItself =
  (read: Read): ElementsOf =>
  (row) => {
    const value = read(row);
    return listIn(value) ?? [value];
  };

/** One row per element, which is set in a slot. */
export class ElementsStage implements Stage {
  readonly #elements: ElementsOf;
  readonly #slot: number;
  readonly #next: Stage;
  constructor(elements: ElementsOf, slot: number, next: Stage) {
    this.#elements = elements;
    this.#slot = slot;
    this.#next = next;
  }
  push(row: Row): void {
    for (const element of this.#elements(row)) {
      const copy = row.copy();
      copy.slots[this.#slot] = element;
      this.#next.push(copy);
    }
  }
  finish(): void {
    this.#next.finish();
  }
}

/** One row per match; a text without a match stays a row, as with plain `parse`. */
export class MatchesStage implements Stage {
  readonly #read: Read;
  readonly #slots: readonly number[];
  readonly #find: (text: string) => Iterable<readonly (string | undefined)[]>;
  readonly #next: Stage;
  constructor(
    options: {
      readonly read: Read;
      readonly slots: readonly number[];
      readonly find: (text: string) => Iterable<readonly (string | undefined)[]>;
    },
    next: Stage,
  ) {
    this.#read = options.read;
    this.#slots = options.slots;
    this.#find = options.find;
    this.#next = next;
  }
  push(row: Row): void {
    const text = toText(this.#read(row));
    let isFirst = true;
    for (const groups of text === undefined ? [] : this.#find(text)) {
      isFirst = false;
      this.#pass(row, groups);
    }
    if (isFirst) this.#pass(row, []);
  }
  #pass(row: Row, groups: readonly (string | undefined)[]): void {
    const copy = row.copy();
    for (const [index, slot] of this.#slots.entries()) copy.slots[slot] = groups[index];
    this.#next.push(copy);
  }
  finish(): void {
    this.#next.finish();
  }
}

/** Sums of some columns over each row, and of each column in a final row. */
export class TotalsStage implements Stage {
  readonly #columns: readonly { readonly read: Read; readonly slot: number }[];
  readonly #rowSlot: number | undefined;
  readonly #hasLast: boolean;
  readonly #next: Stage;
  readonly #sums: (number | undefined)[];
  #order = 0;
  constructor(
    options: {
      readonly columns: readonly { readonly read: Read; readonly slot: number }[];
      /** Slot of a row's sum. */
      readonly rowSlot: number | undefined;
      /** Whether a final row has the columns' sums. */
      readonly hasLast: boolean;
    },
    next: Stage,
  ) {
    this.#columns = options.columns;
    this.#rowSlot = options.rowSlot;
    this.#hasLast = options.hasLast;
    this.#next = next;
    this.#sums = options.columns.map(() => undefined);
  }
  push(row: Row): void {
    let sum: number | undefined;
    for (const [index, { read, slot }] of this.#columns.entries()) {
      const value = read(row);
      row.slots[slot] = value;
      const number = summand(value);
      if (number === undefined) continue;
      sum = (sum ?? 0) + number;
      this.#sums[index] = (this.#sums[index] ?? 0) + number;
    }
    if (this.#rowSlot !== undefined) row.slots[this.#rowSlot] = sum;
    this.#order = Math.max(this.#order, row.order + 1);
    this.#next.push(row);
  }
  finish(): void {
    // A sum needs rows.
    if (this.#hasLast && this.#order > 0) this.#next.push(this.#last());
    this.#next.finish();
  }
  #last(): Row {
    const row = new NewRow(undefined, [], this.#order);
    let all: number | undefined;
    for (const [index, { slot }] of this.#columns.entries()) {
      const sum = this.#sums[index];
      row.slots[slot] = sum;
      if (sum !== undefined) all = (all ?? 0) + sum;
    }
    if (this.#rowSlot !== undefined) row.slots[this.#rowSlot] = all;
    return row;
  }
}

/** Numbers and numeric text; times and booleans are excluded. */
const summand = (value: Value): number | undefined =>
  typeof value === 'number' || typeof value === 'string' ? toNumber(value) : undefined;

/** Computes slots of a row from it and from the previous row. */
export class CarryStage implements Stage {
  readonly #carry: readonly {
    readonly read: Read;
    readonly slot: number;
    readonly next: (kept: Value, value: Value) => Value;
  }[];
  readonly #kept: Value[];
  readonly #next: Stage;
  constructor(
    carry: readonly {
      readonly read: Read;
      readonly slot: number;
      readonly next: (kept: Value, value: Value) => Value;
    }[],
    next: Stage,
  ) {
    this.#carry = carry;
    this.#kept = carry.map(() => undefined);
    this.#next = next;
  }
  push(row: Row): void {
    for (const [index, { read, slot, next }] of this.#carry.entries()) {
      const value = next(this.#kept[index], read(row));
      this.#kept[index] = value;
      row.slots[slot] = value;
    }
    this.#next.push(row);
  }
  finish(): void {
    this.#next.finish();
  }
}

/** The running sum: ignores non-numbers. */
export const added = (kept: Value, value: Value): Value => {
  const number = summand(value);
  return number === undefined ? kept : (typeof kept === 'number' ? kept : 0) + number;
};
