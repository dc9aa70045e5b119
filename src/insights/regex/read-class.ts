// Parses `[...]` and the escapes for one unit or a set of units.
import {
  digits,
  inverted,
  normalized,
  posixClass,
  type Ranges,
  RegexError,
  spaces,
  wordUnits,
} from './syntax.ts';

export interface ClassReader {
  readonly source: string;
  readonly at: () => number;
  readonly moveTo: (at: number) => void;
}

const controls: Readonly<Record<string, number>> = {
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  a: 7,
  e: 27,
  '0': 0,
};
const sets: Readonly<Record<string, Ranges>> = {
  d: digits,
  D: inverted(digits),
  w: wordUnits,
  W: inverted(wordUnits),
  s: spaces,
  S: inverted(spaces),
};

const one = (unit: number): Ranges => [[unit, unit]];

/** The set of the escape at this position; advances past it. */
export const readEscape = (reader: ClassReader): Ranges => {
  const { source } = reader;
  const at = reader.at();
  const letter = source[at + 1];
  if (letter === undefined) throw new RegexError('a backslash with nothing after it', at);
  const hex = /^\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|x\{([0-9A-Fa-f]{1,4})\})/.exec(
    source.slice(at, at + 10),
  );
  if (hex !== null) {
    reader.moveTo(at + hex[0].length);
    return one(Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? '', 16));
  }
  if (letter === 'p' || letter === 'P') {
    throw new RegexError('Unicode classes (`\\p`) are not supported', at, 2);
  }
  reader.moveTo(at + 2);
  if (Object.hasOwn(sets, letter)) return sets[letter] ?? [];
  if (Object.hasOwn(controls, letter)) return one(controls[letter] ?? 0);
  if (/[A-Za-z0-9]/.test(letter)) {
    throw new RegexError(`\`\\${letter}\` stands for nothing`, at, 2);
  }
  return one(letter.charCodeAt(0));
};

/** The set of the class at this position; advances past its `]`. */
export const readClass = (reader: ClassReader): Ranges => {
  const { source } = reader;
  const start = reader.at();
  const negated = source[start + 1] === '^';
  let at = start + (negated ? 2 : 1);
  const found: (readonly [number, number])[] = [];
  const item = (): Ranges => {
    const posix = /^\[:(\^?)([a-z]+):\]/.exec(source.slice(at, at + 20));
    const named = posix === null ? undefined : posixClass(posix[2] ?? '');
    if (posix !== null && named !== undefined) {
      at += posix[0].length;
      return posix[1] === '^' ? inverted(named) : named;
    }
    if (source[at] === '\\') {
      if (source[at + 1] === 'b') {
        at += 2;
        return one(8);
      }
      reader.moveTo(at);
      const ranges = readEscape(reader);
      at = reader.at();
      return ranges;
    }
    return one(source.charCodeAt(at++));
  };
  while (source[at] !== ']') {
    if (at >= source.length) throw new RegexError('this `[` is never closed', start);
    const itemAt = at;
    const low = item();
    const from = low[0]?.[0] ?? 0;
    const single = low.length === 1 && low[0]?.[1] === from;
    if (!single || source[at] !== '-' || source[at + 1] === ']' || at + 1 >= source.length) {
      found.push(...low);
      continue;
    }
    at++;
    const high = item();
    const to = high[0]?.[0] ?? 0;
    if (high.length !== 1 || high[0]?.[1] !== to || to < from) {
      throw new RegexError('this range is the wrong way round', itemAt, at - itemAt);
    }
    found.push([from, to]);
  }
  reader.moveTo(at + 1);
  return negated ? inverted(found) : normalized(found);
};
