// The registry of active faults. The parts of the world call `active` at the point where a fault
// takes effect; this file only stores the faults. It never decides what a fault does.
import type { JsonObject } from '../../src/api/json.ts';
import type { Fault } from '../contracts.ts';
import type { Kernel, Micros, Table } from '../kernel/index.ts';

export type TargetKey = 'node' | 'zone' | 'subnet' | 'group' | 'type' | 'fault';

type Place = Readonly<Partial<Record<TargetKey, string>>>;

/** Every kind that `drover world inject` offers: its effect, and its possible targets. */
export const faultKinds = {
  'kubelet-stop': {
    what: 'the kubelet stops; its lease and pods go stale',
    targets: ['node', 'group'],
  },
  'iptables-drop': {
    what: 'iptables drops packets to 169.254.169.254; the kubelet falls silent with its token',
    targets: ['node', 'group'],
  },
  'kernel-fault': {
    what: 'the kernel logs a fault: io-error, read-only, soft-lockup or xid',
    targets: ['fault', 'node', 'group'],
  },
  'slow-termination': {
    what: 'pods ignore SIGTERM and use their whole grace',
    targets: ['node', 'group'],
  },
  'stuck-termination': { what: 'pods never stop', targets: ['node', 'group'] },
  'never-join': { what: 'new instances boot but never register', targets: ['group', 'zone'] },
  'no-capacity': { what: 'launches fail for want of capacity', targets: ['group', 'zone', 'type'] },
  'vcpu-quota': {
    what: "the account's vCPU quota is what is in use when this is switched on",
    targets: [],
  },
  'no-addresses': { what: 'the subnet has no address left', targets: ['subnet'] },
  'instance-death': { what: 'the instance stops at once, without a notice', targets: ['node'] },
  'instance-impaired': {
    what: "EC2's instance status check fails",
    targets: ['node', 'group', 'zone'],
  },
  'system-impaired': {
    what: "EC2's system status check fails: hardware or network of the host",
    targets: ['node', 'group', 'zone'],
  },
  'spot-interruption': {
    what: 'a two-minute spot notice, then the end of a spot instance',
    targets: ['node'],
  },
  'instance-retirement': {
    what: 'EC2 schedules the retirement of the instance, in two weeks',
    targets: ['node'],
  },
  'system-reboot': {
    what: "EC2 schedules a reboot of the instance's host, in a week",
    targets: ['node'],
  },
  rebalance: { what: 'a rebalance recommendation', targets: ['node'] },
  'message-loss': { what: 'lifecycle messages are lost', targets: ['group'] },
  'message-duplicate': { what: 'lifecycle messages arrive two to four times', targets: ['group'] },
  'message-delay': { what: 'lifecycle messages arrive late and out of order', targets: ['group'] },
  'message-malformed': {
    what: 'foreign and broken messages arrive among the real ones',
    targets: ['group'],
  },
  'api-errors': { what: 'one in five Kubernetes API writes of controllers fails', targets: [] },
  'cloud-errors': { what: 'one in five AWS calls fails or is throttled', targets: [] },
} as const satisfies Readonly<
  Record<string, { readonly what: string; readonly targets: readonly TargetKey[] }>
>;
export type FaultKind = keyof typeof faultKinds;

export const isFaultKind = (kind: string): kind is FaultKind => Object.hasOwn(faultKinds, kind);

export class Faults {
  readonly #table: Table<Fault>;
  readonly #kernel: Kernel;
  readonly #listeners: (() => void)[] = [];
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#table = kernel.tables.open<Fault>('faults');
  }

  /** Turns a fault on and returns it. An empty target means everywhere. */
  inject(kind: FaultKind, target: Place): Fault {
    const id = `f${this.#table.size + 1}-${this.#kernel.now()}`;
    const fault: Fault = { id, kind, target: { ...target }, since: this.#kernel.now() };
    this.#table.put(id, fault);
    for (const listener of this.#listeners) listener();
    return fault;
  }

  /** Called after each injection, for parts that poll faults only while there are some. */
  onInject(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Turns off all faults of `kind`, or all faults; returns their number. */
  clear(kind?: FaultKind): number {
    const doomed = this.list().filter((fault) => kind === undefined || fault.kind === kind);
    for (const fault of doomed) this.#table.delete(fault.id);
    return doomed.length;
  }

  list(): readonly Fault[] {
    return [...this.#table.values()];
  }

  /** Whether a fault of `kind` covers this place. A fault without a target covers all places. */
  active(kind: FaultKind, place: Place = {}): boolean {
    return this.activeSince(kind, place) !== undefined;
  }

  /** Start of the oldest fault of `kind` that covers this place. */
  activeSince(kind: FaultKind, place: Place = {}): Micros | undefined {
    return this.covering(kind, place)[0]?.since;
  }

  /** Faults of `kind` that cover this place, oldest first. */
  covering(kind: FaultKind, place: Place = {}): readonly Fault[] {
    const found: Fault[] = [];
    for (const fault of this.#table.values()) {
      if (fault.kind !== kind) continue;
      const wanted: [string, unknown][] = Object.entries(fault.target as JsonObject);
      if (wanted.every(([key, value]) => place[key as TargetKey] === value)) found.push(fault);
    }
    return found.length < 2 ? found : found.sort((a, b) => a.since - b.since);
  }
}
