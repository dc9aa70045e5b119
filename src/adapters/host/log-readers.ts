// Reads the kernel log from /dev/kmsg, and journals from a child process. Reads never block,
// because a blocked thread of Node.js' pool would delay all other work.
import type { ChildProcess } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { type KernelLogReader, type LogReader, NodeHostError } from '../../ports/index.ts';
import { spawnOn } from './programs.ts';

/** The kernel returns one record per read, of at most this size. */
const recordBytes = 8 * 1024;
/** Journal lines waiting to be read; beyond that the child is paused. */
const maxWaiting = 20_000;
const maxLineBytes = 64 * 1024;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

const sequenceOf = (record: string): number => Number(record.split(',', 2)[1]);

/** Reads all available records one by one, and never waits for more. */
export class KmsgReader implements KernelLogReader {
  readonly source = 'kmsg';
  readonly #fd: number;
  readonly #buffer = Buffer.allocUnsafe(recordBytes);
  #last: number | undefined;

  /** Throws NodeHostError. */
  constructor(path: string, afterSequence: number | undefined) {
    try {
      this.#fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    } catch (error) {
      const code = codeOf(error) === 'ENOENT' ? 'missing' : 'denied';
      throw new NodeHostError(code, `open ${path}`, { cause: error });
    }
    this.#last = afterSequence;
  }

  read(max: number) {
    const entries: string[] = [];
    let lost = 0;
    while (entries.length < max) {
      const record = this.#next();
      if (record === 'end') break;
      // The gap in the sequence numbers gives the count; this record only signals that a gap
      // exists.
      if (record === 'overrun') continue;
      const sequence = sequenceOf(record);
      // A garbled record has no number, and must not become the one to count from.
      if (!Number.isNaN(sequence)) {
        if (this.#last !== undefined) {
          if (sequence <= this.#last) continue;
          lost += sequence - this.#last - 1;
        }
        this.#last = sequence;
      }
      entries.push(record);
    }
    return { entries, lost };
  }

  close(): void {
    closeSync(this.#fd);
  }

  #next(): string {
    try {
      const length = readSync(this.#fd, this.#buffer, 0, recordBytes, null);
      if (length === 0) throw new NodeHostError('failed', 'read /dev/kmsg: it ended');
      return this.#buffer.toString('utf8', 0, length);
    } catch (error) {
      if (codeOf(error) === 'EAGAIN') return 'end';
      if (codeOf(error) === 'EPIPE') return 'overrun';
      if (error instanceof NodeHostError) throw error;
      throw new NodeHostError('failed', `read /dev/kmsg (${codeOf(error)})`, { cause: error });
    }
  }
}

/** `journalctl -f` as a child process; keeps its lines until they are read. */
export class JournalReader implements LogReader {
  readonly #child: ChildProcess;
  readonly #waiting: string[] = [];
  #rest = '';
  #ended: string | undefined;
  #errors = '';

  /** Throws NodeHostError when journalctl does not exist. */
  static async open(root: string, words: readonly string[]): Promise<JournalReader> {
    const child = spawnOn(root, 'journalctl', words);
    const reader = new JournalReader(child);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (cause) => {
        reject(new NodeHostError('missing', 'journalctl', { cause }));
      });
    });
    return reader;
  }

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout?.on('data', (chunk: Buffer) => this.#take(chunk.toString('utf8')));
    child.stderr?.on('data', (chunk: Buffer) => {
      if (this.#errors.length < 500) this.#errors += chunk.toString('utf8');
    });
    child.on('error', () => undefined);
    child.on('close', (code) => {
      const [line = ''] = this.#errors.trim().split('\n');
      this.#ended = `journalctl ended with ${code}${line === '' ? '' : ` (${line})`}`;
    });
  }

  read(max: number) {
    const entries = this.#waiting.splice(0, max);
    if (this.#waiting.length < maxWaiting / 2) this.#child.stdout?.resume();
    if (entries.length === 0 && this.#ended !== undefined) {
      throw new NodeHostError('failed', this.#ended);
    }
    return { entries, lost: 0 };
  }

  close(): void {
    this.#child.kill('SIGTERM');
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#child.unref();
  }

  #take(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n');
    // Truncates an entry of megabytes: the rest is not JSON and is skipped.
    this.#rest = (lines.pop() ?? '').slice(0, maxLineBytes);
    this.#waiting.push(...lines.filter((line) => line !== ''));
    if (this.#waiting.length >= maxWaiting) this.#child.stdout?.pause();
  }
}

/** journalctl arguments that select the entries of any of these units or syslog identifiers. */
export const journalWords = (options: {
  readonly units: readonly string[];
  readonly identifiers: readonly string[];
  readonly afterCursor?: string;
}): readonly string[] => {
  const matches = [
    ...options.units.map((unit) => `_SYSTEMD_UNIT=${unit}`),
    ...options.identifiers.map((identifier) => `SYSLOG_IDENTIFIER=${identifier}`),
  ];
  const from =
    options.afterCursor === undefined ? ['--lines=0'] : [`--after-cursor=${options.afterCursor}`];
  return [
    '--follow',
    '--output=json',
    '--no-pager',
    '--quiet',
    ...from,
    ...matches.flatMap((match, index) => (index === 0 ? [match] : ['+', match])),
  ];
};

export const kernelJournalWords: readonly string[] = [
  '--dmesg',
  '--boot',
  '--follow',
  '--lines=all',
  '--output=json',
  '--no-pager',
  '--quiet',
];
