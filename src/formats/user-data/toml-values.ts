// Parses the values of TOML 1.0 at a position: strings, numbers, dates, arrays, inline tables,
// keys. Throws TomlSyntaxError to its caller in this folder, which converts it to a fault.
import { Lines, type Position } from '../position.ts';
import type { Located, LocatedMember } from './located.ts';

export class TomlSyntaxError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const maxDepth = 64;
const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  '"': '"',
  '\\': '\\',
};
const bareKey = /[A-Za-z0-9_-]/;
const number =
  /^[+-]?(?:0x[0-9A-Fa-f](?:_?[0-9A-Fa-f])*|0o[0-7](?:_?[0-7])*|0b[01](?:_?[01])*|(?:0|[1-9](?:_?\d)*)(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d(?:_?\d)*)?|inf|nan)$/;
const date =
  /^(?:\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)?)?|\d\d:\d\d:\d\d(?:\.\d+)?)$/;

/** A table that is being filled. */
export interface OpenTable {
  readonly kind: 'map';
  readonly members: Map<string, LocatedMember>;
  readonly at: Position;
}

export interface Key {
  readonly name: string;
  readonly offset: number;
  /** A quoted key, which EKS' subset restricts. */
  readonly quoted: boolean;
}

export interface TableMarks {
  /** Named by a header or closed by an inline value: dotted keys may not extend them. */
  readonly fixed: WeakSet<object>;
  /** Created by dotted keys: no header may name them. */
  readonly dotted: WeakSet<object>;
}

/** Reads forward through one text. */
export class TomlCursor {
  readonly text: string;
  readonly lines: Lines;
  offset = 0;
  constructor(text: string) {
    this.text = text;
    this.lines = new Lines(text);
  }

  get here(): string {
    return this.text[this.offset] ?? '';
  }
  get done(): boolean {
    return this.offset >= this.text.length;
  }

  position(offset = this.offset): Position {
    return this.lines.at(offset);
  }

  fail(message: string, offset = this.offset): never {
    throw new TomlSyntaxError(message, offset);
  }

  skipBlanks(): void {
    while (this.here === ' ' || this.here === '\t') this.offset++;
  }

  /** Skips blanks, line ends and comments. */
  skipSpace(): void {
    for (;;) {
      while (/[ \t\r\n]/.test(this.here) && !this.done) this.offset++;
      if (this.here !== '#') return;
      this.skipLine();
    }
  }

  skipLine(): void {
    const end = this.text.indexOf('\n', this.offset);
    this.offset = end < 0 ? this.text.length : end;
  }

  expect(char: string, why: string): void {
    if (this.here !== char) {
      this.fail(`expected ${char} ${why}, found ${JSON.stringify(this.here || 'the end')}`);
    }
    this.offset++;
  }

  /** Only a comment may follow on the line. */
  endOfLine(): void {
    this.skipBlanks();
    if (this.here === '#') this.skipLine();
    if (this.here === '\r') this.offset++;
    if (!this.done && this.here !== '\n') {
      this.fail(`expected the end of the line, found ${JSON.stringify(this.here)}`);
    }
  }

  /** A dotted key. */
  key(): readonly Key[] {
    const keys: Key[] = [];
    for (;;) {
      this.skipBlanks();
      const { offset } = this;
      if (this.here === '"' || this.here === "'") {
        keys.push({ name: this.#string(false), offset, quoted: true });
      } else {
        while (bareKey.test(this.here)) this.offset++;
        if (this.offset === offset) {
          this.fail(`expected a key, found ${JSON.stringify(this.here || 'the end')}`);
        }
        keys.push({ name: this.text.slice(offset, this.offset), offset, quoted: false });
      }
      this.skipBlanks();
      if (this.here !== '.') return keys;
      this.offset++;
      if (keys.length > maxDepth) this.fail(`a key of more than ${maxDepth} parts`);
    }
  }

  value(depth = 0): Located {
    if (depth > maxDepth) this.fail(`more than ${maxDepth} levels`);
    const at = this.position();
    switch (this.here) {
      case '"':
      case "'":
        return { kind: 'scalar', value: this.#string(true), at };
      case '[':
        return this.#array(at, depth);
      case '{':
        return this.#inlineTable(at, depth);
      default:
        return { kind: 'scalar', value: this.#word(), at };
    }
  }

  #word(): string | number | boolean {
    const from = this.offset;
    while (!this.done && !/[\s,\]}#]/.test(this.here)) this.offset++;
    // A date and its time may be separated by a blank.
    const after = this.text.slice(this.offset, this.offset + 4);
    if (/^\d{4}-\d\d-\d\d$/.test(this.text.slice(from, this.offset)) && /^ \d\d:/.test(after)) {
      this.offset++;
      while (!this.done && !/[\s,\]}#]/.test(this.here)) this.offset++;
    }
    const word = this.text.slice(from, this.offset);
    if (word === 'true') return true;
    if (word === 'false') return false;
    if (number.test(word)) return numberOf(word);
    if (date.test(word)) return word;
    return this.fail(
      word === '' ? 'expected a value' : `${JSON.stringify(word)} is no value; a text needs quotes`,
      from,
    );
  }

  #array(at: Position, depth: number): Located {
    const items: Located[] = [];
    this.offset++;
    for (;;) {
      this.skipSpace();
      if (this.here === ']') break;
      if (this.done) this.fail('the list does not end');
      items.push(this.value(depth + 1));
      this.skipSpace();
      if (this.here === ',') this.offset++;
      else if (this.here !== ']') this.expect(']', 'or , in a list');
    }
    this.offset++;
    return { kind: 'list', items, at };
  }

  #inlineTable(at: Position, depth: number): Located {
    const table: OpenTable = { kind: 'map', members: new Map(), at };
    this.offset++;
    this.skipBlanks();
    if (this.here === '}') {
      this.offset++;
      return table;
    }
    for (;;) {
      const keys = this.key();
      this.expect('=', 'after the key');
      this.skipBlanks();
      this.put(table, keys, this.value(depth + 1));
      this.skipBlanks();
      if (this.here === '}') break;
      this.expect(',', 'or } in an inline table');
    }
    this.offset++;
    return table;
  }

  /** Sets a value at a dotted key in a table; refuses what TOML refuses. */
  put(table: OpenTable, keys: readonly Key[], value: Located, marks?: TableMarks): void {
    let open = table;
    const path: string[] = [];
    for (const [i, { name, offset }] of keys.entries()) {
      path.push(name);
      const known = open.members.get(name);
      if (i === keys.length - 1) {
        if (known !== undefined) this.#twice(path, offset, known.keyAt);
        open.members.set(name, { keyAt: this.position(offset), value });
        return;
      }
      if (known === undefined) {
        const next: OpenTable = { kind: 'map', members: new Map(), at: this.position(offset) };
        open.members.set(name, { keyAt: this.position(offset), value: next });
        marks?.dotted.add(next);
        open = next;
      } else if (known.value.kind !== 'map' || marks?.fixed.has(known.value) === true) {
        this.#twice(path, offset, known.keyAt);
      } else open = known.value as OpenTable;
    }
  }

  #twice(path: readonly string[], offset: number, before: Position): never {
    return this.fail(`${path.join('.')} is set twice, first on line ${before.line}`, offset);
  }

  #string(mayBeLong: boolean): string {
    const quote = this.here;
    const from = this.offset;
    const isLong = mayBeLong && this.text.startsWith(quote.repeat(3), from);
    const end = isLong ? quote.repeat(3) : quote;
    this.offset += end.length;
    if (isLong && this.here === '\r') this.offset++;
    if (isLong && this.here === '\n') this.offset++;
    let value = '';
    for (;;) {
      if (this.done || (!isLong && this.here === '\n')) this.fail('the text does not end', from);
      if (this.text.startsWith(end, this.offset)) {
        this.offset += end.length;
        // Up to two quotes may precede the three that end a text.
        for (let i = 0; isLong && i < 2 && this.here === quote; i++) {
          value += quote;
          this.offset++;
        }
        return value;
      }
      if (quote === '"' && this.here === '\\') value += this.#escape(isLong);
      else {
        value += this.here;
        this.offset++;
      }
    }
  }

  #escape(isLong: boolean): string {
    const from = this.offset;
    this.offset++;
    const char = this.here;
    if (isLong && /^[ \t]*\r?\n/.test(this.text.slice(this.offset, this.offset + 256))) {
      while (/[ \t\r\n]/.test(this.here) && !this.done) this.offset++;
      return '';
    }
    this.offset++;
    if (Object.hasOwn(escapes, char)) return escapes[char] ?? '';
    const length = char === 'u' ? 4 : char === 'U' ? 8 : 0;
    const hex = this.text.slice(this.offset, this.offset + length);
    const code = /^[0-9A-Fa-f]+$/.test(hex) ? Number.parseInt(hex, 16) : -1;
    const isScalar = code >= 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    if (length === 0 || hex.length < length || !isScalar) {
      this.fail(`\\${char} is no escape of TOML`, from);
    }
    this.offset += length;
    return String.fromCodePoint(code);
  }
}

const numberOf = (word: string): number => {
  const clean = word.replaceAll('_', '');
  const sign = clean.startsWith('-') ? -1 : 1;
  const digits = clean.replace(/^[+-]/, '');
  if (digits === 'inf') return sign * Number.POSITIVE_INFINITY;
  if (digits === 'nan') return Number.NaN;
  const value = Number(digits);
  return value === 0 ? 0 : sign * value;
};
