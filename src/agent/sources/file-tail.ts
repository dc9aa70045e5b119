// Tails log files of the VPC CNI and kube-proxy. Looks for files anew each time: restarted pods
// write other files.
import type { EpochMs } from '../../api/brand.ts';
import { maxLineLength } from '../../formats/node-health/index.ts';
import { type NodeHost, NodeHostError } from '../../ports/index.ts';
import type { LineSource } from '../rules/rule.ts';
import type { SourcedLine } from './journal.ts';

interface Tailed {
  readonly source: LineSource;
  readonly directory: string;
  readonly isOf: (name: string) => boolean;
}

const tailed: readonly Tailed[] = [
  {
    source: 'ipamd',
    directory: '/var/log/aws-routed-eni',
    isOf: (name) => name === 'ipamd.log',
  },
  {
    source: 'kube-proxy',
    directory: '/var/log/containers',
    isOf: (name) => name.startsWith('kube-proxy-') && name.endsWith('.log'),
  },
];

const maxBytes = 256 * 1024;
/** Maximum number of files of one kind; the newest names win. */
const maxFiles = 4;

interface Place {
  readonly id: string;
  readonly offset: number;
  readonly rest: string;
}

export class FileTails {
  readonly #host: NodeHost;
  readonly #places = new Map<string, Place>();
  /** A file that existed at the start is read from its end: its past is already reported. */
  #isFirst = true;

  constructor(host: NodeHost) {
    this.#host = host;
  }

  async read(now: EpochMs): Promise<readonly SourcedLine[]> {
    const lines: SourcedLine[] = [];
    for (const { source, directory, isOf } of tailed) {
      for (const text of await this.#linesIn(directory, isOf))
        lines.push({ source, text, at: now });
    }
    this.#isFirst = false;
    return lines;
  }

  async #linesIn(directory: string, isOf: (name: string) => boolean): Promise<readonly string[]> {
    try {
      const names = (await this.#host.list(directory)).filter(isOf).slice(-maxFiles);
      const lines: string[] = [];
      for (const name of names) lines.push(...(await this.#linesOf(`${directory}/${name}`)));
      return lines;
    } catch (error) {
      if (!(error instanceof NodeHostError)) throw error;
      return [];
    }
  }

  async #linesOf(path: string): Promise<readonly string[]> {
    const before = this.#places.get(path);
    const offset = before?.offset ?? 0;
    let part = await this.#host.readFrom(path, { offset, maxBytes });
    if (part === undefined) return [];
    if (before === undefined && this.#isFirst) {
      this.#places.set(path, { id: part.id, offset: part.size, rest: '' });
      return [];
    }
    const isSame = before !== undefined && part.id === before.id && part.size >= before.offset;
    if (before !== undefined && !isSame) {
      part = await this.#host.readFrom(path, { offset: 0, maxBytes });
      if (part === undefined) return [];
    }
    const lines = `${isSame ? before.rest : ''}${part.text}`.split('\n');
    const rest = (lines.pop() ?? '').slice(-maxLineLength);
    this.#places.set(path, { id: part.id, offset: part.end, rest });
    return lines.map((line) => line.slice(0, maxLineLength));
  }
}
