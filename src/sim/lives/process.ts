// One controller process in a simulated life: started, killed at any write, started again. The
// network of a killed process is cut, so nothing that it still does reaches the world.

import type { World } from '../../../world/index.ts';
import { microsPerSecond } from '../../../world/kernel/index.ts';
import { defined } from '../../api/defined.ts';
import { type ControlPlaneDeps, runControlPlane } from '../../controllers/control-plane.ts';
import type { Clock, Http, Journal, Log } from '../../ports/index.ts';
import { LeaderElector } from '../../runtime/index.ts';
import type { SentCall } from '../ports/aws-transport.ts';
import type { Identity } from '../ports/kube.ts';
import type { Network, NetworkFaults } from '../ports/network.ts';
import { createInProcessPorts } from '../ports/ports.ts';

export interface ProcessOptions {
  readonly world: World;
  /** Name that distinguishes replicas; a single process needs none. */
  readonly name?: string;
  readonly identity: Identity;
  /** One of several replicas: works only while it holds the lease. */
  readonly leaderElect?: boolean;
  readonly clockSkewMs?: number;
  readonly compat: 'eks' | 'native';
  readonly approveCertificates?: boolean;
  readonly surge?: boolean;
  readonly queueUrl: string | undefined;
  readonly faults: NetworkFaults;
  /** Answers webhooks and HTTP probes; absent: this process makes no such calls. */
  readonly http?: Http;
  readonly notifications?: ControlPlaneDeps['notifications'];
  readonly log: Log;
  /** Absent: the journal is discarded. */
  readonly journal?: Journal;
  readonly onCloudCall: (call: SentCall) => void;
  /** Called when the process fails without being killed: always a defect. */
  readonly onFailure: (error: unknown) => void;
  /** Called after the process starts or stops working. */
  readonly onWorking?: () => void;
}

/** The oracles judge the effects on the world, not the journal of a process. */
const unread: Journal = { record: () => {} };

/** One-way network time inside a data centre: half a millisecond. */
const legMicros = 500;

export class ControllerProcess {
  readonly #options: ProcessOptions;
  readonly #name: string;
  #generation = 0;
  #isLeading = false;
  #isRetired = false;
  #network: Network | undefined;
  #kill: (() => void) | undefined;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.#name = options.name ?? 'r1';
  }

  start(): void {
    if (this.#kill !== undefined || this.#isRetired) return;
    const { world, identity, faults, clockSkewMs = 0, log, onCloudCall } = this.#options;
    this.#generation += 1;
    const ports = createInProcessPorts(world, {
      component: `drover.${this.#name}.${this.#generation}`,
      identity,
      clockSkewMs,
      legMicros,
      faults,
      onCloudCall,
    });
    const life = new AbortController();
    this.#kill = () => {
      ports.network.cut();
      life.abort(new Error('killed'));
      this.#kill = undefined;
      this.#isLeading = false;
      this.#options.onWorking?.();
    };
    this.#network = ports.network;
    this.#options.onWorking?.();
    const { journal = unread } = this.#options;
    const work = this.#work({ ...ports, log, journal }, life.signal);
    work.catch((error: unknown) => {
      if (!life.signal.aborted) this.#options.onFailure(error);
    });
  }

  /** The process runs and, with several replicas, leads. */
  get isWorking(): boolean {
    return this.#kill !== undefined && (this.#options.leaderElect !== true || this.#isLeading);
  }

  /** Runs as `drover controller` does: with replicas, only while the lease is held. */
  #work(
    ports: Omit<ControlPlaneDeps, 'queueUrl' | 'compat' | 'isLeader'> & {
      readonly ownClock: Clock;
    },
    signal: AbortSignal,
  ): Promise<void> {
    const { compat, queueUrl, leaderElect, approveCertificates = false } = this.#options;
    const { http, notifications } = this.#options;
    const own = defined({ http, notifications, surge: this.#options.surge });
    const deps = { ...ports, queueUrl, compat, approveCertificates, ...own };
    if (!leaderElect) return runControlPlane(deps, signal);
    const elector = new LeaderElector({
      ...ports,
      clock: ports.ownClock,
      random: ports.random('leader'),
      namespace: 'kube-system',
      name: 'drover-controller',
      identity: `${this.#name}.${this.#generation}`,
    });
    const isLeader = (): boolean => elector.isLeader();
    return elector.run(({ epoch }, inner) => {
      this.#leads(signal, true);
      const working = runControlPlane({ ...deps, isLeader, epoch }, inner);
      return working.finally(() => this.#leads(signal, false));
    }, signal);
  }

  /** Ignored if the process has been killed meanwhile. */
  #leads(life: AbortSignal, does: boolean): void {
    if (life.aborted) return;
    this.#isLeading = does;
    this.#options.onWorking?.();
  }

  kill(): void {
    this.#kill?.();
  }

  /** Kills the process for good. */
  retire(): void {
    this.#isRetired = true;
    this.kill();
  }

  /** Stops the process for `seconds` of world time; it then continues unaware of the pause. */
  pause(seconds: number): void {
    this.#network?.pause(seconds * microsPerSecond);
  }

  /** Kills the process and restarts it after `seconds` of world time. */
  restartAfter(seconds: number): void {
    this.kill();
    this.#options.world.kernel.after(seconds * microsPerSecond, () => this.start());
  }
}
