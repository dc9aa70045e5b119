// The kernel log as lines with times. Skips records from user space, so that no pod can forge a
// fault, except the agent's own marker, which proves that the log is readable.
import { type EpochMs, epochMs } from '../../api/brand.ts';
import {
  kernelFacility,
  parseJournalEntry,
  parseKernelRecord,
} from '../../formats/node-health/index.ts';
import { type KernelLogReader, type NodeHost, NodeHostError } from '../../ports/index.ts';

export interface KernelLine {
  readonly text: string;
  readonly at: EpochMs;
}

/** Prefix of the agent's marker, whose end differs each time. */
export const markerPrefix = 'drover-agent: still seen ';

/** Delay before a failed reader is reopened. */
const reopenMs = { first: 1_000, most: 60_000 } as const;

export class KernelLog {
  readonly #host: NodeHost;
  readonly #bootedAt: EpochMs;
  #reader: KernelLogReader | undefined;
  #sequence: number | undefined;
  #failure: string | undefined;
  #failures = 0;
  #reopenAt: EpochMs = epochMs(0);
  #lost = 0;
  #forged = 0;
  #marker: string | undefined;

  constructor(
    host: NodeHost,
    options: { readonly bootedAt: EpochMs; readonly afterSequence: number | undefined },
  ) {
    this.#host = host;
    this.#bootedAt = options.bootedAt;
    this.#sequence = options.afterSequence;
  }

  /** Why the log cannot be read; undefined when it can. */
  get failure(): string | undefined {
    return this.#failure;
  }
  /** Number of the last record, from which to continue. */
  get sequence(): number | undefined {
    return this.#sequence;
  }
  /** The last marker that was read back. */
  get marker(): string | undefined {
    return this.#marker;
  }
  /** Records from user space that were skipped, since the last call. */
  takeForged(): number {
    const forged = this.#forged;
    this.#forged = 0;
    return forged;
  }
  takeLost(): number {
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }

  /** Fewer than `max` lines mean that the log was read to its end. */
  async read(
    max: number,
    now: EpochMs,
  ): Promise<{ readonly lines: readonly KernelLine[]; readonly isAtEnd: boolean }> {
    const reader = await this.#opened(now);
    if (reader === undefined) return { lines: [], isAtEnd: true };
    try {
      const { entries, lost } = reader.read(max);
      this.#lost += lost;
      const lines = entries.flatMap((entry) => {
        const line = reader.source === 'kmsg' ? this.#ofRecord(entry, now) : this.#ofEntry(entry);
        return line === undefined ? [] : [line];
      });
      this.#failure = undefined;
      this.#failures = 0;
      return { lines, isAtEnd: entries.length < max };
    } catch (error) {
      this.#failed(error, now);
      return { lines: [], isAtEnd: true };
    }
  }

  close(): void {
    this.#reader?.close();
    this.#reader = undefined;
  }

  async #opened(now: EpochMs): Promise<KernelLogReader | undefined> {
    if (this.#reader !== undefined) return this.#reader;
    if (now < this.#reopenAt) return undefined;
    try {
      const after = this.#sequence === undefined ? {} : { afterSequence: this.#sequence };
      this.#reader = await this.#host.openKernelLog(after);
    } catch (error) {
      this.#failed(error, now);
    }
    return this.#reader;
  }

  #failed(error: unknown, now: EpochMs): void {
    if (!(error instanceof NodeHostError)) throw error;
    this.close();
    this.#failure = error.message;
    const wait = Math.min(reopenMs.most, reopenMs.first * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    this.#reopenAt = epochMs(now + wait);
  }

  #ofRecord(entry: string, now: EpochMs): KernelLine | undefined {
    const record = parseKernelRecord(entry);
    if (record === undefined) return undefined;
    this.#sequence = record.sequence;
    const at = epochMs(Math.min(now, this.#bootedAt + Math.floor(record.micros / 1000)));
    return this.#taken(record.facility, record.text, at);
  }

  #ofEntry(line: string): KernelLine | undefined {
    const entry = parseJournalEntry(line);
    if (entry === undefined) return undefined;
    return this.#taken(entry.facility ?? -1, entry.text, epochMs(Math.floor(entry.micros / 1000)));
  }

  #taken(facility: number, text: string, at: EpochMs): KernelLine | undefined {
    if (facility === kernelFacility) return { text, at };
    if (text.startsWith(markerPrefix)) this.#marker = text;
    else this.#forged += 1;
    return undefined;
  }
}
