// The commands as stages that rows are pushed through. Each reports the memory it keeps; rows that
// it passes on belong to the next stage.
import type { Read, Row } from '../evaluate/row.ts';
import { Row as NewRow } from '../evaluate/row.ts';
import { isTrue, sortOrder, toText, type Value, valueBytes } from '../evaluate/values.ts';
import type { Accumulator, AccumulatorFactory, StatsColumn } from './aggregates.ts';
import type { MemoryBudget } from './budget.ts';

export interface Stage {
  push(row: Row): void;
  /** No more rows will come. */
  finish(): void;
}

export class FilterStage implements Stage {
  readonly #condition: Read;
  readonly #next: Stage;
  constructor(condition: Read, next: Stage) {
    this.#condition = condition;
    this.#next = next;
  }
  push(row: Row): void {
    if (isTrue(this.#condition(row))) this.#next.push(row);
  }
  finish(): void {
    this.#next.finish();
  }
}

/** Computes values into a row's slots. */
export class AssignStage implements Stage {
  readonly #assign: (row: Row) => void;
  readonly #next: Stage;
  constructor(assign: (row: Row) => void, next: Stage) {
    this.#assign = assign;
    this.#next = next;
  }
  push(row: Row): void {
    this.#assign(row);
    this.#next.push(row);
  }
  finish(): void {
    this.#next.finish();
  }
}

export interface OrderKey {
  readonly read: Read;
  readonly descending: boolean;
}

export const compareBy = (keys: readonly OrderKey[]) => {
  return (a: readonly Value[], b: readonly Value[]): number => {
    for (const [index, key] of keys.entries()) {
      const [left, right] = [a[index], b[index]];
      if (left === undefined || right === undefined) {
        if (left === right) continue;
        return left === undefined ? 1 : -1;
      }
      const order = sortOrder(left, right);
      if (order !== 0) return key.descending ? -order : order;
    }
    return 0;
  };
};

interface Kept {
  readonly row: Row;
  readonly keys: readonly Value[];
}

/** Measured, plus a third for uncollected garbage. */
const rowBytes = 400;
const sizeOf = ({ event, slots }: Row): number =>
  rowBytes +
  (event?.message.length ?? 0) +
  slots.reduce<number>((sum, one) => sum + valueBytes(one), 0);

/** The first `count` rows in an order; ties in order of arrival. Keeps at most twice as many. */
export class TopStage implements Stage {
  readonly #keys: readonly OrderKey[];
  readonly #count: number;
  readonly #budget: MemoryBudget;
  readonly #next: Stage;
  readonly #compare: (a: Kept, b: Kept) => number;
  #kept: Kept[] = [];
  /** A row at or after this one cannot be among the first. */
  #worst: Kept | undefined;

  constructor(
    options: {
      readonly keys: readonly OrderKey[];
      readonly count: number;
      readonly budget: MemoryBudget;
    },
    next: Stage,
  ) {
    this.#keys = options.keys;
    this.#count = options.count;
    this.#budget = options.budget;
    this.#next = next;
    const compare = compareBy(options.keys);
    this.#compare = (a, b) => compare(a.keys, b.keys) || a.row.order - b.row.order;
  }

  push(row: Row): void {
    const kept = { row, keys: this.#keys.map((key) => key.read(row)) };
    if (this.#worst !== undefined && this.#compare(kept, this.#worst) >= 0) return;
    row.event?.release();
    this.#kept.push(kept);
    this.#budget.charge(
      sizeOf(row),
      () => `${this.#kept.length} rows are being kept`,
      'ask for fewer with `limit`, or add a `filter`',
    );
    if (this.#kept.length >= this.#count * 2) this.#cut();
  }

  #cut(): void {
    this.#kept.sort(this.#compare);
    for (const { row } of this.#kept.slice(this.#count)) this.#budget.release(sizeOf(row));
    this.#kept.length = Math.min(this.#kept.length, this.#count);
    if (this.#kept.length === this.#count) this.#worst = this.#kept.at(-1);
  }

  finish(): void {
    this.#cut();
    for (const [order, { row }] of this.#kept.entries()) {
      row.order = order;
      this.#next.push(row);
    }
    this.#kept = [];
    this.#next.finish();
  }
}

/** Keeps the first row in an order of rows with equal fields, and all rows with a missing field. */
export class DedupStage implements Stage {
  readonly #fields: readonly Read[];
  readonly #keys: readonly OrderKey[];
  readonly #compare: (a: readonly Value[], b: readonly Value[]) => number;
  readonly #budget: MemoryBudget;
  readonly #next: Stage;
  readonly #first = new Map<string, Kept>();
  #unique = 0;

  constructor(
    options: {
      readonly fields: readonly Read[];
      readonly keys: readonly OrderKey[];
      readonly budget: MemoryBudget;
    },
    next: Stage,
  ) {
    this.#fields = options.fields;
    this.#keys = options.keys;
    this.#compare = compareBy(options.keys);
    this.#budget = options.budget;
    this.#next = next;
  }

  push(row: Row): void {
    const values = this.#fields.map((read) => toText(read(row)));
    const isWhole = values.every((one) => one !== undefined);
    const key = isWhole ? JSON.stringify(values) : `#${this.#unique++}`;
    const kept = { row, keys: this.#keys.map((one) => one.read(row)) };
    const known = this.#first.get(key);
    if (known === undefined) {
      this.#budget.charge(
        sizeOf(row) + key.length,
        () => `\`dedup\` has met ${this.#first.size} different rows`,
        'add a `filter`, or fewer fields',
      );
    } else {
      const order = this.#compare(kept.keys, known.keys) || row.order - known.row.order;
      if (order >= 0) return;
    }
    row.event?.release();
    this.#first.set(key, kept);
  }

  finish(): void {
    const rows = [...this.#first.values()];
    rows.sort((a, b) => this.#compare(a.keys, b.keys) || a.row.order - b.row.order);
    for (const [order, { row }] of rows.entries()) {
      row.order = order;
      this.#next.push(row);
    }
    this.#next.finish();
  }
}

interface Group {
  readonly bytes: number;
  readonly by: readonly Value[];
  readonly accumulators: readonly Accumulator[];
}

/** Measured, like `rowBytes`. Functions charge for their additional state. */
const groupBytes = 400;
const accumulatorBytes = 200;

/** Groups rows; emits one row per group in the order of the grouping fields. */
export class StatsStage implements Stage {
  readonly #by: readonly Read[];
  readonly #columns: readonly StatsColumn[];
  readonly #factories: readonly AccumulatorFactory[];
  readonly #budget: MemoryBudget;
  readonly #next: Stage;
  readonly #groups = new Map<string, Group>();

  constructor(
    options: {
      readonly by: readonly Read[];
      readonly columns: readonly StatsColumn[];
      readonly budget: MemoryBudget;
    },
    next: Stage,
  ) {
    this.#by = options.by;
    this.#columns = options.columns;
    this.#factories = options.columns.flatMap((column) => column.factories);
    this.#budget = options.budget;
    this.#next = next;
  }

  push(row: Row): void {
    const by = this.#by.map((read) => read(row));
    const key = by.length === 0 ? '' : keyOf(by);
    const group = this.#groups.get(key) ?? this.#open(key, by);
    for (const accumulator of group.accumulators) accumulator.add(row);
  }

  #open(key: string, by: readonly Value[]): Group {
    const accumulators = this.#factories.map((create) => create(this.#budget));
    const bytes = groupBytes + key.length * 2 + accumulators.length * accumulatorBytes;
    const group = { bytes, by, accumulators };
    this.#groups.set(key, group);
    this.#budget.charge(
      bytes,
      () => `\`stats\` has made ${this.#groups.size} groups`,
      'add a `filter`, or group by fields with fewer values',
    );
    return group;
  }

  finish(): void {
    const keys = this.#by.map((): OrderKey => ({ read: () => undefined, descending: false }));
    const compare = compareBy(keys);
    // In reverse, so that each group is released when its row is emitted.
    const groups = [...this.#groups.values()].sort((a, b) => compare(a.by, b.by)).reverse();
    this.#groups.clear();
    for (let order = 0; ; order++) {
      const group = groups.pop();
      if (group === undefined) break;
      const { by, accumulators, bytes } = group;
      this.#budget.release(bytes);
      let from = 0;
      const values = this.#columns.map((column) => {
        const own = accumulators.slice(from, from + column.factories.length);
        from += own.length;
        return column.finish(own.map((one) => one.value()));
      });
      this.#next.push(new NewRow(undefined, [...by, ...values], order));
    }
    this.#next.finish();
  }
}

const keyOf = (values: readonly Value[]): string => {
  let key = '';
  // A missing value is a group of its own, distinct from empty text.
  for (const value of values) {
    const text = toText(value);
    key += text === undefined ? '-|' : `${text.length}:${text}|`;
  }
  return key;
};
