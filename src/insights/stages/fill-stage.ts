// `fillmissing`: inserts rows for the empty bins between the first and the last, in the order of
// the bins; adds none before the first or after the last.
import { Row } from '../evaluate/row.ts';
import { nextAfter, type Period } from '../evaluate/time.ts';
import { Instant, type Value } from '../evaluate/values.ts';
import type { MemoryBudget } from './budget.ts';
import type { Stage } from './stage.ts';

const rowBytes = 200;

export class FillStage implements Stage {
  readonly #period: Period;
  readonly #slots: readonly Value[];
  readonly #binSlot: number;
  readonly #budget: MemoryBudget;
  readonly #next: Stage;
  #previous: number | undefined;
  #order = 0;
  #filled = 0;

  constructor(
    options: {
      readonly period: Period;
      readonly slots: readonly Value[];
      readonly binSlot: number;
      readonly budget: MemoryBudget;
    },
    next: Stage,
  ) {
    this.#period = options.period;
    this.#slots = options.slots;
    this.#binSlot = options.binSlot;
    this.#budget = options.budget;
    this.#next = next;
  }

  push(row: Row): void {
    const bin = row.slots[this.#binSlot];
    if (bin instanceof Instant) {
      if (this.#previous !== undefined) this.#fill(this.#previous, bin.ms);
      this.#previous = bin.ms;
    }
    row.order = this.#order++;
    this.#next.push(row);
  }

  /** Fills between two bins, which `stats` emits in order. */
  #fill(from: number, to: number): void {
    for (let at = nextAfter(from, this.#period); at < to; at = nextAfter(at, this.#period)) {
      this.#filled++;
      this.#budget.charge(
        rowBytes,
        () => `\`fillmissing\` has put in ${this.#filled} rows`,
        'ask for longer bins, or a shorter time range',
      );
      const slots = [...this.#slots];
      slots[this.#binSlot] = new Instant(at);
      this.#next.push(new Row(undefined, slots, this.#order++));
    }
  }

  finish(): void {
    this.#next.finish();
  }
}
