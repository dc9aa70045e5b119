// Splits a text into the words of a command line: as systemd splits `$VARIABLE` of a unit, and as
// Windows splits a service's arguments. Keeps each character's place in the source text.
import type { Placed } from './arguments.ts';

/** Characters with their offsets in the source text. */
class Characters {
  #text = '';
  readonly #offsets: number[] = [];
  readonly #from: Placed;
  constructor(from: Placed) {
    this.#from = from;
  }

  push(char: string, offset: number): void {
    this.#text += char;
    this.#offsets.push(offset);
  }

  /** `start`: the place of an empty word. */
  placed(start: number): Placed {
    const [text, offsets, from] = [this.#text, this.#offsets, this.#from];
    const last = offsets.at(-1) ?? start - 1;
    const at = (offset: number) => from.at(offsets[offset] ?? last + 1);
    return { text, at, isOpaque: from.isOpaque };
  }
}

/** Joins texts with a blank between two: bootstraps keep arguments in one variable. */
export const joinedWords = (all: readonly Placed[]): Placed => {
  const starts: number[] = [];
  let length = 0;
  for (const { text } of all) {
    starts.push(length);
    length += text.length + 1;
  }
  return {
    text: all.map(({ text }) => text).join(' '),
    isOpaque: all.some(({ isOpaque }) => isOpaque),
    at: (offset) => {
      let [low, high] = [0, starts.length - 1];
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if ((starts[middle] ?? 0) <= offset) low = middle;
        else high = middle - 1;
      }
      return all[low]?.at(offset - (starts[low] ?? 0)) ?? { line: 1, column: 1 };
    },
  };
};

interface Syntax {
  readonly quotes: string;
  /** Whether a backslash before this character is removed and the character kept. */
  readonly escapes: (next: string) => boolean;
}

const split = (word: Placed, { quotes, escapes }: Syntax): readonly Placed[] => {
  const { text } = word;
  const words: Placed[] = [];
  let open: { readonly characters: Characters; readonly start: number } | undefined;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? '';
    if (quote === '' && /[ \t\r\n]/.test(char)) {
      if (open !== undefined) words.push(open.characters.placed(open.start));
      open = undefined;
      continue;
    }
    open ??= { characters: new Characters(word), start: i };
    if (char === '\\' && escapes(text[i + 1] ?? '')) {
      i++;
      if (i < text.length) open.characters.push(text[i] ?? '', i);
    } else if (quote === '' ? quotes.includes(char) : char === quote) {
      quote = quote === '' ? char : '';
    } else open.characters.push(char, i);
  }
  if (open !== undefined) words.push(open.characters.placed(open.start));
  return words;
};

/**
 * The words of `$VARIABLE` in a unit: "quotes are respected when splitting into words, and
 * afterwards removed" (systemd.service(5)). A backslash keeps the next character; a quote may
 * remain open at the end.
 */
export const systemdWords = (value: Placed): readonly Placed[] =>
  split(value, { quotes: '"\'', escapes: () => true });

/** A process's arguments on Windows: double quotes group and are removed, `\"` is a quote. */
export const windowsWords = (value: Placed): readonly Placed[] =>
  split(value, { quotes: '"', escapes: (next) => next === '"' });

/**
 * The value of `KEY=text` in a file of `EnvironmentFile=` (systemd.exec(5)), where `text` starts
 * with neither quote nor blank. It ends with its line; a backslash keeps the next character.
 */
export const environmentFileValue = (word: Placed): Placed => {
  const characters = new Characters(word);
  const { text } = word;
  for (let i = 0; i < text.length && text[i] !== '\n'; i++) {
    if (text[i] === '\\') i++;
    if (i < text.length && text[i] !== '\n') characters.push(text[i] ?? '', i);
  }
  return characters.placed(0);
};

/**
 * The value of `Environment='KEY=text'` in a unit: quotes within `text` close and reopen that
 * quote.
 */
export const environmentValue = (word: Placed): Placed => {
  const quoted = { ...word, text: `'${word.text}'`, at: (offset: number) => word.at(offset - 1) };
  return systemdWords(quoted)[0] ?? word;
};
