// NodeHost for a simulated node: what node agents read from its machine and the active faults.
// Created only when an agent runs on the node. Changes only the agent's own record.
import type { JsonObject } from '../../../src/api/json.ts';
import {
  type KernelLogReader,
  type NodeHost,
  NodeHostError,
  type ProgramOutcome,
  type WriteProbe,
} from '../../../src/ports/index.ts';
import { type Faults, isKernelFault, kernelFaults } from '../../faults/index.ts';
import { type Kernel, microsPerSecond, type Table } from '../../kernel/index.ts';
import type { Host, Hosts } from './hosts.ts';
import { filesOf, type NodeCondition, programOf } from './node-files.ts';

interface AgentRecord extends JsonObject {
  readonly text: string;
}

interface KernelRecord {
  /** Microseconds since boot, which also number the records, so that they survive a restart. */
  readonly micros: number;
  readonly facility: number;
  readonly text: string;
}

export interface NodeHostParts {
  readonly kernel: Kernel;
  readonly faults: Faults;
  readonly hosts: Hosts;
}

const healthz = 'http://127.0.0.1:10248/healthz';
const dataDirectory = '/var/lib/containerd';
/** Number of lines kept that user space wrote to the kernel log; an agent reads its own at once. */
const keptMarkers = 4;
const kernelFaultNames = Object.keys(kernelFaults).filter(isKernelFault);
const encoder = new TextEncoder();
const noLines = { read: () => ({ entries: [], lost: 0 }), close: () => undefined };

class SimulatedHost implements NodeHost {
  readonly #parts: NodeHostParts;
  readonly #instanceId: string;
  readonly #records: Table<AgentRecord>;
  #markers: readonly KernelRecord[] = [];

  constructor(parts: NodeHostParts, instanceId: string) {
    this.#parts = parts;
    this.#instanceId = instanceId;
    this.#records = parts.kernel.tables.open<AgentRecord>('kube.agent-records');
    for (const [id] of [...this.#records.entries()]) {
      if (parts.hosts.get(id) === undefined) this.#records.delete(id);
    }
  }

  async read(path: string): Promise<string | undefined> {
    return this.#files().get(path);
  }
  async readBytes(path: string): Promise<Uint8Array | undefined> {
    const text = this.#files().get(path);
    return text === undefined ? undefined : encoder.encode(text);
  }
  async list(directory: string): Promise<readonly string[]> {
    const before = directory === '/' ? '/' : `${directory}/`;
    const names = [...this.#files().keys()]
      .filter((path) => path.startsWith(before))
      .map((path) => path.slice(before.length).split('/')[0] ?? '');
    return [...new Set(names)].sort();
  }
  async readFrom(): Promise<undefined> {
    return undefined;
  }
  async run(program: string): Promise<ProgramOutcome> {
    return programOf(program, this.#condition());
  }
  async openKernelLog({ afterSequence = -1 }: { readonly afterSequence?: number }) {
    let last = afterSequence;
    const reader: KernelLogReader = {
      source: 'kmsg',
      read: (max) => {
        const records = this.#kernelRecords()
          .filter(({ micros }) => micros > last)
          .slice(0, max);
        last = records.at(-1)?.micros ?? last;
        const entries = records.map(
          ({ micros, facility, text }) => `${facility * 8 + 4},${micros},${micros},-;${text}\n`,
        );
        return { entries, lost: 0 };
      },
      close: () => undefined,
    };
    return reader;
  }
  async openJournal() {
    return noLines;
  }
  async writeKernelLog(text: string): Promise<void> {
    const micros = this.#parts.kernel.now() - this.#host().poweredAt;
    this.#markers = [...this.#markers, { micros, facility: 1, text }].slice(-keptMarkers);
  }
  async httpGet(url: string): Promise<{ readonly status: number; readonly body: string }> {
    if (url === healthz && !this.#condition().isKubeletStopped) return { status: 200, body: 'ok' };
    throw new NodeHostError('unreachable', `GET ${url}`);
  }
  async tryWrite(directory: string): Promise<WriteProbe> {
    return directory === dataDirectory && this.#condition().isDataReadOnly
      ? 'read-only'
      : 'written';
  }
  async readRecord(): Promise<string | undefined> {
    return this.#records.get(this.#instanceId)?.text;
  }
  async writeRecord(text: string): Promise<void> {
    this.#records.put(this.#instanceId, { text });
  }

  /** Lines of the faults that began since this boot, and lines that user space wrote. */
  #kernelRecords(): readonly KernelRecord[] {
    const { faults, hosts } = this.#parts;
    const host = this.#host();
    const place = hosts.place(host);
    const said = kernelFaultNames.flatMap((fault, index) =>
      faults.covering('kernel-fault', { ...place, fault }).map(({ since }) => ({
        // Gives two lines of the same moment distinct numbers.
        micros: since - host.poweredAt + index,
        facility: 0,
        text: kernelFaults[fault],
      })),
    );
    return [...said.filter(({ micros }) => micros >= 0), ...this.#markers].sort(
      (a, b) => a.micros - b.micros,
    );
  }

  #files(): ReadonlyMap<string, string> {
    return filesOf(this.#host().machine, this.#condition());
  }

  #condition(): NodeCondition {
    const { kernel, faults, hosts } = this.#parts;
    const host = this.#host();
    const place = hosts.place(host);
    return {
      bootId: host.bootId,
      uptimeSeconds: (kernel.now() - host.poweredAt) / microsPerSecond,
      dropsMetadata: faults.active('iptables-drop', place),
      isDataReadOnly: faults.active('kernel-fault', { ...place, fault: 'read-only' }),
      isKubeletStopped: faults.active('kubelet-stop', place),
    };
  }

  #host(): Host {
    const host = this.#parts.hosts.get(this.#instanceId);
    if (host === undefined) throw new NodeHostError('missing', `machine ${this.#instanceId}`);
    return host;
  }
}

/** A powered-on machine, by the name of its node. */
export interface PoweredNode {
  readonly instanceId: string;
  /** Changes with each power-on and reboot. */
  readonly bootId: string;
}

export const poweredNode = (hosts: Hosts, nodeName: string): PoweredNode | undefined => {
  const host = hosts.onNode(nodeName);
  if (host === undefined || host.phase === 'off') return undefined;
  return { instanceId: host.machine.instanceId, bootId: host.bootId };
};

export const createSimulatedHost = (parts: NodeHostParts, instanceId: string): NodeHost =>
  new SimulatedHost(parts, instanceId);
