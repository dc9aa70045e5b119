// Masks words that vary between events: replaces each word with a digit by a mark of its kind.
// Texts that differ only in such words become equal, in one pass and without comparing texts.

/** Kinds that a word can be recognized as; `Token` is any other. */
export const kinds = ['Time', 'IPAddress', 'UUID', 'Number', 'ID', 'Token'] as const;
export type Kind = (typeof kinds)[number];

/**
 * Marks are control characters; those in the text itself are replaced by their Unicode pictures.
 * U+0000 is reserved for readers of the marks.
 */
const firstMark = 1;
export const markOf = (kind: Kind): string => String.fromCharCode(firstMark + kinds.indexOf(kind));

// biome-ignore lint/suspicious/noControlCharactersInRegex: the marks are control characters.
const likeMarks = /[\u0000-\u0006]/g;
const firstPicture = 0x2400;
const pictureOf = (control: string): string =>
  String.fromCharCode(firstPicture + control.charCodeAt(0));

export interface Masked {
  readonly text: string;
  /** The replaced text of each mark. */
  readonly values: readonly string[];
}

/** Longer texts are compared by their start: a request with its objects may be megabytes. */
export const maxMaskedLength = 16 * 1024;

/** A time, or a word with a digit: tried only at word starts, therefore linear in the text. */
const changing =
  /(?<![\w.-])(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\d\d:\d\d:\d\d(?:[.,]\d+)?|[A-Za-z_.-]*\d[\w.-]*)/g;
const shapes: readonly (readonly [Kind, RegExp])[] = [
  ['Number', /^-?\d+(?:\.\d+)?$/],
  ['Time', /^(?:\d{4}-\d\d-\d\d(?:$|[T ])|\d\d:\d\d:\d\d)/],
  ['IPAddress', /^\d{1,3}(?:\.\d{1,3}){3}$/],
  ['UUID', /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i],
  ['ID', /^(?:[a-z]{1,4}-)?[0-9a-f]{8,}$/i],
];

const kindOf = (word: string): Kind => shapes.find(([, shape]) => shape.test(word))?.[0] ?? 'Token';

export const mask = (text: string): Masked => {
  const values: string[] = [];
  const begin = text.slice(0, maxMaskedLength).replace(likeMarks, pictureOf);
  const masked = begin.replace(changing, (word) => {
    values.push(word);
    return markOf(kindOf(word));
  });
  return { text: masked, values };
};
