// The controller processes of one life: one, or two replicas that elect a leader, each with its own
// network, faults and clock. Never decides what they do.

import { nodeManagerAgent, nodeManagerUser, type World } from '../../../world/index.ts';
import { microsPerMs, microsPerSecond } from '../../../world/kernel/index.ts';
import type { Http, Log, Random } from '../../ports/index.ts';
import type { SentCall } from '../ports/aws-transport.ts';
import { FaultPlan, type FaultRates, type NetworkFaultKind } from '../ports/fault-plan.ts';
import { ControllerProcess } from './process.ts';

export interface FleetOptions {
  readonly world: World;
  readonly compat: 'eks' | 'native';
  readonly approveCertificates: boolean;
  readonly queueUrl: string | undefined;
  /** Answers webhooks. */
  readonly http: Http;
  readonly log: Log;
  readonly onFault: (kind: NetworkFaultKind) => void;
  readonly onCloudCall: (call: SentCall) => void;
  readonly onFailure: (error: unknown) => void;
  /** Called when no process is active (none runs, or none leads), and again when one is. */
  readonly onDown: (isDown: boolean) => void;
}

interface Replica {
  readonly process: ControllerProcess;
  readonly plan: FaultPlan;
}

/** Share of lives with two replicas; a lease renewal every 2 s makes these lives expensive. */
const twoReplicasShare = 0.25;
const skewedShare = 0.5;
/** Seconds: a slow time service; minutes: no time service. */
const skewBoundsMs = [2_000, 5_000, 60_000, 600_000] as const;
/** Remaining skew after an answer of the API server: its Date header has whole seconds. */
const correctedSkewMs = 1_100;
/** Error of the times that a process writes, in microseconds. */
export const remainingSkew = (skewMs: number): number =>
  Math.min(Math.abs(skewMs), correctedSkewMs) * microsPerMs;
const maxDownSeconds = 30;
const pauseEverySeconds = 150;

const drawSkewMs = (random: Random): number => {
  const isSkewed = random.next() < skewedShare;
  const bound = skewBoundsMs[random.below(skewBoundsMs.length)] ?? 0;
  const skew = Math.round((random.next() * 2 - 1) * bound);
  return isSkewed ? skew : 0;
};

export class Fleet {
  /** Maximum error of the replicas' corrected clocks (fault F11), microseconds. */
  readonly clockSkew: number;
  readonly #options: FleetOptions;
  readonly #random: Random;
  readonly #skewMs: number;
  readonly #replicas: Replica[];
  #pausesAgainAt = 0;
  #isDown = false;

  constructor(options: FleetOptions) {
    this.#options = options;
    const { kernel } = options.world;
    this.#random = kernel.random('life.fleet');
    const count = this.#random.next() < twoReplicasShare ? 2 : 1;
    const skews = Array.from({ length: count }, () => drawSkewMs(this.#random));
    this.#skewMs = skews[0] ?? 0;
    this.clockSkew = Math.max(...skews.map(remainingSkew));
    this.#replicas = skews.map((clockSkewMs, i) =>
      this.#replica({ name: `r${i + 1}`, leaderElect: count > 1, clockSkewMs }),
    );
  }

  set rates(rates: FaultRates) {
    for (const { plan } of this.#replicas) plan.rates = rates;
  }

  start(): void {
    for (const { process } of this.#replicas) process.start();
  }

  kill(): void {
    for (const { process } of this.#replicas) process.retire();
  }

  /** Replaces two replicas by one that needs no lease; a single one continues. */
  becomeOne(): void {
    if (this.#replicas.length === 1) return;
    this.kill();
    const last = this.#replica({ name: 'last', leaderElect: false, clockSkewMs: this.#skewMs });
    this.#replicas.splice(0, this.#replicas.length, last);
    last.process.start();
  }

  #tellDown(): void {
    const isDown = !this.#replicas.some(({ process }) => process.isWorking);
    if (isDown !== this.#isDown) this.#options.onDown(isDown);
    this.#isDown = isDown;
  }

  /** Pauses are rare, so that the process makes progress between them. */
  #pause(process: ControllerProcess, seconds: number): boolean {
    const now = this.#options.world.kernel.now();
    if (now < this.#pausesAgainAt) return false;
    this.#pausesAgainAt = now + pauseEverySeconds * microsPerSecond;
    process.pause(seconds);
    return true;
  }

  #replica(own: {
    readonly name: string;
    readonly leaderElect: boolean;
    readonly clockSkewMs: number;
  }): Replica {
    const { onFault, ...options } = this.#options;
    const { world } = options;
    const plan = new FaultPlan({
      random: world.kernel.random(`life.faults.${own.name}`),
      fired: onFault,
      crash: () => process.restartAfter(this.#random.next() * maxDownSeconds),
      pause: (seconds) => own.leaderElect && this.#pause(process, seconds),
    });
    const process: ControllerProcess = new ControllerProcess({
      ...options,
      ...own,
      identity: { user: nodeManagerUser, userAgent: nodeManagerAgent },
      faults: plan,
      onWorking: () => this.#tellDown(),
    });
    return { process, plan };
  }
}
