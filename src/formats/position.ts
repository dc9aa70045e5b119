// A place in a text, and a fault there. Counted from 1, as in editors.

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Text that a parser could not read. Parsers return these; they never throw them. */
export interface ParseFault {
  readonly at: Position;
  readonly message: string;
}

export const begin: Position = { line: 1, column: 1 };

/** `inner` is relative to a text that starts at `outer`, whose lines share one indentation. */
export const within = (outer: Position, inner: Position): Position => ({
  line: outer.line + inner.line - 1,
  column: outer.column + inner.column - 1,
});

/** Converts offsets of a text to positions by binary search, for long texts. */
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
