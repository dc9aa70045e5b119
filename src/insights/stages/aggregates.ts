// Aggregate functions for `stats`: the state of each group and its result. Exact where CloudWatch
// estimates (count_distinct, pct), within the query's memory limit.

import {
  type CompileContext,
  checkCount,
  compile,
  isAggregate,
  isFunction,
  unknownFunction,
} from '../evaluate/compile.ts';
import { finite } from '../evaluate/functions.ts';
import { type Read, Row } from '../evaluate/row.ts';
import { sortOrder, toNumber, toText, type Value } from '../evaluate/values.ts';
import type { Expression } from '../language/ast.ts';
import { QueryError } from '../language/query-error.ts';
import type { MemoryBudget } from './budget.ts';

export interface Accumulator {
  add(row: Row): void;
  value(): Value;
}
export type AccumulatorFactory = (budget: MemoryBudget) => Accumulator;

const groupRemedy = 'add a `filter`, or group by fields with fewer values';
const distinctRemedy = 'add a `filter`, or count over fewer different values';
const entryBytes = 80;
/** Memory of an empty set or list of numbers. */
const emptyBytes = 300;

class Count implements Accumulator {
  readonly #read: Read | undefined;
  #count = 0;
  constructor(read: Read | undefined) {
    this.#read = read;
  }
  add(row: Row): void {
    if (this.#read === undefined || this.#read(row) !== undefined) this.#count++;
  }
  value(): Value {
    return this.#count;
  }
}

class CountDistinct implements Accumulator {
  readonly #read: Read;
  readonly #budget: MemoryBudget;
  readonly #seen = new Set<string>();
  constructor(read: Read, budget: MemoryBudget) {
    this.#read = read;
    this.#budget = budget;
    budget.charge(emptyBytes, () => 'a `count_distinct` for each group', distinctRemedy);
  }
  add(row: Row): void {
    const text = toText(this.#read(row));
    if (text === undefined || this.#seen.has(text)) return;
    this.#seen.add(text);
    this.#budget.charge(
      entryBytes + text.length,
      () => `\`count_distinct\` has met ${this.#seen.size} different values`,
      distinctRemedy,
    );
  }
  value(): Value {
    return this.#seen.size;
  }
}

/** Sum, mean and standard deviation in one pass (Welford's method). */
class Moments implements Accumulator {
  readonly #read: Read;
  readonly #result: (moments: Moments) => Value;
  count = 0;
  sum = 0;
  mean = 0;
  squares = 0;
  constructor(read: Read, result: (moments: Moments) => Value) {
    this.#read = read;
    this.#result = result;
  }
  add(row: Row): void {
    const number = toNumber(this.#read(row));
    if (number === undefined) return;
    this.count++;
    this.sum += number;
    const delta = number - this.mean;
    this.mean += delta / this.count;
    this.squares += delta * (number - this.mean);
  }
  value(): Value {
    return this.count === 0 ? undefined : this.#result(this);
  }
}

class Percentile implements Accumulator {
  readonly #read: Read;
  readonly #percent: number;
  readonly #budget: MemoryBudget;
  #values = new Float64Array(16);
  #count = 0;
  constructor(read: Read, percent: number, budget: MemoryBudget) {
    this.#read = read;
    this.#percent = percent;
    this.#budget = budget;
    budget.charge(emptyBytes, () => 'numbers for `pct` of each group', groupRemedy);
  }
  add(row: Row): void {
    const number = toNumber(this.#read(row));
    if (number === undefined) return;
    if (this.#count === this.#values.length) this.#grow();
    this.#values[this.#count++] = number;
  }
  #grow(): void {
    const bytes = this.#values.byteLength;
    this.#budget.charge(bytes, () => `\`pct\` keeps ${this.#count} numbers`, 'add a `filter`');
    const larger = new Float64Array(this.#values.length * 2);
    larger.set(this.#values);
    this.#values = larger;
  }
  /** The smallest value that at least that share of all values does not exceed. */
  value(): Value {
    if (this.#count === 0) return undefined;
    const sorted = this.#values.subarray(0, this.#count).sort();
    const rank = Math.ceil((this.#percent / 100) * this.#count);
    return sorted[Math.max(0, Math.min(this.#count - 1, rank - 1))];
  }
}

/** Keeps the best value according to `isBetter`. */
class Best implements Accumulator {
  readonly #read: Read;
  readonly #isBetter: (next: Value, kept: Value) => boolean;
  #kept: Value;
  constructor(read: Read, isBetter: (next: Value, kept: Value) => boolean) {
    this.#read = read;
    this.#isBetter = isBetter;
  }
  add(row: Row): void {
    const value = this.#read(row);
    if (value === undefined) return;
    if (this.#kept === undefined || this.#isBetter(value, this.#kept)) this.#kept = value;
  }
  value(): Value {
    return this.#kept;
  }
}

/** `earliest` and `latest`: the value in the event with the smallest or largest timestamp. */
class AtTime implements Accumulator {
  readonly #read: Read;
  readonly #latest: boolean;
  #kept: Value;
  #at: number | undefined;
  constructor(read: Read, latest: boolean) {
    this.#read = read;
    this.#latest = latest;
  }
  add(row: Row): void {
    const at = row.event?.timeMs;
    const value = this.#read(row);
    if (at === undefined || value === undefined) return;
    if (this.#at === undefined || (this.#latest ? at > this.#at : at < this.#at)) {
      this.#at = at;
      this.#kept = value;
    }
  }
  value(): Value {
    return this.#kept;
  }
}

/** `min` and `max` return numbers, for times their milliseconds; for text the text. */
const extreme = (read: Read): Read => {
  return (row) => {
    const value = read(row);
    return toNumber(value) ?? toText(value);
  };
};

type Build = (read: Read, budget: MemoryBudget) => Accumulator;

const ofOneField: Readonly<Record<string, Build>> = {
  count_distinct: (read, budget) => new CountDistinct(read, budget),
  sum: (read) => new Moments(read, ({ sum }) => finite(sum)),
  avg: (read) => new Moments(read, ({ sum, count }) => finite(sum / count)),
  stddev: (read) => new Moments(read, ({ squares, count }) => Math.sqrt(squares / count)),
  median: (read, budget) => new Percentile(read, 50, budget),
  min: (read) => new Best(extreme(read), (next, kept) => sortOrder(next, kept) < 0),
  max: (read) => new Best(extreme(read), (next, kept) => sortOrder(next, kept) > 0),
  sortsfirst: (read) => new Best(read, (next, kept) => sortOrder(next, kept) < 0),
  sortslast: (read) => new Best(read, (next, kept) => sortOrder(next, kept) > 0),
  earliest: (read) => new AtTime(read, false),
  latest: (read) => new AtTime(read, true),
};

type Call = Expression & { readonly kind: 'call' };

/** Aliases: a bin is a value that rows are grouped by, so these are ordinary aggregates. */
const sameAs: Readonly<Partial<Record<string, string>>> = {
  count_over_time: 'count',
  countovertime: 'count',
  sum_over_time: 'sum',
  sumovertime: 'sum',
};

const compileAggregate = (call: Call, context: CompileContext): AccumulatorFactory => {
  const written = call.name.toLowerCase();
  const name = sameAs[written] ?? written;
  if (name === 'count' && (call.star || call.args.length === 0)) return () => new Count(undefined);
  const isPercentile = name === 'pct' || name === 'percentile';
  const wanted = isPercentile ? 2 : 1;
  checkCount(call, wanted, wanted);
  const [first, second] = call.args;
  if (first === undefined) throw new QueryError('an argument is missing', call.span);
  const read = compile(first, context);
  if (name === 'count') return () => new Count(read);
  if (isPercentile) {
    const percent = second?.kind === 'number' ? second.value : Number.NaN;
    if (!(percent >= 0 && percent <= 100)) {
      throw new QueryError('the percentile is a number from 0 to 100', second?.span ?? call.span);
    }
    return (budget) => new Percentile(read, percent, budget);
  }
  const build = ofOneField[name];
  if (build === undefined) throw new QueryError(`\`${call.name}\` is not a function`, call.span);
  return (budget) => build(read, budget);
};

export interface StatsColumn {
  /** State of a group, in the order of `finish`'s argument. */
  readonly factories: readonly AccumulatorFactory[];
  readonly finish: (values: readonly Value[]) => Value;
}

/** A column may combine several aggregates: `sum(a) / count(*)`. */
export const compileStatsColumn = (
  expression: Expression,
  context: CompileContext,
): StatsColumn => {
  if (expression.kind === 'call' && isAggregate(expression.name)) {
    const factory = compileAggregate(expression, context);
    return { factories: [factory], finish: ([value]) => value };
  }
  if (expression.kind === 'number') {
    const { value } = expression;
    return { factories: [], finish: () => value };
  }
  if (expression.kind === 'call' && !isFunction(expression.name)) throw unknownFunction(expression);
  if (expression.kind === 'binary' || expression.kind === 'call') {
    return compileCombined(expression, context);
  }
  throw new QueryError(
    'a column of `stats` is a function of many events, such as `count(*)`',
    expression.span,
    'a field to group by stands after `by`',
  );
};

/** Computes the parts first, then the expression over their results, as fields of a row. */
const compileCombined = (
  expression: Expression & { readonly kind: 'binary' | 'call' },
  context: CompileContext,
): StatsColumn => {
  const parts =
    expression.kind === 'binary' ? [expression.left, expression.right] : expression.args;
  const columns = parts.map((part) => compileStatsColumn(part, context));
  const over = context.names.closed(parts.map((_, index) => `part${index}`));
  const fields = parts.map(({ span }, index): Expression => {
    const name = `part${index}`;
    return { kind: 'field', name, path: [name], span };
  });
  const [left, right] = fields;
  const combined: Expression =
    expression.kind === 'binary' && left !== undefined && right !== undefined
      ? { ...expression, left, right }
      : { ...(expression as Call), args: fields };
  const read = compile(combined, { ...context, names: over.names });
  return {
    factories: columns.flatMap((column) => column.factories),
    finish: (values) => {
      let from = 0;
      const results = columns.map((column) => {
        const own = values.slice(from, from + column.factories.length);
        from += own.length;
        return column.finish(own);
      });
      return read(new Row(undefined, results, 0));
    },
  };
};
