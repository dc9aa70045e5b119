// Reads a query's text token by token. `/` means division or a regular expression depending on the
// context, so the parser requests the token it expects; nothing is tokenized in advance.
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

  /** Skips spaces, line breaks and `#` comments. */
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

  /** End of the last token, without following spaces. */
  lastEnd = 0;

  #advance(end: number): void {
    this.at = end;
    this.lastEnd = end;
    this.skip();
  }

  /** The text at this position, for messages. */
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

  /** Peeks at a bare word without dots; undefined when there is none. */
  peekWord(): string | undefined {
    if (!identifierStart.test(this.text[this.at] ?? '')) return undefined;
    return /^[A-Za-z0-9_@]+/.exec(this.text.slice(this.at, this.at + 200))?.[0];
  }

  /** True when the next token is this keyword, ignoring case: `and`, not `and.x` or `and(`. */
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

  /** A field's parts: `a.b.0`, `a.[3]`, backticks around any part; undefined when there is none. */
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

  /** A field's literal name, which may contain stars; anything in backticks. */
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

  /** The text of a number, or of a number with a unit (`5m`); undefined when there is none. */
  number(): string | undefined {
    if (!/^[0-9]|^\.[0-9]/.test(this.text.slice(this.at, this.at + 2))) return undefined;
    const rest = this.text.slice(this.at, this.at + 400);
    const match = /^(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[A-Za-z]*/.exec(rest);
    const found = match?.[0] ?? '';
    this.#advance(this.at + found.length);
    return found;
  }

  /** Digits only. */
  integer(): string | undefined {
    let end = this.at;
    while (digit.test(this.text[end] ?? '')) end++;
    if (end === this.at) return undefined;
    const found = this.text.slice(this.at, end);
    this.#advance(end);
    return found;
  }

  /**
   * Text in single or double quotes. A backslash escapes a quote or a backslash; before any other
   * character it is literal.
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
   * A regular expression between slashes. It ends at the first slash that is not escaped, not in a
   * class and after which the query can continue, so slashes need no backslash.
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

/** End of a class that starts at `from`; `from` itself when the line ends first. */
const classEnd = (text: string, from: number): number => {
  const found = /^\[\^?\]?(?:[^\]\\\n]|\\.)*\]/.exec(text.slice(from, from + 1000));
  return found === null ? from : from + found[0].length - 1;
};

const afterRegex = /^\s*(?:$|[|,)#]|(?:and|or|as|multi)\b)/i;

const endsRegex = (text: string, at: number): boolean => {
  const rest = text.slice(at, at + 200);
  return afterRegex.test(rest) || (rest.trim() === '' && at + 200 < text.length);
};
