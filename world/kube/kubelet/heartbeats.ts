// Which kubelets are alive, without an event per heartbeat: a running kubelet counts as having just
// renewed its lease, a stopped one as having renewed it when it stopped. Stored as kernel rows, not
// as leases: simulating each renewal made up 58 % of all events.
import type { JsonObject } from '../../../src/api/json.ts';
import type { Kernel, Micros, Table } from '../../kernel/index.ts';

interface Row extends JsonObject {
  readonly instanceId: string;
  readonly stoppedAt?: Micros;
}

const known = new WeakMap<Kernel, Heartbeats>();

export class Heartbeats {
  /** The instance of this world: kubelets write it, the control plane's monitors read it. */
  static of(kernel: Kernel): Heartbeats {
    const one = known.get(kernel) ?? new Heartbeats(kernel);
    known.set(kernel, one);
    return one;
  }

  readonly #table: Table<Row>;
  readonly #stopped = new Set<string>();
  readonly #listeners: (() => void)[] = [];

  private constructor(kernel: Kernel) {
    this.#table = kernel.tables.open<Row>('kube.heartbeats');
    for (const [name, row] of this.#table.entries()) {
      if (row.stoppedAt !== undefined) this.#stopped.add(name);
    }
  }

  beat(nodeName: string, instanceId: string): void {
    const row = this.#table.get(nodeName);
    if (row?.instanceId === instanceId && row.stoppedAt === undefined) return;
    this.#table.put(nodeName, { instanceId });
    this.#stopped.delete(nodeName);
  }

  stop(nodeName: string, at: Micros): void {
    const row = this.#table.get(nodeName);
    if (row === undefined || row.stoppedAt !== undefined) return;
    this.#table.put(nodeName, { ...row, stoppedAt: at });
    this.#stopped.add(nodeName);
    for (const listener of this.#listeners) listener();
  }

  /** Called when a kubelet stops, so that monitors can stay idle until then. */
  onStop(listener: () => void): void {
    this.#listeners.push(listener);
  }

  forget(nodeName: string): void {
    this.#table.delete(nodeName);
    this.#stopped.delete(nodeName);
  }

  /** The last heartbeat of a simulated kubelet, `now` while it runs; undefined for any other. */
  last(nodeName: string, now: Micros): Micros | undefined {
    const row = this.#table.get(nodeName);
    return row === undefined ? undefined : (row.stoppedAt ?? now);
  }

  /** Number of kubelets that have registered and not been forgotten. */
  get size(): number {
    return this.#table.size;
  }

  /** Nodes whose kubelet has stopped. Usually few, so a monitor may iterate over them. */
  get stopped(): ReadonlySet<string> {
    return this.#stopped;
  }
}
