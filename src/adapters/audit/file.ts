// The audit log as JSON lines in one file, rotated by size. Lines stay in memory until `flush`, so
// that they reach the file together with the state they describe. Never stops the world: a failed
// write is counted and reported once.
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { JsonObject } from '../../api/json.ts';

/** A line contains a request's and a response's object, each limited to 3 MiB by the API server. */
const longestLineBytes = 8 * 1024 * 1024;
const newline = 0x0a;

export interface AuditFileOptions {
  readonly file: string;
  /** The file is rotated before it would exceed this. */
  readonly maxBytes: number;
  /** Number of rotated files kept (`audit.log.1` is the newest). */
  readonly keep: number;
  readonly onError: (error: unknown) => void;
}

/** Removes a partial line that a killed process may have left; returns the remaining size. */
const wholeLines = (file: string): number => {
  const { size } = statSync(file);
  const handle = openSync(file, 'r');
  try {
    const tail = Buffer.alloc(Math.min(size, longestLineBytes));
    readSync(handle, tail, 0, tail.length, size - tail.length);
    const whole = size - tail.length + tail.lastIndexOf(newline) + 1;
    if (whole < size) truncateSync(file, whole);
    return whole;
  } finally {
    closeSync(handle);
  }
};

const readAt = (path: string, at: number, length: number): Uint8Array => {
  const handle = openSync(path, 'r');
  try {
    const bytes = Buffer.allocUnsafe(length);
    return bytes.subarray(0, readSync(handle, bytes, 0, length, at));
  } finally {
    closeSync(handle);
  }
};

export class AuditFile {
  readonly #options: AuditFileOptions;
  #lines: string[] = [];
  #size: number;
  #failed = false;
  /** Bytes of files dropped since start: the position where the oldest remaining file starts. */
  #start = 0;
  /** Number of events that could not be written since start. */
  lost = 0;

  constructor(options: AuditFileOptions) {
    this.#options = options;
    mkdirSync(dirname(options.file), { recursive: true });
    this.#size = existsSync(options.file) ? wholeLines(options.file) : 0;
  }

  write(event: JsonObject): void {
    this.#lines.push(`${JSON.stringify(event)}\n`);
  }

  flush(): void {
    if (this.#lines.length === 0) return;
    const count = this.#lines.length;
    const text = this.#lines.join('');
    this.#lines = [];
    try {
      if (this.#size > 0 && this.#size + text.length > this.#options.maxBytes) this.#rotate();
      appendFileSync(this.#options.file, text);
      this.#size += Buffer.byteLength(text);
      this.#failed = false;
    } catch (error) {
      this.lost += count;
      if (!this.#failed) this.#options.onError(error);
      this.#failed = true;
      this.#dropPart();
    }
  }

  /** The readable range: from the oldest kept file to the last flush. */
  extent(): { readonly start: number; readonly end: number } {
    const sizes = this.#files().map(({ size }) => size);
    return { start: this.#start, end: this.#start + sizes.reduce((sum, size) => sum + size, 0) };
  }

  /** At most `length` bytes from the position; fewer at the end of a file. */
  read(from: number, length: number): Uint8Array {
    let begin = this.#start;
    for (const { path, size } of this.#files()) {
      if (from >= begin && from < begin + size) {
        return readAt(path, from - begin, Math.min(length, begin + size - from));
      }
      begin += size;
    }
    return new Uint8Array();
  }

  /** Oldest first. */
  #files(): readonly { readonly path: string; readonly size: number }[] {
    const { file, keep } = this.#options;
    const numbers = Array.from({ length: keep }, (_, index) => keep - index);
    return [...numbers.map((number) => `${file}.${number}`), file]
      .filter((path) => existsSync(path))
      .map((path) => ({ path, size: statSync(path).size }));
  }

  /** A full disk accepts the first part of a write: a partial line would corrupt the next one. */
  #dropPart(): void {
    try {
      truncateSync(this.#options.file, this.#size);
    } catch {
      // The file is deleted or inaccessible, and so is the partial line.
    }
  }

  #rotate(): void {
    const { file, keep } = this.#options;
    if (existsSync(`${file}.${keep}`)) this.#start += statSync(`${file}.${keep}`).size;
    rmSync(`${file}.${keep}`, { force: true });
    for (let i = keep - 1; i >= 1; i--) {
      if (existsSync(`${file}.${i}`)) renameSync(`${file}.${i}`, `${file}.${i + 1}`);
    }
    renameSync(file, `${file}.1`);
    this.#size = 0;
  }
}
