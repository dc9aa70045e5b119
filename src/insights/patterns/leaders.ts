// Finds the first text of the same build that has half of its words in common with another, without
// looking at all of them: only at those that share a rare word with it. What it may look at is
// bounded.
import { QueryLimitError } from '../language/query-error.ts';
import type { MemoryBudget } from '../stages/budget.ts';

/** Looks at a word, in one query. Measured at about 10 ns each: the worst case is a few seconds. */
const maxSteps = 300_000_000;
/** A leader's entry for one of its words: a number in a list in a map. */
const entryBytes = 120;

export const remedy = 'add a `filter`, or take the pattern of a shorter field, such as requestURI';

export class Steps {
  readonly #most: number;
  #left: number;

  constructor(most = maxSteps) {
    this.#most = most;
    this.#left = most;
  }

  /** Throws QueryLimitError. */
  take(count: number): void {
    this.#left -= count;
    if (this.#left >= 0) return;
    throw new QueryLimitError(
      `\`pattern\` would compare words more than ${this.#most} times: too many texts of the ` +
        `same build have too little in common; ${remedy}`,
    );
  }
}

export class Leaders {
  readonly #vocabularySize: number;
  readonly #steps: Steps;
  readonly #budget: MemoryBudget;
  readonly #all: Int32Array[] = [];
  /** Leaders by a word and its place. */
  readonly #byWord = new Map<number, number[]>();
  #charged = 0;

  constructor(options: {
    readonly vocabularySize: number;
    readonly steps: Steps;
    readonly budget: MemoryBudget;
  }) {
    this.#vocabularySize = options.vocabularySize;
    this.#steps = options.steps;
    this.#budget = options.budget;
  }

  /** Number of the first leader that is like this; all texts have as many words. */
  find(words: Int32Array): number | undefined {
    // Most texts are like the one met most.
    if (this.#isLike(0, words)) return 0;
    let best = this.#all.length;
    const looked = new Set([0]);
    for (const leaders of this.#rarest(words)) {
      this.#steps.take(leaders.length);
      for (const leader of leaders) {
        if (leader >= best) break;
        if (looked.has(leader)) continue;
        looked.add(leader);
        if (this.#isLike(leader, words)) best = leader;
      }
    }
    return best === this.#all.length ? undefined : best;
  }

  add(words: Int32Array): void {
    const leader = this.#all.push(words) - 1;
    const bytes = words.length * entryBytes;
    this.#charged += bytes;
    this.#budget.charge(bytes, () => '`pattern` has met many texts with little in common', remedy);
    for (const [at, word] of words.entries()) {
      const known = this.#byWord.get(this.#key(at, word));
      if (known === undefined) this.#byWord.set(this.#key(at, word), [leader]);
      else known.push(leader);
    }
  }

  /** No more texts of this build. */
  end(): void {
    this.#budget.release(this.#charged);
  }

  #key(at: number, word: number): number {
    return at * this.#vocabularySize + word;
  }

  /**
   * Whoever has half of the words has at least one of any half and one more: the places are taken
   * of which the fewest leaders have the word.
   */
  #rarest(words: Int32Array): readonly (readonly number[])[] {
    this.#steps.take(words.length);
    const common: number[][] = [];
    for (const [at, word] of words.entries()) {
      const leaders = this.#byWord.get(this.#key(at, word));
      if (leaders !== undefined) common.push(leaders);
    }
    const without = words.length - common.length;
    const looked = words.length - Math.ceil(words.length / 2) + 1 - without;
    return looked <= 0 ? [] : common.sort((a, b) => a.length - b.length).slice(0, looked);
  }

  #isLike(leader: number, words: Int32Array): boolean {
    const others = this.#all[leader];
    if (others === undefined) return false;
    let missing = Math.floor(words.length / 2);
    let at = 0;
    for (; at < words.length && missing >= 0; at++) {
      if (words[at] !== others[at]) missing--;
    }
    this.#steps.take(at);
    return missing >= 0;
  }
}
