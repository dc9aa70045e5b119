// All simulated kubelets as one actor: the cloud powers machines on and off; they boot in steps,
// register, run pods and stop reporting under faults. Implements MachineHost.

import { epochMs, formatKubeTime } from '../../../src/api/brand.ts';
import { defined } from '../../../src/api/defined.ts';
import type {
  JoinGate,
  JoinRefusal,
  Machine,
  MachineHost,
  MachineRegistry,
  WorldKube,
} from '../../contracts.ts';
import type { Faults } from '../../faults/index.ts';
import {
  type Actor,
  type Kernel,
  type Micros,
  microsPerMs,
  microsPerSecond,
  type WorldEvent,
} from '../../kernel/index.ts';
import { type Latency, resources, Ticker, Worker } from '../actors/index.ts';
import { bootSteps, consoleLines, expelledLines, networkReadyMs } from './boot.ts';
import { Heartbeats } from './heartbeats.ts';
import { type Host, Hosts, nodeNameOf } from './hosts.ts';
import type { NodeRelease } from './machine-facts.ts';
import { leasePeriodMicros, NodeAgent, statusPeriodMicros } from './node-agent.ts';
import { PodRunner } from './pod-runner.ts';
import { anySilences, isSilenced } from './silence.ts';

export interface KubeletsOptions {
  /** The cluster's version in EKS form; default v1.32.9-eks-113cf36. */
  readonly version?: string;
  /** The release in an image, when it differs from the cluster's version. */
  readonly releaseOf?: (imageId: string) => NodeRelease | undefined;
  /** Which nodes the cluster authorizes; default: all. */
  readonly gate?: JoinGate;
  /** False disables core/v1 Events: large simulations do not read them. */
  readonly events?: boolean;
  /**
   * written: every running kubelet renews its Lease object every 10 s, as real ones do. implied
   * (the default above `writtenLeaseLimit` nodes): liveness is kept outside the API. The Lease is
   * written at registration, with the node's status every 5 minutes, and when the kubelet stops.
   */
  readonly leases?: 'written' | 'implied';
  readonly latency?: Latency;
}

const defaultVersion = 'v1.32.9-eks-113cf36';
/** Above this number of nodes, renewals would be most of a world's events and are implied. */
const writtenLeaseLimit = 50;
/** With explicitly implied leases, status writes without changes are rare too. */
const rareStatusMicros = 4 * statusPeriodMicros;
/** How soon a kubelet notices a fault that begins or ends. */
const faultCheckMicros = microsPerSecond;
const registerRetryMicros = 2 * microsPerSecond;

export class Kubelets implements MachineHost, Actor {
  readonly name = 'kube.kubelets';
  readonly hosts: Hosts;
  readonly heartbeats: Heartbeats;
  readonly #kernel: Kernel;
  readonly #faults: Faults;
  readonly #leases: 'written' | 'implied' | undefined;
  readonly #agent: NodeAgent;
  readonly #pods: PodRunner;
  readonly #worker: Worker;
  readonly #gate: JoinGate;
  /** aws-auth has changed since the last check. */
  #gateChanged = false;
  readonly #faultCheck: Ticker;

  constructor(options: {
    readonly kernel: Kernel;
    readonly kube: WorldKube;
    readonly machines: MachineRegistry;
    readonly faults: Faults;
    readonly options?: KubeletsOptions;
  }) {
    const { kernel, kube, faults } = options;
    const more = options.options ?? {};
    this.#kernel = kernel;
    this.#faults = faults;
    this.#leases = more.leases;
    this.#gate = more.gate ?? (() => undefined);
    this.heartbeats = Heartbeats.of(kernel);
    this.hosts = new Hosts({
      kernel,
      kube,
      faults,
      version: more.version ?? defaultVersion,
      events: more.events ?? true,
      ...defined({ releaseOf: more.releaseOf }),
    });
    const { hosts, heartbeats } = this;
    this.#agent = new NodeAgent({ kernel, kube, hosts, heartbeats });
    const actor = this.name;
    const { machines } = options;
    this.#pods = new PodRunner({ kernel, kube, hosts, machines, faults, actor });
    kernel.register(this);
    this.#worker = new Worker({
      kernel,
      name: 'kubelet',
      reconcile: (key) => this.#pods.sync(key),
      ...defined({ latency: more.latency }),
    });
    kube.onChange(resources.pods, (change) => {
      if (this.#pods.concerns(change)) this.#mark(change.object);
    });
    new Ticker({
      kernel,
      name: 'kubelets.leases',
      periodMicros: leasePeriodMicros,
      tick: () => this.#renewLeases(),
    });
    new Ticker({
      kernel,
      name: 'kubelets.prune',
      periodMicros: statusPeriodMicros,
      tick: () => hosts.prune((id) => isGone(machines.instanceState(id))),
    });
    this.#faultCheck = new Ticker({
      kernel,
      name: 'kubelets.faults',
      periodMicros: faultCheckMicros,
      tick: () => this.#checkFaults(),
      isNeeded: () => this.#gateChanged || this.#faults.list().length > 0 || this.#anyHeld(),
    });
    this.#faults.onInject(() => this.#faultCheck.wake());
    this.heartbeats.onStop(() => this.#faultCheck.wake());
    kube.onChange(resources.configmaps, ({ object: { metadata } }) => {
      if (metadata.name === 'aws-auth' && metadata.namespace === 'kube-system') this.lookAgain();
    });
  }

  /** After a restart: every running kubelet resyncs its pods. */
  resume(): void {
    this.lookAgain();
    for (const host of this.hosts.all()) {
      if (this.hosts.alive(host)) for (const key of this.#pods.keysOn(host)) this.#worker.mark(key);
    }
  }

  powerOn(machine: Machine): void {
    this.#boot(this.hosts.powerOn(machine));
  }

  powerOff(instanceId: string): void {
    const host = this.hosts.get(instanceId);
    if (host === undefined || host.phase === 'off') return;
    this.#silence(host);
    this.#pods.powerOff(instanceId);
    this.hosts.powerOff(host);
    this.hosts.print(instanceId, ['[power] machine stopped']);
  }

  reboot(instanceId: string): void {
    const host = this.hosts.get(instanceId);
    if (host === undefined || host.phase === 'off') return;
    this.#silence(host);
    this.#pods.reboot(instanceId);
    this.hosts.print(instanceId, ['[power] machine restarted']);
    this.#boot(this.hosts.powerOn(host.machine));
  }

  consoleOutput(instanceId: string): string {
    return this.hosts.get(instanceId)?.console ?? '';
  }

  handle(event: WorldEvent): void {
    if (event.kind.startsWith('pod-')) {
      this.#pods.handle(event);
      return;
    }
    const host = this.hosts.get(String(event.args.instance));
    if (host === undefined || host.boot !== event.args.boot || host.phase === 'off') return;
    switch (event.kind) {
      case 'boot':
        this.#bootStep(host, Number(event.args.step));
        return;
      case 'register':
        this.#register(host);
        return;
      case 'network':
        this.#networkReady(host);
        return;
      case 'status':
        this.#status(host);
        return;
    }
  }

  #boot(host: Host): void {
    this.#scheduleStep(host, 0);
  }

  #scheduleStep(host: Host, step: number): void {
    const { minMs = 0, maxMs = 0 } = bootSteps[step] ?? {};
    const ms = minMs + this.#kernel.random('kube.boot').below(maxMs - minMs + 1);
    this.#later(ms * microsPerMs, 'boot', host, step);
  }

  #bootStep(host: Host, index: number): void {
    const step = bootSteps[index];
    if (step === undefined) return;
    const { machine } = host;
    const { instanceId } = machine;
    const joins = machine.joins && !this.#faults.active('never-join', this.hosts.place(host));
    const refusal = this.#refusalOf(machine, joins);
    const release = this.hosts.release(host);
    const seconds = this.#upSeconds(host);
    const lines = consoleLines(step.name, machine, {
      release,
      seconds,
      at: this.#stamp(),
      refusal,
    });
    this.hosts.print(instanceId, lines);
    const isBroken = refusal?.kind === 'unknownCluster' || refusal?.kind === 'userData';
    if (step.name === 'bootstrap' && isBroken) {
      this.hosts.set(this.hosts.get(instanceId) ?? host, { phase: 'failed' });
      return;
    }
    if (index + 1 < bootSteps.length) {
      this.#scheduleStep(host, index + 1);
      return;
    }
    const current = this.hosts.get(instanceId) ?? host;
    if (refusal !== undefined) {
      this.hosts.set(current, { phase: joins ? 'refused' : 'failed' });
      return;
    }
    this.#register(this.hosts.set(current, { phase: 'running' }));
  }

  #refusalOf(machine: Machine, joins: boolean): JoinRefusal | undefined {
    const { bootstrapFault, instanceId } = machine;
    if (bootstrapFault !== undefined) return { kind: 'userData', fault: bootstrapFault };
    return joins ? this.#gate(instanceId) : { kind: 'unauthorized' };
  }

  #stamp(): string {
    return formatKubeTime(epochMs(Math.floor(this.#kernel.now() / microsPerMs)));
  }

  #upSeconds(host: Host): number {
    return (this.#kernel.now() - host.poweredAt) / microsPerSecond;
  }

  /** Call when the set of authorized nodes may have changed. */
  lookAgain(): void {
    this.#gateChanged = true;
    this.#faultCheck.wake();
  }

  /**
   * A refused node joins once it is authorized. A node whose authorization is revoked stops
   * reporting until it is authorized again.
   */
  #lookAtGate(): void {
    this.#gateChanged = false;
    for (const host of [...this.hosts.all()]) {
      if (host.phase !== 'refused' && host.phase !== 'running') continue;
      const { machine } = host;
      const refusal = this.#gate(machine.instanceId);
      if (host.phase === 'refused') {
        if (refusal !== undefined) continue;
        const release = this.hosts.release(host);
        const more = { release, seconds: this.#upSeconds(host), at: this.#stamp(), refusal };
        this.hosts.print(machine.instanceId, consoleLines('kubelet', machine, more));
        const current = this.hosts.get(machine.instanceId) ?? host;
        this.#register(this.hosts.set(current, { phase: 'running' }));
      } else if ((host.expelled === true) !== (refusal !== undefined)) {
        this.hosts.set(host, { expelled: refusal !== undefined });
        if (refusal === undefined) continue;
        const lines = expelledLines(machine, this.#upSeconds(host), refusal);
        this.hosts.print(machine.instanceId, lines);
      }
    }
  }

  #register(host: Host): void {
    if (!this.hosts.alive(host)) return;
    if (!this.#agent.register(host)) {
      this.#later(registerRetryMicros, 'register', host);
      return;
    }
    this.hosts.set(host, { registered: true });
    const { min, max } = networkReadyMs;
    const ms = min + this.#kernel.random('kube.boot').below(max - min + 1);
    this.#later(ms * microsPerMs, 'network', host);
    for (const key of this.#pods.keysOn(host)) this.#worker.mark(key);
    this.#pods.resumeOn(host);
  }

  #networkReady(host: Host): void {
    if (!this.hosts.alive(host)) return;
    if (!this.#agent.report(host, true)) {
      this.#later(registerRetryMicros, 'network', host);
      return;
    }
    this.#later(this.#statusPeriod(), 'status', host);
  }

  #statusPeriod(): number {
    return this.#leases === 'implied' ? rareStatusMicros : statusPeriodMicros;
  }

  #status(host: Host): void {
    this.#later(this.#statusPeriod(), 'status', host);
    if (!this.hosts.alive(host) || !host.registered) return;
    this.#agent.report(host, true);
    if (this.#leaseMode() === 'implied') this.#agent.renewLease(host);
  }

  #leaseMode(): 'written' | 'implied' {
    return this.#leases ?? (this.heartbeats.size > writtenLeaseLimit ? 'implied' : 'written');
  }

  #renewLeases(): void {
    if (this.#leaseMode() === 'implied') return;
    for (const host of this.hosts.all()) {
      if (this.hosts.alive(host) && host.registered) this.#agent.renewLease(host);
    }
  }

  /** Silences the kubelet of this machine; its last lease renewal is the current time. */
  #silence(host: Host): void {
    if (this.hosts.alive(host) && host.registered) {
      // The grace period counts from the stop; a real last renewal is up to 10 s older.
      this.#agent.renewLease(host);
      this.heartbeats.stop(nodeNameOf(host), this.#kernel.now());
    }
  }

  #checkFaults(): void {
    const any = anySilences(this.#faults);
    const gateChanged = this.#gateChanged;
    if (gateChanged) this.#lookAtGate();
    if (!any && !gateChanged && !this.#anyHeld()) return;
    for (const host of [...this.hosts.all()]) {
      if (host.phase !== 'running') continue;
      const place = this.hosts.place(host);
      const hold =
        host.expelled === true || (any && isSilenced(this.#faults, place, this.#kernel.now()));
      if (hold && !host.held) this.#hold(host);
      if (!hold && host.held) this.#letGo(host);
    }
  }

  #anyHeld(): boolean {
    return this.heartbeats.stopped.size > 0;
  }

  #hold(host: Host): void {
    this.#silence(host);
    this.hosts.set(host, { held: true });
  }

  #letGo(host: Host): void {
    // A new boot number invalidates events of the earlier boot, including status updates.
    this.#register(this.hosts.set(host, { held: false, boot: host.boot + 1 }));
  }

  #mark(object: {
    readonly metadata: { readonly name: string; readonly namespace?: string };
  }): void {
    this.#worker.mark(`${object.metadata.namespace ?? ''}/${object.metadata.name}`);
  }

  #later(afterMicros: Micros, kind: string, host: Host, step?: number): void {
    this.#kernel.schedule({
      afterMicros,
      actor: this.name,
      kind,
      args: {
        instance: host.machine.instanceId,
        boot: host.boot,
        ...defined({ step }),
      },
    });
  }
}

const isGone = (state: ReturnType<MachineRegistry['instanceState']>): boolean =>
  state === 'terminated' || state === 'unknown';

/** The Kubernetes side of machines: pass it to EC2 as its MachineHost. */
export const createKubelets = (options: {
  readonly kernel: Kernel;
  readonly kube: WorldKube;
  readonly machines: MachineRegistry;
  readonly faults: Faults;
  readonly options?: KubeletsOptions;
}): Kubelets => new Kubelets(options);
