// Finds the first text of the same build that shares half of its words with another. Compares only
// texts that share a rare word, within a limit on the work.
import { QueryLimitError } from '../language/query-error.ts';
import type { MemoryBudget } from '../stages/budget.ts';

/** Maximum number of word comparisons per query, measured at about 10 ns each: a few seconds. */
const maxSteps = 300_000_000;
/** Memory of a leader's entry for one word: a number in a list in a map. */
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
  /** Leaders by word and place. */
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

  /** Number of the first similar leader; all texts have the same number of words. */
  find(words: Int32Array): number | undefined {
    // Most texts resemble the most frequent one.
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

  /** Call after the last text of this build. */
  end(): void {
    this.#budget.release(this.#charged);
  }

  #key(at: number, word: number): number {
    return at * this.#vocabularySize + word;
  }

  /**
   * A leader that shares half of the words shares at least one of any (half + 1) places. The places
   * whose words have the fewest leaders are searched.
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
