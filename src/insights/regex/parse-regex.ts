// Parses a regular expression: the subset of RE2 and Java that matches in linear time. Refuses
// other constructs by name. Never backtracks, never builds a matcher.
import { type ClassReader, readClass, readEscape } from './read-class.ts';
import {
  caseless,
  inverted,
  lastUnit,
  lineBreaks,
  type Node,
  RegexError,
  type RegexTree,
} from './syntax.ts';

const maxDepth = 100;
/** Maximum of `{n,m}`; RE2's own limit. */
const maxRepeat = 1000;

interface Flags {
  readonly caseless: boolean;
  readonly dotAll: boolean;
  readonly multiline: boolean;
}

export const parseRegex = (source: string): RegexTree => new RegexParser(source).tree();

const empty: Node = { kind: 'sequence', parts: [] };

const lookarounds: readonly (readonly [text: string, name: string])[] = [
  ['(?=', 'look-ahead'],
  ['(?!', 'look-ahead'],
  ['(?<=', 'look-behind'],
  ['(?<!', 'look-behind'],
  ['(?>', 'an atomic group'],
];

class RegexParser {
  readonly #source: string;
  #at = 0;
  #depth = 0;
  #groups = 0;
  #flags: Flags = { caseless: false, dotAll: false, multiline: false };
  readonly #names = new Map<string, number>();

  constructor(source: string) {
    this.#source = source;
  }

  tree(): RegexTree {
    const root = this.#either();
    if (this.#at < this.#source.length) throw new RegexError('`)` without `(`', this.#at);
    return { root, groupCount: this.#groups, names: this.#names };
  }

  #either(): Node {
    const branches = [this.#sequence()];
    while (this.#source[this.#at] === '|') {
      this.#at++;
      branches.push(this.#sequence());
    }
    const [only] = branches;
    return branches.length === 1 && only !== undefined ? only : { kind: 'either', branches };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    for (;;) {
      const unit = this.#source[this.#at];
      if (unit === undefined || unit === '|' || unit === ')') break;
      const start = this.#at;
      const atom = this.#atom();
      if (atom !== undefined) parts.push(this.#quantified(atom, start));
    }
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { kind: 'sequence', parts };
  }

  /** Undefined for flags such as `(?i)`, which only affect what follows. */
  #atom(): Node | undefined {
    const source = this.#source;
    const unit = source[this.#at] ?? '';
    switch (unit) {
      case '(':
        return this.#group();
      case '[': {
        const found = readClass(this.#reader());
        return this.#set(found);
      }
      case '.':
        this.#at++;
        return {
          kind: 'set',
          ranges: this.#flags.dotAll ? [[0, lastUnit]] : inverted(lineBreaks),
        };
      case '^':
        this.#at++;
        return { kind: 'assertion', assertion: this.#flags.multiline ? 'lineStart' : 'start' };
      case '$':
        this.#at++;
        return { kind: 'assertion', assertion: this.#flags.multiline ? 'lineEnd' : 'end' };
      case '*':
      case '+':
      case '?':
        throw new RegexError(`\`${unit}\` has nothing before it to repeat`, this.#at);
      case '\\':
        return this.#escape();
      default:
        this.#at++;
        return this.#set([[unit.charCodeAt(0), unit.charCodeAt(0)]]);
    }
  }

  #reader(): ClassReader {
    return {
      source: this.#source,
      at: () => this.#at,
      moveTo: (at) => {
        this.#at = at;
      },
    };
  }

  #set(ranges: Parameters<typeof caseless>[0]): Node {
    return { kind: 'set', ranges: this.#flags.caseless ? caseless(ranges) : ranges };
  }

  #escape(): Node {
    const next = this.#source[this.#at + 1];
    const assertions = { b: 'word', B: 'notWord', A: 'start', z: 'end', Z: 'end' } as const;
    for (const [letter, assertion] of Object.entries(assertions)) {
      if (next !== letter) continue;
      this.#at += 2;
      return { kind: 'assertion', assertion };
    }
    if (next === 'Q') return this.#literalRun();
    if (next !== undefined && /[1-9k]/.test(next)) {
      throw new RegexError('a backreference is not supported: it cannot be bounded', this.#at, 2);
    }
    return this.#set(readEscape(this.#reader()));
  }

  /** `\Q...\E` */
  #literalRun(): Node {
    const start = this.#at + 2;
    const end = this.#source.indexOf('\\E', start);
    const text = this.#source.slice(start, end === -1 ? undefined : end);
    this.#at = end === -1 ? this.#source.length : end + 2;
    const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
    return { kind: 'sequence', parts: units.map((unit) => this.#set([[unit, unit]])) };
  }

  #group(): Node | undefined {
    const start = this.#at;
    const source = this.#source;
    for (const [text, name] of lookarounds) {
      if (source.startsWith(text, start)) {
        throw new RegexError(`${name} is not supported: it cannot be bounded`, start, text.length);
      }
    }
    const outer = this.#flags;
    const opening = /^\((?:\?(?:P?<([A-Za-z_][A-Za-z0-9_]*)>|([ims]*)(?:-([ims]+))?([:)])))?/.exec(
      source.slice(start, start + 200),
    );
    if (opening === null || (opening[0] === '(' && source[start + 1] === '?')) {
      throw new RegexError('this kind of group is not known', start, 3);
    }
    this.#at += opening[0].length;
    const isPlain = opening[0] === '(' || opening[1] !== undefined;
    if (!isPlain) this.#setFlags(opening[2] ?? '', opening[3] ?? '');
    if (opening[4] === ')') return undefined;
    const index = isPlain ? this.#open(opening[1], start) : 0;
    if (++this.#depth > maxDepth) {
      throw new RegexError(`groups are nested deeper than ${maxDepth}`, start);
    }
    const body = this.#either();
    this.#depth--;
    if (source[this.#at] !== ')') throw new RegexError('this `(` is never closed', start);
    this.#at++;
    this.#flags = outer;
    return isPlain ? { kind: 'group', index, body } : body;
  }

  #open(name: string | undefined, at: number): number {
    const index = ++this.#groups;
    if (name !== undefined) {
      if (this.#names.has(name)) throw new RegexError(`two groups are named ${name}`, at);
      this.#names.set(name, index);
    }
    return index;
  }

  #setFlags(on: string, off: string): void {
    const flag = (letter: string, before: boolean): boolean =>
      on.includes(letter) || (before && !off.includes(letter));
    this.#flags = {
      caseless: flag('i', this.#flags.caseless),
      dotAll: flag('s', this.#flags.dotAll),
      multiline: flag('m', this.#flags.multiline),
    };
  }

  #quantified(atom: Node, start: number): Node {
    const range = this.#quantifier();
    if (range === undefined) return atom;
    const [min, max] = range;
    const lazy = this.#source[this.#at] === '?';
    if (lazy) this.#at++;
    else if (this.#source[this.#at] === '+') {
      throw new RegexError('a possessive quantifier is not supported', this.#at);
    }
    if (this.#quantifier() !== undefined) {
      throw new RegexError('two quantifiers in a row', start, this.#at - start);
    }
    if (atom.kind === 'assertion') return min === 0 ? empty : atom;
    return { kind: 'repeat', body: atom, min, max, lazy };
  }

  #quantifier(): readonly [min: number, max: number] | undefined {
    const unit = this.#source[this.#at];
    const simple = { '*': [0, Number.POSITIVE_INFINITY], '+': [1, Number.POSITIVE_INFINITY] };
    if (unit === '*' || unit === '+') {
      this.#at++;
      const [min = 0, max = 0] = simple[unit];
      return [min, max];
    }
    if (unit === '?') {
      this.#at++;
      return [0, 1];
    }
    const counted = /^\{([0-9]{1,6})(,([0-9]{0,6}))?\}/.exec(
      this.#source.slice(this.#at, this.#at + 20),
    );
    if (counted === null) return undefined;
    const min = Number(counted[1]);
    const open = counted[3] === '' ? Number.POSITIVE_INFINITY : Number(counted[3]);
    const max = counted[2] === undefined ? min : open;
    const at = this.#at;
    this.#at += counted[0].length;
    if (min > max)
      throw new RegexError('the counts are the wrong way round', at, counted[0].length);
    if (min > maxRepeat || (max > maxRepeat && max !== Number.POSITIVE_INFINITY)) {
      throw new RegexError(`a count is at most ${maxRepeat}`, at, counted[0].length);
    }
    return [min, max];
  }
}
