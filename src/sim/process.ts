// One controller process in a simulated life: started, killed at any write, started again. A killed
// process' network is cut, so nothing it still does reaches the world.
import { runControlPlane } from '../controllers/control-plane.ts';
import type { Journal, JournalEntry, Log } from '../ports/index.ts';
import type { World } from '../world/index.ts';
import { microsPerSecond } from '../world/kernel/index.ts';
import type { SentCall } from './cloud.ts';
import type { Identity } from './kube.ts';
import type { NetworkFaults } from './network.ts';
import { createInProcessPorts } from './ports.ts';

export interface ProcessOptions {
  readonly world: World;
  readonly identity: Identity;
  readonly compat: 'eks' | 'native';
  readonly queueUrl: string | undefined;
  readonly faults: NetworkFaults;
  readonly log: Log;
  readonly onCloudCall: (call: SentCall) => void;
  readonly onJournal: (entry: Omit<JournalEntry, 'at'>) => void;
  /** Called when a process ended by itself: always a defect. */
  readonly onFailure: (error: unknown) => void;
}

/** One way of a call inside a data centre: half a millisecond. */
const legMicros = 500;

export class ControllerProcess {
  readonly #options: ProcessOptions;
  #generation = 0;
  #kill: (() => void) | undefined;

  constructor(options: ProcessOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#kill !== undefined;
  }
  /** Starts so far. */
  get starts(): number {
    return this.#generation;
  }

  start(): void {
    if (this.#kill !== undefined) return;
    const { world, identity, faults, compat, queueUrl, log, onJournal, onCloudCall } =
      this.#options;
    this.#generation += 1;
    const ports = createInProcessPorts(world, {
      component: `drover.${this.#generation}`,
      identity,
      legMicros,
      faults,
      onCloudCall,
    });
    const life = new AbortController();
    const journal: Journal = {
      record: (entry) => {
        if (!ports.network.isCut) onJournal(entry);
      },
    };
    this.#kill = () => {
      ports.network.cut();
      life.abort(new Error('killed'));
      this.#kill = undefined;
    };
    runControlPlane({ ...ports, log, journal, queueUrl, compat }, life.signal).catch(
      (error: unknown) => {
        if (!life.signal.aborted) this.#options.onFailure(error);
      },
    );
  }

  kill(): void {
    this.#kill?.();
  }

  /** Killed now, back after `seconds` of world time. */
  restartAfter(seconds: number): void {
    this.kill();
    this.#options.world.kernel.after(seconds * microsPerSecond, () => this.start());
  }
}
