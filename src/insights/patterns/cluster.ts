// Masked texts to patterns. Texts of the same build (the same separators) with at least half of their words in common
// belong together; in them a word becomes a token where it takes many values. The same texts give the same patterns,
// in whatever order they came.
import { type Kind, kindOfMark } from './mask.ts';

/** Texts that have become the same by masking. */
export interface Shape {
  readonly text: string;
  /** Of each mark the first value, and whether another was met. */
  readonly values: readonly string[];
  readonly varies: readonly boolean[];
  /** Events in each of the time ranges compared. */
  readonly counts: readonly number[];
}

export interface Pattern {
  readonly text: string;
  readonly counts: readonly number[];
}

/** Words that two texts of a pattern have in common, at least. */
const similar = 0.5;
/** A place with more values than this is a token: verbs and resources stay, names go. */
const maxValues = 10;
/** Or one with this many values of which each was met less often than so many times. */
const fewValues = 3;
const fewTimes = 3;

interface Word {
  readonly text: string;
  readonly kind: Kind | undefined;
  readonly value: string;
  readonly varies: boolean;
}

interface Template {
  readonly words: readonly Word[];
  readonly separators: readonly string[];
  readonly counts: readonly number[];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the marks are control characters.
const wordsAndMarks = /([\u0001-\u0006]|[\w.\-\u0080-\uffff]+)/;

const templateOf = ({ text, values, varies, counts }: Shape): Template => {
  // Separators stand at even places, words at odd ones.
  const parts = text.split(wordsAndMarks);
  let marks = 0;
  const words = parts
    .filter((_, index) => index % 2 === 1)
    .map((word): Word => {
      const kind = kindOfMark(word);
      if (kind === undefined) return { text: word, kind, value: word, varies: false };
      const at = marks++;
      return { text: word, kind, value: values[at] ?? '', varies: varies[at] ?? true };
    });
  return { words, separators: parts.filter((_, index) => index % 2 === 0), counts };
};

const total = (counts: readonly number[]): number => counts.reduce((sum, one) => sum + one, 0);
const sums = (a: readonly number[], b: readonly number[]): readonly number[] =>
  a.map((one, index) => one + (b[index] ?? 0));

const likeness = (a: Template, b: Template): number => {
  if (a.words.length === 0) return 1;
  const same = a.words.filter((word, index) => word.text === b.words[index]?.text).length;
  return same / a.words.length;
};

/** Each list of templates is one cluster; its first is the one met most. */
const clustersOf = (templates: readonly Template[]): readonly (readonly Template[])[] => {
  const bySeparators = new Map<string, Template[][]>();
  for (const template of templates) {
    const key = template.separators.join('\0');
    const clusters = bySeparators.get(key) ?? [];
    bySeparators.set(key, clusters);
    const home = clusters.find(
      ([first]) => first !== undefined && likeness(first, template) >= similar,
    );
    if (home === undefined) clusters.push([template]);
    else home.push(template);
  }
  return [...bySeparators.values()].flat();
};

/** Places of a cluster where a word takes so many values that it tells one event from another. */
const tokensOf = (cluster: readonly Template[]): readonly boolean[] => {
  const count = cluster.reduce((sum, { counts }) => sum + total(counts), 0);
  const places = cluster[0]?.words ?? [];
  return places.map((_, index) => {
    const values = new Set(cluster.map(({ words }) => words[index]?.text));
    return values.size > maxValues || (values.size >= fewValues && count < values.size * fewTimes);
  });
};

const merged = (a: Template, b: Template): Template => ({
  ...a,
  counts: sums(a.counts, b.counts),
  words: a.words.map((word, index) => {
    const other = b.words[index];
    const isSame = other !== undefined && word.value === other.value && !other.varies;
    return isSame ? word : { ...word, varies: true };
  }),
});

/** Tokens are numbered in their order; a mark whose value never changed is that value. */
const rendered = ({ words, separators }: Template): string => {
  let tokens = 0;
  return separators
    .map((separator, index) => {
      const word = words[index];
      if (word === undefined) return separator;
      if (!word.varies) return separator + word.value;
      tokens++;
      return `${separator}<${word.kind ?? 'Token'}-${tokens}>`;
    })
    .join('');
};

export const patternsOf = (shapes: readonly Shape[]): readonly Pattern[] => {
  const templates = shapes
    .toSorted((a, b) => total(b.counts) - total(a.counts) || (a.text < b.text ? -1 : 1))
    .map(templateOf);
  const patterns = new Map<string, Pattern>();
  for (const cluster of clustersOf(templates)) {
    const tokens = tokensOf(cluster);
    const alike = new Map<string, Template>();
    for (const template of cluster) {
      const key = template.words
        .map(({ text }, at) => (tokens[at] === true ? '' : text))
        .join('\0');
      const known = alike.get(key);
      alike.set(key, known === undefined ? template : merged(known, template));
    }
    for (const template of alike.values()) {
      const text = rendered(template);
      const known = patterns.get(text);
      const counts = known === undefined ? template.counts : sums(known.counts, template.counts);
      patterns.set(text, { text, counts });
    }
  }
  return [...patterns.values()];
};
