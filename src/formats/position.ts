// Where something stands in a text, and what is wrong there. Counted from 1, as editors count.

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** What a parser could not read as it stands. Parsers return these; they never throw them. */
export interface ParseFault {
  readonly at: Position;
  readonly message: string;
}

export const begin: Position = { line: 1, column: 1 };

/** `inner` is relative to a text that begins at `outer`; every line of it is indented alike. */
export const within = (outer: Position, inner: Position): Position => ({
  line: outer.line + inner.line - 1,
  column: outer.column + inner.column - 1,
});

/** Turns offsets of one text into positions; a binary search, for texts of many lines. */
export class Lines {
  readonly #starts: number[] = [0];
  constructor(text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
      this.#starts.push(at + 1);
    }
  }

  at(offset: number): Position {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#starts[low] ?? 0) + 1 };
  }
}
