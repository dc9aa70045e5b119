// The machines that kubelets run on: rows that survive a restart, which kubelets may communicate,
// and lookups. Never calls the API server.
import type { JsonObject } from '../../../src/api/json.ts';
import type { Machine, WorldClient, WorldKube } from '../../contracts.ts';
import type { Faults } from '../../faults/index.ts';
import { type Kernel, microsPerSecond, type Table, uuid } from '../../kernel/index.ts';
import { EventMemory, EventRecorder, kubeletIdentity } from '../actors/index.ts';
import { amazonLinux2, groupOf, type NodeRelease } from './machine-facts.ts';

export interface Host extends JsonObject {
  readonly machine: Machine;
  /**
   * booting: starting up; running: kubelet alive; refused: waits to be authorized; failed: never
   * joins; off: powered off.
   */
  readonly phase: 'booting' | 'running' | 'refused' | 'failed' | 'off';
  /** Counts power-ons and reboots; events of an earlier boot are ignored. */
  readonly boot: number;
  readonly bootId: string;
  readonly machineId: string;
  /** When it was last switched on or off. */
  readonly poweredAt: number;
  readonly registered: boolean;
  /** A fault stops the kubelet. */
  readonly held: boolean;
  /** The cluster revoked the node's authorization, which also silences its kubelet. */
  readonly expelled?: boolean;
  readonly console: string;
  /** Images on its disk. */
  readonly images: readonly string[];
}

/** Bytes of console output that EC2 keeps. */
const consoleLimit = 64 * 1024;
/** EC2 forgets a terminated instance and its console after about an hour. */
const keptOffMicros = 3600 * microsPerSecond;

/** Events remembered for all kubelets together: four times client-go's limit per recorder. */
const rememberedEvents = 16_384;

export interface HostsOptions {
  readonly kernel: Kernel;
  readonly kube: WorldKube;
  readonly faults: Faults;
  /** The cluster's version in EKS form; machines run it unless `releaseOf` says otherwise. */
  readonly version: string;
  readonly releaseOf?: (imageId: string) => NodeRelease | undefined;
  readonly events: boolean;
}

export class Hosts {
  readonly #options: HostsOptions;
  readonly #table: Table<Host>;
  readonly #byNode = new Map<string, string>();
  readonly #clients = new Map<string, WorldClient>();
  readonly #recorders = new Map<string, EventRecorder>();
  readonly #told = new EventMemory(rememberedEvents);

  constructor(options: HostsOptions) {
    this.#options = options;
    this.#table = options.kernel.tables.open<Host>('kube.hosts');
    for (const [id, host] of this.#table.entries()) {
      if (host.phase !== 'off') this.#byNode.set(nodeNameOf(host), id);
    }
  }

  get(instanceId: string): Host | undefined {
    return this.#table.get(instanceId);
  }

  all(): Iterable<Host> {
    return this.#table.values();
  }

  onNode(nodeName: string): Host | undefined {
    const id = this.#byNode.get(nodeName);
    return id === undefined ? undefined : this.#table.get(id);
  }

  set(host: Host, change: Partial<Host>): Host {
    const next = { ...host, ...change };
    this.#table.put(host.machine.instanceId, next);
    return next;
  }

  powerOn(machine: Machine): Host {
    const random = this.#options.kernel.random('kube.hosts');
    const known = this.#table.get(machine.instanceId);
    const host: Host = {
      machine,
      phase: 'booting',
      boot: (known?.boot ?? 0) + 1,
      bootId: uuid(random),
      machineId: known?.machineId ?? uuid(random).replaceAll('-', ''),
      poweredAt: this.#options.kernel.now(),
      registered: known?.registered ?? false,
      held: false,
      console: known?.console ?? '',
      images: known?.images ?? [],
    };
    this.#table.put(machine.instanceId, host);
    this.#byNode.set(nodeNameOf(host), machine.instanceId);
    return host;
  }

  powerOff(host: Host): void {
    this.set(host, { phase: 'off', held: false, poweredAt: this.#options.kernel.now() });
    this.#forgetNode(host);
  }

  /** Removes machines that have been off for an hour and no longer exist in the cloud. */
  prune(isGone: (instanceId: string) => boolean): void {
    const limit = this.#options.kernel.now() - keptOffMicros;
    for (const [id, host] of [...this.#table.entries()]) {
      if (host.phase === 'off' && host.poweredAt < limit && isGone(id)) this.#table.delete(id);
    }
  }

  print(instanceId: string, lines: readonly string[]): void {
    const host = this.#table.get(instanceId);
    if (host === undefined) return;
    const text = `${host.console}${lines.join('\n')}\n`;
    this.set(host, { console: text.slice(-consoleLimit) });
  }

  /** Only a running kubelet without a fault reads or writes. */
  alive(host: Host): boolean {
    return host.phase === 'running' && !host.held;
  }

  place(host: Host): { readonly node: string; readonly zone: string; readonly group?: string } {
    const group = groupOf(host.machine);
    const place = { node: nodeNameOf(host), zone: host.machine.zone };
    return group === undefined ? place : { ...place, group };
  }

  release(host: Host): NodeRelease {
    return this.#options.releaseOf?.(host.machine.imageId) ?? amazonLinux2(this.#options.version);
  }

  client(host: Host): WorldClient {
    const name = nodeNameOf(host);
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    const identity = kubeletIdentity(name, this.release(host).kubeletVersion);
    const client = this.#options.kube.as(identity);
    this.#clients.set(name, client);
    return client;
  }

  recorder(host: Host): EventRecorder {
    const name = nodeNameOf(host);
    const known = this.#recorders.get(name);
    if (known !== undefined) return known;
    const recorder = new EventRecorder({
      kernel: this.#options.kernel,
      client: this.client(host),
      component: 'kubelet',
      host: name,
      enabled: this.#options.events,
      memory: this.#told,
    });
    this.#recorders.set(name, recorder);
    return recorder;
  }

  #forgetNode(host: Host): void {
    const name = nodeNameOf(host);
    // A newer machine may already have the same node name.
    if (this.#byNode.get(name) === host.machine.instanceId) this.#byNode.delete(name);
    this.#clients.delete(name);
    this.#recorders.delete(name);
  }
}

/** The machine of a powered-on instance, for callers that do not trust the Node's status. */
export const machineOf = (kernel: Kernel, instanceId: string): Machine | undefined => {
  const host = kernel.tables.open<Host>('kube.hosts').get(instanceId);
  return host === undefined || host.phase === 'off' ? undefined : host.machine;
};

export const nodeNameOf = (host: Host): string => host.machine.privateDnsName;
