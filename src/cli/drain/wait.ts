// Polls every second until drains have ended, and reports changes: one line per change, or one line
// that is replaced on a terminal. Decides nothing about the drains.
import { durationMs, type EpochMs, parseTime } from '../../api/brand.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import { classifyPods } from '../../core/drain/index.ts';
import { explainWaiting } from '../../core/explain/index.ts';
import { isLasting } from '../../core/overview/index.ts';
import { leavesPods } from '../../core/termination/index.ts';
import { type Clock, type KubeApi, KubeError } from '../../ports/index.ts';
import { formatDuration } from '../duration.ts';
import { podsOn } from './read.ts';
import { readDisruption } from './record.ts';
import { type DrainState, drainState } from './state.ts';

/** Interval between two polls of all drains. */
export const pollMs = durationMs(1_000);
/** A controller acts within a second; after this time the user is told that none has. */
export const unclaimedAfterMs = 10_000;
/** Pods of at most this many nodes are counted live; for others the status has the count. */
const maxCounted = 10;
const maxBlockersTold = 3;

export interface WaitTarget {
  readonly name: string;
  readonly node: string;
  readonly causeId: string;
}

export interface WaitDeps {
  readonly kube: KubeApi;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Prints a change on a line of its own. */
  readonly tell: (line: string) => void;
  /** Replaces the progress line; undefined without a terminal. */
  readonly progress: ((line: string) => void) | undefined;
}

export interface WaitResult {
  readonly how: 'ended' | 'timedOut' | 'interrupted';
  readonly states: ReadonlyMap<string, DrainState>;
}

interface Seen {
  state: DrainState;
  /** The last reported state, so that nothing is reported twice. */
  phase: string;
  blockers: ReadonlySet<string>;
  left: number | undefined;
  total: number;
}

const fresh = (): Seen => ({
  state: { kind: 'unclaimed' },
  phase: '',
  blockers: new Set(),
  left: undefined,
  total: 0,
});

export class DrainWait {
  readonly #deps: WaitDeps;
  readonly #targets: readonly WaitTarget[];
  readonly #seen: ReadonlyMap<string, Seen>;
  readonly #startedAt: EpochMs;
  #warned = false;
  #unreachable = false;

  constructor(deps: WaitDeps, targets: readonly WaitTarget[]) {
    this.#deps = deps;
    this.#targets = targets;
    this.#seen = new Map(targets.map(({ name }) => [name, fresh()]));
    this.#startedAt = deps.clock.now();
  }

  /**
   * Runs until all have ended, `giveUpAfterMs` has passed, or the signal aborts. Throws KubeError.
   */
  async run(giveUpAfterMs: number | undefined): Promise<WaitResult> {
    const { clock, signal } = this.#deps;
    for (;;) {
      if (signal.aborted) return this.#result('interrupted');
      await this.#askAll();
      const open = this.#open();
      if (open.length === 0) return this.#result('ended');
      const waited = clock.now() - this.#startedAt;
      if (giveUpAfterMs !== undefined && waited >= giveUpAfterMs) return this.#result('timedOut');
      if (waited >= unclaimedAfterMs) this.#warnUnclaimed(open);
      this.#showProgress(open, waited);
      try {
        await clock.sleep(pollMs, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  /** One poll, without waiting. */
  async once(): Promise<WaitResult> {
    await this.#askAll();
    return this.#result(this.#open().length === 0 ? 'ended' : 'timedOut');
  }

  #open(): readonly WaitTarget[] {
    return this.#targets.filter(({ name }) => {
      const kind = this.#seen.get(name)?.state.kind;
      return kind === 'unclaimed' || kind === 'working';
    });
  }

  #result(how: WaitResult['how']): WaitResult {
    this.#deps.progress?.('');
    const states = [...this.#seen].map(([name, { state }]) => [name, state] as const);
    return { how, states: new Map(states) };
  }

  async #askAll(): Promise<void> {
    const open = this.#open();
    try {
      for (const target of open) await this.#ask(target, open.length <= maxCounted);
      if (this.#unreachable) this.#deps.tell('the API server answers again');
      this.#unreachable = false;
    } catch (error) {
      if (!(error instanceof KubeError) || error.retry === 'never') throw error;
      if (!this.#unreachable) this.#deps.tell(`${error.message}; the drain continues; retrying`);
      this.#unreachable = true;
    }
  }

  async #ask(target: WaitTarget, count: boolean): Promise<void> {
    const { kube } = this.#deps;
    const seen = this.#seen.get(target.name);
    if (seen === undefined) return;
    const disruption = await readDisruption(kube, target.name);
    seen.state = drainState(disruption, target.causeId);
    if (seen.state.kind === 'working' && disruption !== undefined) {
      const left = count
        ? await this.#countPods(target.node, disruption)
        : disruption.status?.podsRemaining;
      this.#tellWorking(target, seen, disruption, left);
    } else this.#tellEnd(target, seen.state);
  }

  async #countPods(name: string, disruption: NodeDisruption): Promise<number> {
    const { kube, clock } = this.#deps;
    // From the server's cache: data that is a second old is good enough for display.
    const pods = await podsOn(kube, name, { resourceVersion: '0' });
    const { boomerangs = [], markedAt } = disruption.status ?? {};
    const options = { markedAt: parseTime(markedAt), boomerangs };
    const stops = pods.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
    if (!stops) return classifyPods(pods, options).evict.length;
    const found = await kube.get<Node>(resourceTypes.nodes, { name });
    const node = found.kind === 'found' ? found.object : undefined;
    const dead = leavesPods({ disruption, node }) ? { unreachableAt: clock.now() } : {};
    return classifyPods(pods, { ...options, ...dead }).evict.length;
  }

  #tellWorking(
    { node }: WaitTarget,
    seen: Seen,
    { status }: NodeDisruption,
    left: number | undefined,
  ): void {
    const { tell } = this.#deps;
    if (status === undefined) return;
    const { phase } = status;
    if (phase !== seen.phase) {
      seen.phase = phase;
      tell(`${node}: ${phaseText[phase]}`);
    }
    if (left !== undefined && left !== seen.left && phase === 'Draining') {
      seen.total = Math.max(seen.total, left, status.podsTotal ?? 0);
      seen.left = left;
      if (left > 0) tell(`${node}: ${left} of ${seen.total} pods left`);
    }
    const blockers = (status.waitingOn ?? []).filter(isLasting);
    for (const waiting of blockers.slice(0, maxBlockersTold)) {
      const text = explainWaiting(waiting);
      if (!seen.blockers.has(text)) tell(`${node}: ${text}`);
    }
    seen.blockers = new Set(blockers.map(explainWaiting));
  }

  #tellEnd({ node }: WaitTarget, state: DrainState): void {
    const { tell } = this.#deps;
    if (state.kind === 'ended') tell(`${node}: ${endText(state)}`);
    if (state.kind === 'gone')
      tell(`${node}: the record of the drain was deleted by another client`);
  }

  #warnUnclaimed(open: readonly WaitTarget[]): void {
    const idle = open.filter(({ name }) => this.#seen.get(name)?.state.kind === 'unclaimed');
    if (this.#warned || idle.length === 0) return;
    this.#warned = true;
    const nodes = idle.map(({ node }) => node).join(', ');
    const seconds = unclaimedAfterMs / 1000;
    this.#deps.tell(
      `no controller has acted on ${nodes} for ${seconds} s: start \`drover controller\`, or ` +
        '`drover up` without --no-controller; the drain is recorded and begins then',
    );
  }

  #showProgress(open: readonly WaitTarget[], waitedMs: number): void {
    const { progress } = this.#deps;
    if (progress === undefined) return;
    const parts = open.map(({ node, name }) => {
      const seen = this.#seen.get(name);
      // The count first: a narrow terminal truncates the line at its end.
      const { left, total } = seen ?? { left: undefined, total: 0 };
      const known = left !== undefined && total > 0;
      const pods = known ? `${left} of ${total} pods left on ` : '';
      return `${pods}${node}`;
    });
    progress(`draining for ${formatDuration(waitedMs / 1000)}: ${parts.join(', ')}`);
  }
}

const phaseText: Readonly<Record<string, string>> = {
  Pending: 'taken up by the controller',
  Marking: 'being excluded from load balancers and cordoned',
  Draining: 'excluded from load balancers and cordoned; pods are being evicted',
  Completing: 'done with its pods; telling whoever waits for it',
  Undoing: 'cancelled; labels and taints are being removed',
};

const outcomeText = {
  Drained: 'drained',
  Forced: 'drained by force at its deadline',
  Failed: 'the drain has failed',
  Cancelled: 'the drain was withdrawn',
  NothingToDrain: 'there was nothing to drain',
  InstanceGone: 'the instance is gone',
} as const;

const endText = ({ outcome, message }: Extract<DrainState, { kind: 'ended' }>): string => {
  const text = outcomeText[outcome];
  return message === '' || message === text ? text : `${text}: ${message}`;
};
