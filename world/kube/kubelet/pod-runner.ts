// Pods on simulated machines: sandbox and address, pull, start, readiness, stop, final delete.
// Every wait is a durable event, every lasting fact a row. Never decides placement.
import type { MachineRegistry, StoreChange, WorldKube } from '../../contracts.ts';
import type { Faults } from '../../faults/index.ts';
import {
  hexString,
  type Kernel,
  type Micros,
  microsPerSecond,
  type Table,
  type WorldEvent,
} from '../../kernel/index.ts';
import {
  asPod,
  isFinished,
  isTerminating,
  keyOf,
  kubeTime,
  nameOfKey,
  type Outcome,
  type PodView,
  resources,
} from '../actors/index.ts';
import { unstarted } from './debug-containers.ts';
import { type Host, type Hosts, nodeNameOf } from './hosts.ts';
import { endedAtDeadline, untilDeadline } from './pod-deadline.ts';
import { neededPull, type Pull } from './pod-images.ts';
import { PodNotes } from './pod-notes.ts';
import { exitCodeOf, restartMicros, sigtermExit } from './pod-restarts.ts';
import { newRow, type PodRow as Row, rebooted } from './pod-row.ts';
import { isReadyNow, podStatus } from './pod-status.ts';
import {
  annotatedMicros,
  mountTimeoutMicros,
  podAnnotations,
  readyMicros,
  sandboxMicros,
  sandboxRetrySeconds,
  startMicros,
  stopMicros,
  stuckCheckMicros,
  volumeCheckMicros,
  writeRetryMicros,
} from './pod-times.ts';
import { missingVolumes } from './pod-volumes.ts';
import { lacksWindowsAddress } from './pod-windows.ts';

/** A restart in place: the images exist and no time has been spent. */
const restarted = { pull: 'none', spentMicros: 0 } as const;

export class PodRunner {
  readonly actor: string;
  readonly #kernel: Kernel;
  readonly #kube: WorldKube;
  readonly #hosts: Hosts;
  readonly #machines: MachineRegistry;
  readonly #faults: Faults;
  readonly #notes: PodNotes;
  readonly #table: Table<Row>;
  readonly #byInstance = new Map<string, Set<string>>();

  /** Handlers by the kind of the due event. */
  readonly #steps: Readonly<Record<string, (host: Host, pod: PodView, row: Row) => void>> = {
    'pod-sandbox': (...of) => this.#sandbox(...of),
    'pod-start': (...of) => this.#start(...of),
    'pod-ready': (...of) => this.#ready(...of),
    'pod-finish': (...of) => this.#finish(...of),
    'pod-debug': (...of) => this.#debug(...of),
    'pod-deadline': (...of) => this.#deadline(...of),
    'pod-stop': (...of) => this.#stop(...of),
  };

  constructor(options: {
    readonly kernel: Kernel;
    readonly kube: WorldKube;
    readonly hosts: Hosts;
    readonly machines: MachineRegistry;
    readonly faults: Faults;
    readonly actor: string;
  }) {
    this.actor = options.actor;
    this.#kernel = options.kernel;
    this.#kube = options.kube;
    this.#hosts = options.hosts;
    this.#machines = options.machines;
    this.#faults = options.faults;
    this.#notes = new PodNotes(options.hosts);
    this.#table = options.kernel.tables.open<Row>('kube.podRuntime');
    for (const [uid, row] of this.#table.entries()) this.#index(row.instanceId, uid);
  }

  /** True when the kubelet acts on the change (not an echo of its own status). */
  concerns({ type, object, previous }: StoreChange): boolean {
    const pod = asPod(object);
    if (pod.spec.nodeName === undefined || pod.spec.nodeName === '') return false;
    if (type === 'DELETED') {
      this.release(pod.metadata.uid);
      return false;
    }
    if (!this.#table.has(pod.metadata.uid)) return !isFinished(pod);
    if (previous === undefined) return true;
    return (
      previous.metadata.deletionTimestamp !== pod.metadata.deletionTimestamp ||
      previous.metadata.deletionGracePeriodSeconds !== pod.metadata.deletionGracePeriodSeconds ||
      asPod(previous).spec !== pod.spec ||
      isReadyNow(asPod(previous)) !== isReadyNow(pod)
    );
  }

  /** Reconciles the pod; keys are `namespace/name`. */
  sync(key: string): Outcome {
    const object = this.#kube.read(resources.pods, nameOfKey(key));
    if (object === undefined) return undefined;
    const pod = asPod(object);
    const host = this.#hosts.onNode(pod.spec.nodeName ?? '');
    if (host === undefined || !this.#hosts.alive(host)) return undefined;
    const row = this.#table.get(pod.metadata.uid);
    if (isTerminating(pod)) return this.#terminate(host, pod, row);
    if (isFinished(pod)) {
      if (row !== undefined && row.stage !== 'finished') this.#freeAddress(pod.metadata.uid, row);
      return undefined;
    }
    if (row === undefined) return this.#begin(host, pod);
    if (pod.spec.activeDeadlineSeconds !== undefined)
      this.#later(0, 'pod-deadline', pod.metadata.uid);
    if (row.stage !== 'running') return undefined;
    if (unstarted(pod, row.debug).length > 0) {
      this.#later(startMicros(pod, this.#random(), restarted), 'pod-debug', pod.metadata.uid);
    }
    if (isReadyNow(pod) === row.ready) return undefined;
    return this.#write(host, pod, row) ? undefined : 'retry';
  }

  handle(event: WorldEvent): void {
    const uid = String(event.args.uid);
    const row = this.#table.get(uid);
    if (row === undefined) return;
    const host = this.#hosts.get(row.instanceId);
    // A stopped kubelet acts on nothing; when it resumes it resyncs all its pods.
    if (host === undefined || !this.#hosts.alive(host)) return;
    const object = this.#kube.read(resources.pods, nameOfKey(row.key));
    if (object === undefined || object.metadata.uid !== uid) {
      this.release(uid);
      return;
    }
    const pod = asPod(object);
    this.#steps[event.kind]?.(host, pod, row);
  }

  /** Keys of all pods on the node, to resync after a boot, a fault's end, a restart. */
  *keysOn(host: Host): Generator<string> {
    for (const object of this.#kube.podsOnNode(nodeNameOf(host))) yield keyOf(object);
  }

  /** Resumes work in progress when the kubelet stopped: its events fired and were ignored. */
  resumeOn(host: Host): void {
    for (const uid of this.#byInstance.get(host.machine.instanceId) ?? []) {
      const row = this.#table.get(uid);
      if (row === undefined) continue;
      if (row.stage === 'creating') this.#later(0, 'pod-sandbox', uid);
      if (row.stage === 'waiting') this.#later(0, 'pod-start', uid);
      if (row.stage === 'running' && !row.ready) this.#later(0, 'pod-ready', uid);
      if (row.stopAt !== undefined) this.#later(row.stopAt - this.#kernel.now(), 'pod-stop', uid);
    }
  }

  /** The machine lost power: its pods stop and their addresses are freed. */
  powerOff(instanceId: string): void {
    for (const uid of [...(this.#byInstance.get(instanceId) ?? [])]) this.release(uid);
  }

  /** After a reboot the containers restart in the same pod with new addresses. */
  reboot(instanceId: string): void {
    for (const uid of this.#byInstance.get(instanceId) ?? []) {
      const row = this.#table.get(uid);
      if (row?.stage !== 'running') continue;
      this.#freeAddress(uid, row);
      this.#table.put(uid, rebooted(row, kubeTime(this.#kernel.now())));
    }
  }

  release(uid: string): void {
    const row = this.#table.get(uid);
    if (row === undefined) return;
    if (row.address !== undefined) {
      this.#machines.releasePodAddress(row.instanceId, row.address);
    }
    this.#table.delete(uid);
    this.#byInstance.get(row.instanceId)?.delete(uid);
  }

  #begin(host: Host, pod: PodView): Outcome {
    const uid = pod.metadata.uid;
    const lacksAddress = lacksWindowsAddress(this.#kube, this.#hosts.release(host), pod);
    const row = newRow(host, pod, this.#kernel.now(), { lacksAddress });
    if (!this.#write(host, pod, row)) return 'retry';
    this.#table.put(uid, row);
    this.#index(row.instanceId, uid);
    this.#later(sandboxMicros(pod, this.#random()), 'pod-sandbox', uid);
    if (pod.spec.activeDeadlineSeconds !== undefined) this.#later(0, 'pod-deadline', uid);
    return undefined;
  }

  #sandbox(host: Host, pod: PodView, row: Row): void {
    if (row.stage !== 'creating' || row.stopAt !== undefined) return;
    const uid = pod.metadata.uid;
    const missing = missingVolumes(this.#kube, pod);
    if (missing.length > 0) {
      const isLate = this.#kernel.now() - row.seenAt >= mountTimeoutMicros;
      if (isLate) this.#notes.failedMount(host, pod, missing);
      this.#later(isLate ? mountTimeoutMicros : volumeCheckMicros, 'pod-sandbox', uid);
      return;
    }
    let next = row;
    if (pod.spec.hostNetwork !== true && row.address === undefined) {
      const lacks = row.lacksAddress === true;
      const address = lacks ? undefined : this.#machines.allocatePodAddress(row.instanceId);
      if (address === undefined) {
        this.#notes.noAddress(host, pod, hexString(this.#random(), 64), { lacks });
        const { min, max } = sandboxRetrySeconds;
        const seconds = min + this.#random().next() * (max - min);
        this.#later(seconds * microsPerSecond, 'pod-sandbox', uid);
        return;
      }
      next = { ...row, address };
    }
    const pull = this.#pull(host, pod);
    this.#table.put(uid, { ...next, pull });
    const spentMicros = this.#kernel.now() - row.seenAt;
    const { operatingSystem: system } = this.#hosts.release(host);
    const wait = startMicros(pod, this.#random(), { pull, spentMicros, system });
    this.#notes.pulling(host, pod, pull);
    this.#later(wait, 'pod-start', uid);
  }

  #pull(host: Host, pod: PodView): Pull {
    const { pull, missing } = neededPull(pod.spec.containers, host.images);
    if (missing.length > 0) this.#hosts.set(host, { images: [...host.images, ...missing] });
    return pull;
  }

  #start(host: Host, pod: PodView, row: Row): void {
    const starts = row.stage === 'creating' || row.stage === 'waiting';
    if (!starts || row.stopAt !== undefined) return;
    const uid = pod.metadata.uid;
    const wait = readyMicros(pod, this.#random());
    const next: Row = {
      ...row,
      stage: 'running',
      ready: wait === 0,
      startedAt: kubeTime(this.#kernel.now()),
      containerIds: pod.spec.containers.map(() => hexString(this.#random(), 64)),
    };
    if (!this.#write(host, pod, next)) {
      this.#later(writeRetryMicros, 'pod-start', uid);
      return;
    }
    this.#table.put(uid, next);
    this.#notes.started(host, pod, row.pull ?? 'none', this.#kernel.now() - row.seenAt);
    if (wait !== undefined && wait > 0) this.#later(wait, 'pod-ready', uid);
    const run = annotatedMicros(pod, podAnnotations.run);
    if (run !== undefined) this.#later(run, 'pod-finish', uid);
  }

  #ready(host: Host, pod: PodView, row: Row): void {
    if (row.stage !== 'running' || row.ready) return;
    if (pod.metadata.annotations?.[podAnnotations.neverReady] === 'true') return;
    const next: Row = { ...row, ready: true };
    if (!this.#write(host, pod, next)) {
      this.#later(writeRetryMicros, 'pod-ready', pod.metadata.uid);
      return;
    }
    this.#table.put(pod.metadata.uid, next);
  }

  #finish(host: Host, pod: PodView, row: Row): void {
    if (row.stage !== 'running' || row.stopAt !== undefined) return;
    const { uid } = pod.metadata;
    const exitCode = exitCodeOf(pod, row.restarts);
    const wait = restartMicros(pod, { exitCode, restarts: row.restarts });
    const stage = wait === undefined ? 'finished' : 'waiting';
    const next: Row = { ...row, stage, ready: false, exitCode };
    if (!this.#write(host, pod, next)) {
      this.#later(writeRetryMicros, 'pod-finish', uid);
      return;
    }
    if (wait === undefined) {
      this.#freeAddress(uid, next);
      return;
    }
    if (wait > 0) this.#notes.backOff(host, pod);
    this.#table.put(uid, { ...next, restarts: row.restarts + 1, pull: 'none' });
    this.#later(wait + startMicros(pod, this.#random(), restarted), 'pod-start', uid);
  }

  /** Ends the pod at its deadline, or schedules a check for then. */
  #deadline(host: Host, pod: PodView, row: Row): void {
    const left = untilDeadline(pod, this.#kernel.now());
    const isOver = row.stage === 'finished' || row.stage === 'stopped' || row.stopAt !== undefined;
    if (left === undefined || isOver) return;
    const { uid } = pod.metadata;
    const next: Row = { ...row, ...endedAtDeadline };
    if (left > 0) this.#later(left, 'pod-deadline', uid);
    else if (!this.#write(host, pod, next)) this.#later(writeRetryMicros, 'pod-deadline', uid);
    else {
      this.#notes.deadlineExceeded(host, pod);
      this.#freeAddress(uid, next);
    }
  }

  /** Starts ephemeral containers that were added to the running pod. */
  #debug(host: Host, pod: PodView, row: Row): void {
    const added = unstarted(pod, row.debug);
    if (row.stage !== 'running' || added.length === 0) return;
    const startedAt = kubeTime(this.#kernel.now());
    const started = added.map(({ name }) => ({
      name,
      id: hexString(this.#random(), 64),
      startedAt,
    }));
    const next: Row = { ...row, debug: [...(row.debug ?? []), ...started] };
    if (!this.#write(host, pod, next)) {
      this.#later(writeRetryMicros, 'pod-debug', pod.metadata.uid);
      return;
    }
    this.#table.put(pod.metadata.uid, next);
    for (const container of added) this.#notes.debugging(host, pod, container);
  }

  #terminate(host: Host, pod: PodView, row: Row | undefined): Outcome {
    const uid = pod.metadata.uid;
    const started = row?.stage === 'running';
    const known = row ?? newRow(host, pod, this.#kernel.now());
    if (known.stage === 'stopped') return undefined;
    const slow = started && this.#faults.active('slow-termination', this.#hosts.place(host));
    const wait = started ? stopMicros(pod, this.#random(), slow ? 'slow' : 'normal') : 0;
    const stopAt = this.#kernel.now() + wait;
    if (known.stopAt !== undefined && known.stopAt <= stopAt) return undefined;
    if (known.stopAt === undefined && started) this.#notes.killing(host, pod);
    this.#table.put(uid, { ...known, stopAt });
    this.#index(known.instanceId, uid);
    this.#later(wait, 'pod-stop', uid);
    return undefined;
  }

  #stop(host: Host, pod: PodView, row: Row): void {
    const uid = pod.metadata.uid;
    if (row.stage === 'stopped' || row.stopAt === undefined) return;
    if (row.stopAt > this.#kernel.now()) return;
    if (this.#faults.active('stuck-termination', this.#hosts.place(host))) {
      this.#later(stuckCheckMicros, 'pod-stop', uid);
      return;
    }
    if (row.stage === 'running' && (pod.metadata.finalizers ?? []).length > 0) {
      // A finalizer keeps the object until its holder has read how the pod ended.
      this.#write(host, pod, { ...row, stage: 'finished', ready: false, exitCode: sigtermExit });
    }
    const gone = this.#hosts
      .client(host)
      .delete(resources.pods, nameOfKey(row.key), { uid, gracePeriodSeconds: 0 });
    if (gone.kind === 'error' && gone.status.code !== 404) {
      this.#later(writeRetryMicros, 'pod-stop', uid);
      return;
    }
    // The DELETED change removes the row, unless a finalizer keeps the object.
    const left = this.#table.get(uid);
    if (left !== undefined) this.#table.put(uid, { ...left, stage: 'stopped' });
  }

  #write(host: Host, pod: PodView, row: Row): boolean {
    const now = kubeTime(this.#kernel.now());
    const body = podStatus(pod, row, { now, hostIp: host.machine.privateIp });
    const written = this.#hosts
      .client(host)
      .patch(resources.pods, nameOfKey(keyOf(pod)), { type: 'merge', body, subresource: 'status' });
    return written.kind === 'ok' || written.status.code === 404;
  }

  #freeAddress(uid: string, row: Row): void {
    const { address, ...rest } = row;
    if (address !== undefined) this.#machines.releasePodAddress(row.instanceId, address);
    this.#table.put(uid, rest);
  }

  #index(instanceId: string, uid: string): void {
    const uids = this.#byInstance.get(instanceId);
    if (uids === undefined) this.#byInstance.set(instanceId, new Set([uid]));
    else uids.add(uid);
  }

  #later(afterMicros: Micros, kind: string, uid: string): void {
    this.#kernel.schedule({ afterMicros, actor: this.actor, kind, args: { uid } });
  }

  #random() {
    return this.#kernel.random('kube.pods');
  }
}
