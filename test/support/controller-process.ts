// `drover controller` as its own process beside a served world: started, killed and restarted by a
// story. Ends only processes that it started.

import { type ChildProcess, spawn } from 'node:child_process';
import { defined } from '../../src/api/defined.ts';
import { eventually, type ServedWorld } from './demo-world.ts';
import { drover } from './program.ts';

const queuePath = '111111111111/drover-notices';
const logTailChars = 3000;

export const queueUrlOf = ({ env }: ServedWorld): string =>
  `${String(env.AWS_ENDPOINT_URL)}/${queuePath}`;

export class ControllerProcess {
  readonly #world: ServedWorld;
  readonly #args: readonly string[];
  readonly #podName: string | undefined;
  #child: ChildProcess;
  #exited: Promise<number | null>;
  #output = '';
  #isWanted = true;

  private constructor(
    world: ServedWorld,
    kubeconfigPath: string,
    { podName, args }: { readonly podName?: string; readonly args?: readonly string[] } = {},
  ) {
    this.#world = world;
    this.#podName = podName;
    const usual = ['controller', '--cloud', 'aws', '--compat', 'eks'];
    this.#args = [
      ...(args ?? [...usual, '--queue-url', queueUrlOf(world)]),
      ...['--kubeconfig', kubeconfigPath],
    ];
    [this.#child, this.#exited] = this.#spawn();
  }

  /**
   * Does not wait for leadership. `podName`: its identity as a pod; `args`: all but the
   * kubeconfig.
   */
  static candidate(
    world: ServedWorld,
    kubeconfigPath: string,
    podName: string,
    args?: readonly string[],
  ): ControllerProcess {
    return new ControllerProcess(world, kubeconfigPath, { podName, ...defined({ args }) });
  }

  /** Resolves when it leads. */
  static async start(world: ServedWorld, kubeconfigPath: string): Promise<ControllerProcess> {
    const controller = new ControllerProcess(world, kubeconfigPath);
    try {
      await controller.leads();
      return controller;
    } catch (error) {
      await controller.stop();
      throw error;
    }
  }

  async leads(): Promise<void> {
    await eventually('drover controller leads', async () => {
      this.assertRunning();
      return this.#output.includes('"message":"leading"') ? true : undefined;
    });
  }

  #spawn(): [ChildProcess, Promise<number | null>] {
    const child = spawn(process.execPath, [drover, ...this.#args], {
      env: {
        ...this.#world.env,
        ...defined({ POD_NAME: this.#podName }),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#output += chunk.toString();
    });
    return [child, new Promise((resolve) => child.on('close', resolve))];
  }

  output(): string {
    return this.#output;
  }
  /** The end of its log, for a failed story. */
  tail(): string {
    return this.#output.slice(-logTailChars);
  }
  /** Asserts that it runs if it should, and has logged no errors. */
  assertWell(): void {
    if (this.#isWanted) this.assertRunning();
    const errors = this.#output.split('\n').filter((line) => line.includes('"level":"error"'));
    if (errors.length > 0) throw new Error(`drover controller tells of errors:\n${errors[0]}`);
  }

  assertRunning(): void {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) return;
    throw new Error(`drover controller ended with ${exitCode ?? signalCode}:\n${this.tail()}`);
  }

  /** SIGSTOP: it pauses without noticing. */
  pause(): void {
    this.#child.kill('SIGSTOP');
  }
  goOn(): void {
    this.#child.kill('SIGCONT');
  }

  /** SIGKILL, as a crash would. */
  async kill(): Promise<void> {
    this.#isWanted = false;
    this.#child.kill('SIGKILL');
    await this.#exited;
    this.#world.recordCrash();
  }

  /** Starts a successor of a killed process; it waits for its predecessor's lease to expire. */
  restart(): void {
    this.#isWanted = true;
    [this.#child, this.#exited] = this.#spawn();
  }

  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) this.#child.kill('SIGTERM');
    await this.#exited;
  }
}
