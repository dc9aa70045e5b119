// Maps words of masked texts to numbers: texts are kept by the ten thousand and share most words.
// Reports its size in bytes; refuses nothing.
import { kinds, markOf } from './mask.ts';

/** A masked and split text. */
export interface Wording {
  readonly words: Int32Array;
  /** Text before, between and after the words. Equal separators imply equal numbers of words. */
  readonly separators: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the marks are control characters.
const wordsAndMarks = /([\u0001-\u0006]|[\w.\-\u0080-\uffff]+)/;
/** Does not occur in masked text. */
const betweenSeparators = '\0';

/** Memory of a new word or list of separators: its entries in a map and a list, and the string. */
const entryBytes = 120;

export class Vocabulary {
  readonly #ids = new Map<string, number>();
  readonly #texts: string[] = [];
  readonly #separators = new Map<string, string>();
  #bytes = 0;

  constructor() {
    for (const kind of kinds) this.#idOf(markOf(kind));
  }

  /** Estimated memory in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Ids are smaller than this. */
  get size(): number {
    return this.#texts.length;
  }

  read(text: string): Wording {
    // Separators are at even indexes, words at odd ones.
    const parts = text.split(wordsAndMarks);
    const words = new Int32Array(parts.length >> 1);
    for (let at = 0; at < words.length; at++) words[at] = this.#idOf(parts[2 * at + 1] ?? '');
    const joined = parts.filter((_, index) => index % 2 === 0).join(betweenSeparators);
    const known = this.#separators.get(joined);
    if (known === undefined) {
      this.#separators.set(joined, joined);
      this.#bytes += entryBytes + joined.length * 2;
    }
    return { words, separators: known ?? joined };
  }

  textOf(id: number): string {
    return this.#texts[id] ?? '';
  }

  #idOf(word: string): number {
    const known = this.#ids.get(word);
    if (known !== undefined) return known;
    const id = this.#texts.push(word) - 1;
    this.#ids.set(word, id);
    this.#bytes += entryBytes + word.length * 2;
    return id;
  }
}

/** The marks are the first words of every vocabulary. */
export const isMark = (id: number): boolean => id < kinds.length;

export const separatorsOf = ({ separators }: Wording): readonly string[] =>
  separators.split(betweenSeparators);
