// Every background task of a process, by name, awaited at shutdown. A rejection that escapes a task
// is reported exactly once and never becomes an unhandled one. Restarts nothing.
import type { Clock } from '../ports/index.ts';
import { sleepOrAbort } from './abort.ts';

export interface TaskFailure {
  readonly task: string;
  readonly error: unknown;
}

export class TaskRegistry {
  readonly #controller = new AbortController();
  readonly #running = new Map<string, Promise<void>>();
  readonly #report: (failure: TaskFailure) => void;
  readonly #clock: Clock;
  constructor(options: {
    readonly clock: Clock;
    readonly report: (failure: TaskFailure) => void;
  }) {
    this.#clock = options.clock;
    this.#report = options.report;
  }

  /** Aborted when shutdown begins; each task receives it too. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Starts `run`. Two tasks of one name at the same time are a programmer's error. */
  start(name: string, run: (signal: AbortSignal) => Promise<void>): void {
    if (this.#running.has(name)) throw new Error(`task ${name} is already running`);
    if (this.signal.aborted) throw new Error(`task ${name} started after shutdown began`);
    const task = this.#guard(name, run).finally(() => this.#running.delete(name));
    this.#running.set(name, task);
  }

  /** Aborts all tasks and waits for them; returns the names that did not end in time. */
  async shutdown(options: { readonly withinMs: number }): Promise<readonly string[]> {
    this.#controller.abort(new Error('shutting down'));
    const patience = new AbortController();
    const all = Promise.all(this.#running.values()).then(() => patience.abort());
    await Promise.race([all, sleepOrAbort(this.#clock, options.withinMs, patience.signal)]);
    return this.running;
  }

  async #guard(name: string, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await run(this.signal);
    } catch (error) {
      // An error that a task throws because of the shutdown is not a failure.
      if (!(this.signal.aborted && error === this.signal.reason)) {
        this.#report({ task: name, error });
      }
    }
  }
}
