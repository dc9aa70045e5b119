// Splits a byte stream into lines and decodes one line at a time: a watch is one JSON document per
// line. Never parses; holds at most one unfinished line.

const NEWLINE = 0x0a;

/** etcd refuses objects above 1.5 MiB; a much longer line is not a watch event. */
const maxLineBytes = 32 * 1024 * 1024;

export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

export class LineSplitter {
  #parts: Uint8Array[] = [];
  #held = 0;
  readonly #limit: number;

  constructor(limit = maxLineBytes) {
    this.#limit = limit;
  }

  /** Lines that end in `chunk`, decoded as UTF-8, without newlines; skips empty ones. */
  push(chunk: Uint8Array): readonly string[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const lines: string[] = [];
    let start = 0;
    for (;;) {
      const end = bytes.indexOf(NEWLINE, start);
      if (end === -1) break;
      const line = this.#finish(bytes, start, end);
      if (line.trim() !== '') lines.push(line);
      start = end + 1;
    }
    if (start < bytes.length) this.#hold(bytes.subarray(start));
    return lines;
  }

  /** Data after the last newline: not empty when the stream was cut within a line. */
  get rest(): string {
    return Buffer.concat(this.#parts).toString('utf8');
  }

  #finish(bytes: Buffer, start: number, end: number): string {
    if (this.#parts.length === 0) return bytes.toString('utf8', start, end);
    // Joined as bytes first: a chunk may end within a character.
    this.#parts.push(bytes.subarray(start, end));
    const line = Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#held = 0;
    return line;
  }

  #hold(part: Uint8Array): void {
    this.#held += part.length;
    if (this.#held > this.#limit) {
      throw new LineTooLongError(`a line of more than ${this.#limit} bytes`);
    }
    this.#parts.push(part);
  }
}
