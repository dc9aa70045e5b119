// The values of a subquery's result. Membership with the same equality as `in [...]`, in one
// lookup.
import type { MemoryBudget } from '../stages/budget.ts';
import { toNumber, toText, type Value } from './values.ts';

const valueBytes = 160;

export class ValueSet {
  readonly #budget: MemoryBudget;
  readonly #texts = new Set<string>();
  /** Values other than text: these also equal numeric text. */
  readonly #numbers = new Set<number>();
  /** Numeric text: equals a number, but no other text. */
  readonly #digits = new Set<number>();

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /** Throws QueryLimitError. */
  add(value: Value): void {
    const text = toText(value);
    if (text === undefined) return;
    const number = toNumber(value);
    if (number !== undefined)
      (typeof value === 'string' ? this.#digits : this.#numbers).add(number);
    if (this.#texts.has(text)) return;
    this.#texts.add(text);
    this.#budget.charge(
      valueBytes + text.length,
      () => `the subquery has answered ${this.#texts.size} different values`,
      'add a `filter` to it',
    );
  }

  has(value: Value): boolean {
    const text = toText(value);
    if (text === undefined) return false;
    if (this.#texts.has(text)) return true;
    const number = toNumber(value);
    if (number === undefined) return false;
    return this.#numbers.has(number) || (typeof value !== 'string' && this.#digits.has(number));
  }
}
