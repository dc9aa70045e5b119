// The journal of the services that rules concern. Continues after the last entry read, so that no
// entry is missed while the agent is not running.
import { type EpochMs, epochMs } from '../../api/brand.ts';
import { type JournalEntry, parseJournalEntry } from '../../formats/node-health/index.ts';
import { type LogReader, type NodeHost, NodeHostError } from '../../ports/index.ts';
import type { LineSource } from '../rules/rule.ts';

export interface SourcedLine {
  readonly source: LineSource;
  readonly text: string;
  readonly at: EpochMs;
}

const units = ['kubelet.service', 'containerd.service', 'snap.kubelet-eks.daemon.service'] as const;
const identifiers = ['systemd', 'CRON', 'CROND', 'crond'] as const;
const reopenMs = { first: 1_000, most: 300_000 } as const;

const sourceOf = ({ unit, identifier }: JournalEntry): LineSource | undefined => {
  if (identifier === 'systemd') return 'systemd';
  if (unit === 'containerd.service') return 'containerd';
  if (unit?.includes('kubelet') === true) return 'kubelet';
  return identifier !== undefined && /^cron/i.test(identifier) ? 'cron' : undefined;
};

export class JournalLog {
  readonly #host: NodeHost;
  #reader: LogReader | undefined;
  #cursor: string | undefined;
  #failure: string | undefined;
  #failures = 0;
  #reopenAt: EpochMs = epochMs(0);

  constructor(host: NodeHost, cursor: string | undefined) {
    this.#host = host;
    this.#cursor = cursor;
  }

  get failure(): string | undefined {
    return this.#failure;
  }
  get cursor(): string | undefined {
    return this.#cursor;
  }

  async read(max: number, now: EpochMs): Promise<readonly SourcedLine[]> {
    try {
      if (this.#reader === undefined) {
        if (now < this.#reopenAt) return [];
        const after = this.#cursor === undefined ? {} : { afterCursor: this.#cursor };
        this.#reader = await this.#host.openJournal({ units, identifiers, ...after });
      }
      const { entries } = this.#reader.read(max);
      if (entries.length > 0) this.#failures = 0;
      this.#failure = undefined;
      return entries.flatMap((line) => this.#lineOf(line));
    } catch (error) {
      if (!(error instanceof NodeHostError)) throw error;
      this.close();
      this.#failure = error.message;
      const wait = Math.min(reopenMs.most, reopenMs.first * 2 ** Math.min(this.#failures, 10));
      this.#failures += 1;
      this.#reopenAt = epochMs(now + wait);
      return [];
    }
  }

  close(): void {
    this.#reader?.close();
    this.#reader = undefined;
  }

  #lineOf(line: string): readonly SourcedLine[] {
    const entry = parseJournalEntry(line);
    if (entry === undefined) return [];
    this.#cursor = entry.cursor;
    const source = sourceOf(entry);
    if (source === undefined) return [];
    return [{ source, text: entry.text, at: epochMs(Math.floor(entry.micros / 1000)) }];
  }
}
