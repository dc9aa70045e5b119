// Watches an update until its end, by polling every second: a screen on a terminal, lines
// elsewhere. screen.ts and changes.ts render it; this file decides nothing about the update.
import { durationMs, type EpochMs } from '../../api/brand.ts';
import type { NodeGroupUpdateStatus } from '../../api/nodegroup-update.ts';
import { type UpdateView, updateView } from '../../core/overview/index.ts';
import { type Clock, type KubeApi, KubeError } from '../../ports/index.ts';
import { type ExitCode, exitCodes, type Screen } from '../context.ts';
import { changeLines } from './changes.ts';
import { readFacts } from './read.ts';
import { screenLines } from './screen.ts';

export const pollMs = durationMs(1_000);
/** A controller acts within a second; after this time the user is told that none has. */
export const unclaimedAfterMs = 10_000;

export interface WatchDeps {
  readonly kube: KubeApi;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The cluster's time: an embedded world may be ahead of the wall clock. */
  readonly now: () => Promise<EpochMs>;
  /** Prints a change on its own line; on a terminal only what the screen does not show. */
  readonly tell: (line: string) => void;
  /** Undefined without a terminal. */
  readonly screen: Screen | undefined;
}

export interface WatchResult {
  readonly how: 'ended' | 'timedOut' | 'interrupted' | 'gone';
  /** The last observed view. */
  readonly view: UpdateView | undefined;
}

export class UpdateWatch {
  readonly #deps: WatchDeps;
  readonly #id: string;
  readonly #startedAt: EpochMs;
  #view: UpdateView | undefined;
  #warned = false;
  #unreachable = false;

  constructor(deps: WatchDeps, id: string) {
    this.#deps = deps;
    this.#id = id;
    this.#startedAt = deps.clock.now();
  }

  /**
   * Runs until it has ended, `giveUpAfterMs` has passed, or the signal aborts. Throws KubeError.
   */
  async run(giveUpAfterMs: number | undefined): Promise<WatchResult> {
    const { clock, signal } = this.#deps;
    for (;;) {
      if (signal.aborted) return this.#result('interrupted');
      if (!(await this.#look())) return this.#result('gone');
      if (this.#view !== undefined && this.#view.status !== 'InProgress') {
        return this.#result('ended');
      }
      const waited = clock.now() - this.#startedAt;
      if (giveUpAfterMs !== undefined && waited >= giveUpAfterMs) return this.#result('timedOut');
      if (waited >= unclaimedAfterMs) this.#warnUnclaimed();
      try {
        await clock.sleep(pollMs, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  #result(how: WatchResult['how']): WatchResult {
    this.#deps.screen?.draw([]);
    return { how, view: this.#view };
  }

  /** False: the update does not exist any more. */
  async #look(): Promise<boolean> {
    const { kube, tell } = this.#deps;
    try {
      const facts = await readFacts(kube, this.#id);
      if (facts === undefined) return false;
      await this.#show(updateView(facts));
      if (this.#unreachable) tell('the API server answers again');
      this.#unreachable = false;
    } catch (error) {
      if (!(error instanceof KubeError) || error.retry === 'never') throw error;
      if (!this.#unreachable) tell(`${error.message}; the update continues; retrying`);
      this.#unreachable = true;
    }
    return true;
  }

  async #show(view: UpdateView): Promise<void> {
    const { screen, now, tell } = this.#deps;
    const before = this.#view;
    this.#view = view;
    if (screen === undefined) {
      for (const line of changeLines(before, view)) tell(line);
      return;
    }
    const { columns, rows } = screen.size();
    // The last line is for the cursor.
    screen.draw(screenLines(view, await now(), { columns, rows: rows - 1 }));
  }

  #warnUnclaimed(): void {
    if (this.#warned || this.#view?.update.status !== undefined) return;
    this.#warned = true;
    const seconds = unclaimedAfterMs / 1000;
    this.#deps.tell(
      `no controller has acted on update ${this.#id} for ${seconds} s: start \`drover ` +
        'controller`, ' +
        'or `drover up` without --no-controller; it is recorded and begins then',
    );
  }
}

const codeOf: Readonly<Record<NodeGroupUpdateStatus['status'], ExitCode>> = {
  Successful: exitCodes.done,
  Failed: exitCodes.failed,
  // An operator requested it.
  Cancelled: exitCodes.refused,
  InProgress: exitCodes.timedOut,
};

/** The exit code for the end of a watch. */
export const exitCodeOf = ({ how, view }: WatchResult): ExitCode => {
  if (how === 'interrupted') return exitCodes.interrupted;
  if (how === 'gone' || view === undefined) return exitCodes.failed;
  return codeOf[view.status];
};
