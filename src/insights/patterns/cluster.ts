// Clusters masked texts into patterns. Texts of the same build (the same separators) that share at
// least half of their words belong together; a word with many values becomes a token. The result
// does not depend on the order of the texts.
import type { MemoryBudget } from '../stages/budget.ts';
import { Leaders, remedy, Steps } from './leaders.ts';
import { kinds } from './mask.ts';
import { isMark, separatorsOf, type Vocabulary, type Wording } from './vocabulary.ts';

/** Texts that are equal after masking. */
export interface Shape extends Wording {
  readonly text: string;
  /** The first value of each mark, and whether another value occurred. */
  readonly values: readonly string[];
  readonly varies: readonly boolean[];
  /** Number of events in each of the compared time ranges. */
  readonly counts: readonly number[];
}

export interface Pattern {
  readonly text: string;
  readonly counts: readonly number[];
}

/** A place with more values than this is a token: verbs and resources stay, names do not. */
const maxValues = 10;
/** Or one with this many values that occurred fewer than `fewTimes` times each on average. */
const fewValues = 3;
const fewTimes = 3;

/** Memory of a pattern, besides its text. */
const patternBytes = 200;

const total = (counts: readonly number[]): number => counts.reduce((sum, one) => sum + one, 0);
const sums = (a: readonly number[], b: readonly number[]): readonly number[] =>
  a.map((one, index) => one + (b[index] ?? 0));

interface Means {
  readonly vocabulary: Vocabulary;
  readonly budget: MemoryBudget;
}

/** Each list of shapes is one cluster, the most frequent shape first. */
const clustersOf = (
  shapes: readonly Shape[],
  { vocabulary, budget }: Means,
): readonly (readonly Shape[])[] => {
  const steps = new Steps();
  const builds = Map.groupBy(shapes, ({ separators }) => separators);
  return [...builds.values()].flatMap((build) => {
    if (build.length === 1) return [build];
    const leaders = new Leaders({ vocabularySize: vocabulary.size, steps, budget });
    const clusters: Shape[][] = [];
    for (const shape of build) {
      const home = leaders.find(shape.words);
      if (home !== undefined) clusters[home]?.push(shape);
      else {
        leaders.add(shape.words);
        clusters.push([shape]);
      }
    }
    leaders.end();
    return clusters;
  });
};

/** Places of a cluster where a word has so many values that it identifies events. */
const tokensOf = (cluster: readonly Shape[]): readonly boolean[] => {
  const count = cluster.reduce((sum, { counts }) => sum + total(counts), 0);
  const values = new Set<number>();
  return Array.from(cluster[0]?.words ?? [], (_, at) => {
    values.clear();
    for (const { words } of cluster) {
      values.add(words[at] ?? 0);
      if (values.size > maxValues) return true;
    }
    return values.size >= fewValues && count < values.size * fewTimes;
  });
};

/** Shapes that differ only in their tokens, merged into the first of them. */
class Alike {
  readonly #first: Shape;
  readonly #vocabulary: Vocabulary;
  readonly #varies: Uint8Array;
  counts: readonly number[];

  constructor(first: Shape, vocabulary: Vocabulary) {
    this.#first = first;
    this.#vocabulary = vocabulary;
    this.#varies = new Uint8Array(first.words.length);
    this.counts = first.counts;
    let marks = 0;
    for (const [at, word] of first.words.entries()) {
      if (isMark(word) && first.varies[marks++] !== false) this.#varies[at] = 1;
    }
  }

  add(shape: Shape): void {
    this.counts = sums(this.counts, shape.counts);
    const [mine, others] = [this.#first, shape];
    let [myMarks, otherMarks] = [0, 0];
    for (const [at, word] of mine.words.entries()) {
      const other = others.words[at] ?? 0;
      const myMark = isMark(word) ? myMarks++ : undefined;
      const otherMark = isMark(other) ? otherMarks++ : undefined;
      if (myMark === undefined && word === other) continue;
      const isSame =
        this.#valueOf(mine, word, myMark) === this.#valueOf(others, other, otherMark) &&
        (otherMark === undefined || others.varies[otherMark] === false);
      if (!isSame) this.#varies[at] = 1;
    }
  }

  /** Tokens are numbered in order; a mark whose value never changed is printed as that value. */
  text(): string {
    const { words } = this.#first;
    let [tokens, marks] = [0, 0];
    return separatorsOf(this.#first)
      .map((separator, at) => {
        const word = words[at];
        if (word === undefined) return separator;
        const mark = isMark(word) ? marks++ : undefined;
        if (this.#varies[at] === 0) return separator + this.#valueOf(this.#first, word, mark);
        tokens++;
        return `${separator}<${kinds[word] ?? 'Token'}-${tokens}>`;
      })
      .join('');
  }

  #valueOf({ values }: Shape, word: number, mark: number | undefined): string {
    return mark === undefined ? this.#vocabulary.textOf(word) : (values[mark] ?? '');
  }
}

const alikeOf = (cluster: readonly Shape[], vocabulary: Vocabulary): Iterable<Alike> => {
  const tokens = tokensOf(cluster);
  const alike = new Map<string, Alike>();
  for (const shape of cluster) {
    const key = shape.words.map((word, at) => (tokens[at] === true ? -1 : word)).join();
    const known = alike.get(key);
    if (known === undefined) alike.set(key, new Alike(shape, vocabulary));
    else known.add(shape);
  }
  return alike.values();
};

/** Throws QueryLimitError. */
export const patternsOf = (shapes: readonly Shape[], means: Means): readonly Pattern[] => {
  const sorted = shapes.toSorted(
    (a, b) => total(b.counts) - total(a.counts) || (a.text < b.text ? -1 : 1),
  );
  const patterns = new Map<string, Pattern>();
  for (const cluster of clustersOf(sorted, means)) {
    for (const one of alikeOf(cluster, means.vocabulary)) {
      const text = one.text();
      const known = patterns.get(text);
      if (known === undefined) {
        const bytes = patternBytes + text.length * 2;
        means.budget.charge(bytes, () => '`pattern` has found many long patterns', remedy);
      }
      const counts = known === undefined ? one.counts : sums(known.counts, one.counts);
      patterns.set(text, { text, counts });
    }
  }
  return [...patterns.values()];
};
