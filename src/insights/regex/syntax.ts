// The syntax tree of a regular expression over UTF-16 units. Constructs without linear-time
// matching (look-around, backreferences, possessive and atomic groups) have no node.

/** Sorted, disjoint, both ends inclusive. */
export type Ranges = readonly (readonly [from: number, to: number])[];

export type AssertionKind = 'start' | 'end' | 'lineStart' | 'lineEnd' | 'word' | 'notWord';

export type Node =
  | { readonly kind: 'set'; readonly ranges: Ranges }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'either'; readonly branches: readonly Node[] }
  | {
      readonly kind: 'repeat';
      readonly body: Node;
      readonly min: number;
      /** Infinity when unlimited. */
      readonly max: number;
      readonly lazy: boolean;
    }
  | { readonly kind: 'group'; readonly index: number; readonly body: Node }
  | { readonly kind: 'assertion'; readonly assertion: AssertionKind };

export interface RegexTree {
  readonly root: Node;
  readonly groupCount: number;
  /** Index of each named group. */
  readonly names: ReadonlyMap<string, number>;
}

/** `at`: offset in the expression. */
export class RegexError extends Error {
  override readonly name = 'RegexError';
  readonly at: number;
  readonly length: number;

  constructor(message: string, at: number, length = 1) {
    super(message);
    this.at = at;
    this.length = length;
  }
}

export const lastUnit = 0xffff;

export const normalized = (ranges: Ranges): Ranges => {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
};

export const inverted = (ranges: Ranges): Ranges => {
  const found: [number, number][] = [];
  let from = 0;
  for (const [start, end] of normalized(ranges)) {
    if (start > from) found.push([from, start - 1]);
    from = end + 1;
  }
  if (from <= lastUnit) found.push([from, lastUnit]);
  return found;
};

const shifted = (ranges: Ranges, from: number, to: number, by: number): Ranges =>
  ranges.flatMap(([start, end]): Ranges => {
    const low = Math.max(start, from);
    const high = Math.min(end, to);
    return low > high ? [] : [[low + by, high + by]];
  });

/** Adds the other case of every ASCII letter, and of a single letter elsewhere. */
export const caseless = (ranges: Ranges): Ranges => {
  const others = ranges.flatMap(([start, end]): Ranges => {
    if (start !== end || start < 128) return [];
    const text = String.fromCharCode(start);
    return [text.toLowerCase(), text.toUpperCase()]
      .filter((one) => one.length === 1 && one.charCodeAt(0) >= 128)
      .map((one) => [one.charCodeAt(0), one.charCodeAt(0)] as const);
  });
  const ascii = [...shifted(ranges, 65, 90, 32), ...shifted(ranges, 97, 122, -32)];
  return normalized([...ranges, ...ascii, ...others]);
};

export const digits: Ranges = [[48, 57]];
export const wordUnits: Ranges = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
export const spaces: Ranges = normalized([
  [9, 13],
  [32, 32],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]);
/** Units that `.` does not match: the line terminators of ECMAScript. */
export const lineBreaks: Ranges = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
];

const posix: Readonly<Record<string, Ranges>> = {
  alpha: [
    [65, 90],
    [97, 122],
  ],
  digit: digits,
  alnum: [
    [48, 57],
    [65, 90],
    [97, 122],
  ],
  lower: [[97, 122]],
  upper: [[65, 90]],
  space: [
    [9, 13],
    [32, 32],
  ],
  punct: [
    [33, 47],
    [58, 64],
    [91, 96],
    [123, 126],
  ],
  xdigit: [
    [48, 57],
    [65, 70],
    [97, 102],
  ],
  word: wordUnits,
};

export const posixClass = (name: string): Ranges | undefined =>
  Object.hasOwn(posix, name) ? posix[name] : undefined;
