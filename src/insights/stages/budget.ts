// A query's memory limit. Charged by estimate; refuses before the process runs out of memory.
import { QueryLimitError } from '../language/query-error.ts';

export class MemoryBudget {
  readonly #limit: number;
  #used = 0;

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  /** Throws QueryLimitError. `what` and `remedy` name what grows and how to request less. */
  charge(bytes: number, what: () => string, remedy: string): void {
    this.#used += bytes;
    if (this.#used <= this.#limit) return;
    const megabytes = Math.round(this.#limit / 1024 / 1024);
    throw new QueryLimitError(
      `the query needs more than the ${megabytes} MB that it may keep: ${what()}; ${remedy}`,
    );
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}
