// Index of rows by one field, for `join`: the same equality as `=`, in one lookup. Keeps no event.
import { QueryLimitError } from '../language/query-error.ts';
import type { MemoryBudget } from '../stages/budget.ts';
import { toNumber, toText, type Value, valueBytes } from './values.ts';

/** CloudWatch's own limit for the right side of a `join`. */
export const maxJoinKeys = 50_000;

/** Measured, plus a third for uncollected garbage. */
const rowBytes = 120;
const keyBytes = 300;
/** In addition to the value itself. */
const placeBytes = 16;

interface Entry {
  /** Order of arrival. */
  readonly order: number;
  readonly values: readonly Value[];
}

class Buckets<K> {
  readonly #entries = new Map<K, Entry[]>();
  get size(): number {
    return this.#entries.size;
  }
  add(key: K, entry: Entry): void {
    const known = this.#entries.get(key);
    if (known === undefined) this.#entries.set(key, [entry]);
    else known.push(entry);
  }
  get(key: K): readonly Entry[] {
    return this.#entries.get(key) ?? [];
  }
}

export class RowIndex {
  readonly #budget: MemoryBudget;
  readonly #field: string;
  readonly #texts = new Buckets<string>();
  /** Keys that are numeric text: these equal a number, but no other text. */
  readonly #digits = new Buckets<number>();
  /** Non-text keys, by their text form and by their number if they have one. */
  readonly #others = new Buckets<string>();
  readonly #numbers = new Buckets<number>();
  #count = 0;

  constructor(budget: MemoryBudget, field: string) {
    this.#budget = budget;
    this.#field = field;
  }

  /** Throws QueryLimitError. A row without a value equals nothing. */
  add(key: Value, values: readonly Value[]): void {
    const text = toText(key);
    if (text === undefined) return;
    const entry = { order: this.#count++, values: values.map(alone) };
    const number = toNumber(key);
    const before = this.#keys;
    if (typeof key === 'string') {
      this.#texts.add(alone(key) as string, entry);
      if (number !== undefined) this.#digits.add(number, entry);
    } else {
      this.#others.add(text, entry);
      if (number !== undefined) this.#numbers.add(number, entry);
    }
    if (this.#keys > maxJoinKeys) {
      throw new QueryLimitError(
        `\`join\`: ${this.#field} has more than ${maxJoinKeys} different values in the brackets; ` +
          'add a `filter` there, or join the other way round',
      );
    }
    this.#budget.charge(
      rowBytes +
        entry.values.reduce<number>((sum, one) => sum + placeBytes + valueBytes(one), 0) +
        (this.#keys > before ? keyBytes + text.length : 0),
      () => `\`join\` keeps ${this.#count} rows of those in brackets`,
      'add a `filter` to them, or ask for fewer of their fields',
    );
  }

  get #keys(): number {
    return this.#texts.size + this.#others.size;
  }

  /** In order of insertion. */
  find(key: Value): readonly Entry[] {
    const text = toText(key);
    if (text === undefined) return [];
    const number = toNumber(key);
    const [first, second] =
      typeof key === 'string'
        ? [
            this.#texts.get(text),
            number === undefined ? this.#others.get(text) : this.#numbers.get(number),
          ]
        : number === undefined
          ? [this.#texts.get(text), this.#others.get(text)]
          : [this.#digits.get(number), this.#numbers.get(number)];
    if (typeof key !== 'string' && number !== undefined) {
      // true and "true", a time and its text form.
      const shown = toNumber(text) === undefined ? this.#texts.get(text) : [];
      if (shown.length > 0) return inOrder([...first, ...second, ...shown]);
    }
    if (second.length === 0) return first;
    return first.length === 0 ? second : inOrder([...first, ...second]);
  }
}

const inOrder = (entries: Entry[]): readonly Entry[] => entries.sort((a, b) => a.order - b.order);

/** From this length on, the platform keeps the complete text of a substring in memory. */
const shortestPart = 13;

/** A copy, so that a substring does not keep its message in memory. */
export const alone = (value: Value): Value =>
  typeof value === 'string' && value.length >= shortestPart
    ? (JSON.parse(JSON.stringify(value)) as string)
    : value;
