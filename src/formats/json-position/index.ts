// Finds the position of a value in the text of a parsed JSON document. Reads the text only up to
// the value; the text must be JSON.
import { Lines, type Position } from '../position.ts';

export type JsonPath = readonly (string | number)[];

class Walker {
  readonly #text: string;
  #at = 0;
  constructor(text: string) {
    this.#text = text;
  }

  /** The offset at which the value of `path` starts, or that of the nearest enclosing value. */
  find(path: JsonPath): number {
    this.#skipSpace();
    const here = this.#at;
    const [head, ...rest] = path;
    if (head === undefined) return here;
    const open = this.#text[this.#at];
    if (open !== '{' && open !== '[') return here;
    const close = open === '{' ? '}' : ']';
    this.#at++;
    for (let index = 0; ; index++) {
      this.#skipSpace();
      if (this.#at >= this.#text.length || this.#text[this.#at] === close) return here;
      const key = open === '{' ? this.#key() : index;
      if (key === head) return this.find(rest);
      this.#skipValue();
      this.#skipSpace();
      if (this.#text[this.#at] === ',') this.#at++;
    }
  }

  #key(): string {
    const from = this.#at;
    this.#skipString();
    const key: unknown = JSON.parse(this.#text.slice(from, this.#at));
    this.#skipSpace();
    this.#at++;
    this.#skipSpace();
    return String(key);
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
  }

  #skipString(): void {
    this.#at++;
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"') {
      this.#at += this.#text[this.#at] === '\\' ? 2 : 1;
    }
    this.#at++;
  }

  #skipValue(): void {
    let depth = 0;
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at];
      if (char === '"') this.#skipString();
      else if (char === '{' || char === '[') {
        depth++;
        this.#at++;
      } else if (char === '}' || char === ']') {
        if (depth === 0) return;
        depth--;
        this.#at++;
      } else if (char === ',' && depth === 0) return;
      else this.#at++;
    }
  }
}

export const jsonPosition = (text: string, path: JsonPath): Position =>
  new Lines(text).at(new Walker(text).find(path));
