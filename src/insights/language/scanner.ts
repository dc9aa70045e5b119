// Reads a query's text token by token. What `/` means (division or a regular expression) depends on
// what came before, so the parser asks for what it expects; nothing is split in advance.
import { QueryError, type Span, visible } from './query-error.ts';

const identifierStart = /[A-Za-z_@]/;
const identifierPart = /[A-Za-z0-9_@]/;
const digit = /[0-9]/;

export class Scanner {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
    this.skip();
  }

  /** Spaces, line breaks and `#` comments. */
  skip(): void {
    for (;;) {
      const unit = this.text[this.at];
      if (unit === '#') {
        const end = this.text.indexOf('\n', this.at);
        this.at = end === -1 ? this.text.length : end;
      } else if (unit !== undefined && /\s/.test(unit)) this.at++;
      else return;
    }
  }

  get atEnd(): boolean {
    return this.at >= this.text.length;
  }

  span(start: number): Span {
    return { start, end: Math.max(start, this.lastEnd) };
  }

  /** Where the last token ended, spaces after it not counted. */
  lastEnd = 0;

  #advance(end: number): void {
    this.at = end;
    this.lastEnd = end;
    this.skip();
  }

  /** What stands here, for messages. */
  here(): { readonly shown: string; readonly span: Span } {
    if (this.atEnd) {
      return {
        shown: 'the end of the query',
        span: { start: this.lastEnd, end: this.lastEnd + 1 },
      };
    }
    const rest = this.text.slice(this.at, this.at + 40);
    const word = /^(?:[A-Za-z0-9_@.]+|"[^"\n]*"?|'[^'\n]*'?|[=!<>~]+|.)/su.exec(rest)?.[0] ?? '';
    return { shown: `\`${visible(word)}\``, span: { start: this.at, end: this.at + word.length } };
  }

  symbol(symbol: string): boolean {
    if (!this.text.startsWith(symbol, this.at)) return false;
    this.#advance(this.at + symbol.length);
    return true;
  }

  peekSymbol(symbol: string): boolean {
    return this.text.startsWith(symbol, this.at);
  }

  /** A bare word without dots, not taken; undefined when something else stands here. */
  peekWord(): string | undefined {
    if (!identifierStart.test(this.text[this.at] ?? '')) return undefined;
    return /^[A-Za-z0-9_@]+/.exec(this.text.slice(this.at, this.at + 200))?.[0];
  }

  /** True when a keyword in any letter case stands here by itself: `and`, not `and.x` or `and(`. */
  peekKeyword(keyword: string): boolean {
    const end = this.at + keyword.length;
    if (this.text.slice(this.at, end).toLowerCase() !== keyword) return false;
    return !/[A-Za-z0-9_@.]/.test(this.text[end] ?? '');
  }

  keyword(keyword: string): boolean {
    if (!this.peekKeyword(keyword)) return false;
    this.#advance(this.at + keyword.length);
    return true;
  }

  word(): string | undefined {
    const word = this.peekWord();
    if (word !== undefined) this.#advance(this.at + word.length);
    return word;
  }

  /**
   * A field's parts: `a.b.0`, `a.[3]`, backticks around any part; undefined when none stands here.
   */
  path(): readonly string[] | undefined {
    const first = this.text[this.at] ?? '';
    if (first !== '`' && !identifierStart.test(first)) return undefined;
    const parts: string[] = [];
    let at = this.at;
    const take = (): boolean => {
      const [part, end] = this.#pathPart(at);
      if (end === at) return false;
      parts.push(part);
      at = end;
      return true;
    };
    take();
    for (;;) {
      const index = /^\[\s*([0-9]+)\s*\]/.exec(this.text.slice(at, at + 24));
      if (index?.[1] !== undefined) {
        parts.push(index[1]);
        at += index[0].length;
        continue;
      }
      if (this.text[at] !== '.') break;
      at++;
      if (!take()) {
        throw new QueryError('a field name ends in a dot', { start: at - 1, end: at });
      }
    }
    this.#advance(at);
    return parts;
  }

  /** A field's name as it is, in which stars may stand; in backticks with anything in it. */
  starred(): string | undefined {
    const rest = this.text.slice(this.at, this.at + 1000);
    const found = /^(?:`([^`\n]+)`|[A-Za-z0-9_@.*-]+)/.exec(rest);
    if (found === null) return undefined;
    this.#advance(this.at + found[0].length);
    return found[1] ?? found[0];
  }

  #pathPart(at: number): readonly [part: string, end: number] {
    if (this.text[at] !== '`') {
      let end = at;
      while (identifierPart.test(this.text[end] ?? '')) end++;
      return [this.text.slice(at, end), end];
    }
    const close = this.text.indexOf('`', at + 1);
    if (close === -1) {
      throw new QueryError('this backtick is never closed', { start: at, end: at + 1 });
    }
    if (close === at + 1) {
      throw new QueryError('a field name in backticks is empty', { start: at, end: close + 1 });
    }
    return [this.text.slice(at + 1, close), close + 1];
  }

  /** A number, or a number with a unit (`5m`), as its text; undefined when none stands here. */
  number(): string | undefined {
    if (!/^[0-9]|^\.[0-9]/.test(this.text.slice(this.at, this.at + 2))) return undefined;
    const rest = this.text.slice(this.at, this.at + 400);
    const match = /^(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[A-Za-z]*/.exec(rest);
    const found = match?.[0] ?? '';
    this.#advance(this.at + found.length);
    return found;
  }

  /** Digits alone. */
  integer(): string | undefined {
    let end = this.at;
    while (digit.test(this.text[end] ?? '')) end++;
    if (end === this.at) return undefined;
    const found = this.text.slice(this.at, end);
    this.#advance(end);
    return found;
  }

  /**
   * Text in single or double quotes. A backslash keeps a quote or a backslash from being read as
   * one; before anything else it stands for itself.
   */
  quoted(): string | undefined {
    const quote = this.text[this.at];
    if (quote !== '"' && quote !== "'") return undefined;
    let value = '';
    let at = this.at + 1;
    for (;;) {
      const unit = this.text[at];
      if (unit === undefined) {
        throw new QueryError('this quote is never closed', { start: this.at, end: this.at + 1 });
      }
      if (unit === quote) break;
      const next = this.text[at + 1];
      if (unit === '\\' && (next === '\\' || next === '"' || next === "'")) {
        value += next;
        at += 2;
      } else {
        value += unit;
        at++;
      }
    }
    this.#advance(at + 1);
    return value;
  }

  /**
   * A regular expression between slashes. It ends at the first slash, not escaped and not between
   * brackets, after which the query can go on; so a slash inside it needs no backslash.
   */
  regex(): string | undefined {
    if (this.text[this.at] !== '/') return undefined;
    for (let at = this.at + 1; at < this.text.length; at++) {
      const unit = this.text[at];
      if (unit === '\\') at++;
      else if (unit === '[') at = classEnd(this.text, at);
      else if (unit === '/' && endsRegex(this.text, at + 1)) {
        const source = this.text.slice(this.at + 1, at);
        this.#advance(at + 1);
        return source;
      }
    }
    throw new QueryError(
      'this regular expression is never closed',
      { start: this.at, end: this.at + 1 },
      'end it with `/`',
    );
  }
}

/**
 * Where a class that begins at `from` ends; `from` itself when it never does before the line does.
 */
const classEnd = (text: string, from: number): number => {
  const found = /^\[\^?\]?(?:[^\]\\\n]|\\.)*\]/.exec(text.slice(from, from + 1000));
  return found === null ? from : from + found[0].length - 1;
};

const afterRegex = /^\s*(?:$|[|,)#]|(?:and|or|as|multi)\b)/i;

const endsRegex = (text: string, at: number): boolean => {
  const rest = text.slice(at, at + 200);
  return afterRegex.test(rest) || (rest.trim() === '' && at + 200 < text.length);
};
