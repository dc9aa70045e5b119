// The audit log as JSON lines in one file, rotated by size. Lines wait in memory until `flush`, so
// that they reach the file together with the state they tell of. Never stops the world: a refused
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

/** A line holds a request's and a response's object, each bounded by the API server's 3 MiB. */
const longestLineBytes = 8 * 1024 * 1024;
const newline = 0x0a;

export interface AuditFileOptions {
  readonly file: string;
  /** The file is rotated when it would grow beyond this. */
  readonly maxBytes: number;
  /** How many rotated files (`audit.log.1` is the newest) are kept. */
  readonly keep: number;
  readonly onError: (error: unknown) => void;
}

/** Cuts off the half line that a killed process may have left; the size of what remains. */
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

export class AuditFile {
  readonly #options: AuditFileOptions;
  #lines: string[] = [];
  #size: number;
  #failed = false;
  /** Events that could not be written since start. */
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

  /** A full disk takes the first part of a write: half a line would spoil the next one. */
  #dropPart(): void {
    try {
      truncateSync(this.#options.file, this.#size);
    } catch {
      // The file itself is gone or out of reach, and so is the part.
    }
  }

  #rotate(): void {
    const { file, keep } = this.#options;
    rmSync(`${file}.${keep}`, { force: true });
    for (let i = keep - 1; i >= 1; i--) {
      if (existsSync(`${file}.${i}`)) renameSync(`${file}.${i}`, `${file}.${i + 1}`);
    }
    renameSync(file, `${file}.1`);
    this.#size = 0;
  }
}
