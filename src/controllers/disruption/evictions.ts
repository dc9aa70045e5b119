// The only place that evicts: decides evictions for all drains together, sends the granted ones,
// and records the results. One pass at a time; answers and watch events start the next.

import { durationMs, type EpochMs, epochMs } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption, WaitingOn } from '../../api/disruption.ts';
import { type Pod, type PodDisruptionBudget, resourceTypes } from '../../api/kube.ts';
import {
  allocate,
  type BudgetIndex,
  defaultLimits,
  type Grant,
  keyOfObject,
  type Ledger,
  type Limits,
} from '../../core/drain/index.ts';
import { KubeError } from '../../ports/index.ts';
import { describeError, NotLeader, withDeadline } from '../../runtime/index.ts';
import type { DisruptionDeps } from './deps.ts';
import type { DrainEntry } from './drain-table.ts';
import { journalGrant, journalRefusal } from './events.ts';
import { countGrants } from './metrics.ts';
import type { Owners } from './owners.ts';
import type { PodWatches } from './pod-watches.ts';
import type { Surges } from './surges.ts';
import { UnreadyPods } from './unready.ts';

/** A pass is O(pods on draining nodes), so with many pods it waits briefly to gather events. */
const podsPerMs = 200;
const longestPauseMs = 20;
/** New nodes to mark delay the allocation no longer than this, because a deadline may be near. */
const longestHoldMs = 1_000;
/** The API server itself retries a contended budget for up to 10.7 s (measured). */
const answerWithinMs = durationMs(30_000);

export interface EvictionsOptions {
  readonly deps: DisruptionDeps;
  readonly budgets: BudgetIndex;
  readonly ledger: Ledger;
  readonly watches: PodWatches;
  /** Present where the last replicas of an owner are evicted one at a time. */
  readonly owners: Owners | undefined;
  /** Present where Deployments may be scaled up before their pods go. */
  readonly surges: Surges | undefined;
  /** The current drains, with what blocks a whole batch. */
  readonly drains: () => readonly DrainEntry[];
  /** True while nodes are being marked, which an allocation would delay. */
  readonly marksFirst: () => boolean;
  /** Whether this drain is still active: it may have ended while an eviction was in flight. */
  readonly isActive: (drain: string) => boolean;
  /** The blockers of a drain have changed. */
  readonly onBlockers: (drain: string) => void;
  /** An answer arrived: allocate again. */
  readonly again: () => void;
}

/** A StatefulSet reuses the name of a deleted pod. */
const reusesName = (pod: Pod): boolean =>
  pod.metadata.ownerReferences?.some(
    ({ controller, kind }) => controller === true && kind === 'StatefulSet',
  ) ?? false;

const identity = (waiting: WaitingOn): string => {
  const unready = waiting.kind === 'pdb' ? waiting.unready : undefined;
  const why = unready === undefined ? '' : `/${unready.pod} ${unready.reason}`;
  return `${waiting.kind}/${'pod' in waiting ? waiting.pod : ''}${why}`;
};

/**
 * Whether the same pods wait for the same kinds of blockers. Called for every drain in every pass.
 */
const isAlike = (a: readonly WaitingOn[] = [], b: readonly WaitingOn[] = []): boolean =>
  a.length === b.length &&
  a.every((one, i) => {
    const other = b[i];
    return one === other || (other !== undefined && identity(one) === identity(other));
  });

export class Evictions {
  readonly #options: EvictionsOptions;
  readonly #limits: Limits;
  readonly #sending = new Set<Promise<void>>();
  readonly #unready: UnreadyPods;
  #heldSince: EpochMs | undefined;
  /** Number of pods in the last pass. */
  #pods = 0;
  #blockers: ReadonlyMap<string, readonly WaitingOn[]> = new Map();
  /** Budgets that allow evictions again since the last allocation, and since when. */
  readonly #freed = new Map<string, EpochMs>();

  constructor(options: EvictionsOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.deps.limits };
    this.#unready = new UnreadyPods(options.deps, options.budgets, options.again);
  }

  /** Undefined until an allocation has examined this drain; that differs from "nothing blocks". */
  blockersOf(disruption: NodeDisruption): readonly WaitingOn[] | undefined {
    return this.#blockers.get(disruption.metadata.name);
  }

  /**
   * Notes, for a metric, when a budget that a drain waits for allows evictions again. The
   * allocation reads the budgets themselves.
   */
  budgetChanged(before: PodDisruptionBudget, after: PodDisruptionBudget): void {
    const wasFull = (before.status.disruptionsAllowed ?? 0) === 0;
    if (!wasFull || (after.status.disruptionsAllowed ?? 0) === 0) return;
    const key = keyOfObject(after);
    const isAwaited = [...this.#blockers.values()].some((blockers) =>
      blockers.some((one) => one.kind === 'pdb' && one.budgets.includes(key)),
    );
    if (isAwaited && !this.#freed.has(key)) this.#freed.set(key, this.#options.deps.clock.now());
  }

  /** Allocates and sends; resolves without waiting for the answers. */
  async pass(signal: AbortSignal): Promise<{ readonly nextAt?: EpochMs }> {
    const now = this.#options.deps.clock.now();
    if (this.#options.marksFirst() && now - (this.#heldSince ?? now) < longestHoldMs) {
      this.#heldSince ??= now;
      return { nextAt: epochMs(now + longestPauseMs) };
    }
    this.#heldSince = undefined;
    const pauseMs = Math.min(longestPauseMs, Math.floor(this.#pods / podsPerMs));
    if (pauseMs > 0) await this.#options.deps.clock.sleep(durationMs(pauseMs), signal);
    return this.#allocate(signal);
  }

  /** Synchronous: the caches do not change between the decision and the send. */
  #allocate(signal: AbortSignal): { readonly nextAt?: EpochMs } {
    const { deps, budgets, ledger, owners, surges } = this.#options;
    const now = deps.clock.now();
    ledger.settle(now);
    const entries = this.#options.drains();
    const drains = entries.map(({ drain }) => drain);
    this.#pods = drains.reduce((sum, { pods }) => sum + pods.length, 0);
    const limits = this.#limits;
    const lookup = owners?.lookup(drains);
    const { grants, blockers, nextCheckAt } = allocate({
      drains,
      budgets,
      ledger,
      now,
      limits,
      ...defined({ owners: lookup, swaps: surges?.waits(drains, now) }),
    });
    const all = new Map(drains.map(({ id }) => [id, blockers.get(id) ?? []] as const));
    const wake: number[] = nextCheckAt === undefined ? [] : [nextCheckAt];
    for (const { drain, batch, batchUntil } of entries) {
      if (batch !== undefined) all.set(drain.id, [batch, ...(all.get(drain.id) ?? [])]);
      if (batchUntil !== undefined) wake.push(batchUntil);
    }
    const explained = this.#unready.explain(all, signal);
    if (explained.nextAt !== undefined) wake.push(explained.nextAt);
    this.#publish(explained.blockers);
    countGrants(deps.metrics, grants, { freed: this.#freed, now });
    this.#freed.clear();
    for (const grant of grants) this.#start(grant, signal);
    return wake.length === 0 ? {} : { nextAt: epochMs(Math.min(...wake)) };
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#sending, this.#unready.settled()]);
  }

  #publish(next: ReadonlyMap<string, readonly WaitingOn[]>): void {
    const before = this.#blockers;
    this.#blockers = next;
    for (const id of new Set([...before.keys(), ...next.keys()])) {
      const isKnown = before.has(id) === next.has(id);
      if (!isKnown || !isAlike(before.get(id), next.get(id))) this.#options.onBlockers(id);
    }
  }

  #start(grant: Grant, signal: AbortSignal): void {
    const { deps, ledger, watches } = this.#options;
    // By uid, not by name alone: it must be the pod that was granted.
    const pod = watches.get(grant.node, grant.pod);
    if (pod?.metadata.uid !== grant.pod.uid) return;
    const emulated = grant.kind === 'delete' && grant.why === 'emulate';
    ledger.sent({ ...grant, how: grant.kind, emulated }, deps.clock.now());
    const tryFirst =
      grant.kind === 'evict' &&
      // A dry run would be refused as well, and the application would then never see the request.
      !grant.isSignal &&
      grant.budgets.length > 0 &&
      reusesName(pod) &&
      watches.mayBeStale(grant.node, deps.clock.now());
    const sending = this.#send(grant, tryFirst, signal).finally(() => {
      this.#sending.delete(sending);
      this.#options.again();
    });
    this.#sending.add(sending);
  }

  /** Never rejects: the result is recorded in the ledger. */
  async #send(grant: Grant, tryFirst: boolean, signal: AbortSignal): Promise<void> {
    const { deps, ledger } = this.#options;
    const { clock, journal, log } = deps;
    try {
      const options = { clock, within: answerWithinMs, signal };
      const gone = await withDeadline(options, async (inner) => {
        if (tryFirst && (await this.#isReplaced(grant, inner))) return true;
        return this.#call(grant, inner);
      });
      const outcome = gone ? 'gone' : 'done';
      ledger.succeeded(grant.pod.uid, clock.now(), outcome);
      journalGrant(journal, grant, outcome);
    } catch (error) {
      if (signal.aborted) return;
      const known = error instanceof KubeError ? error : undefined;
      // If no answer arrives in time, the eviction may have happened. A call of a former leader was
      // not sent.
      const unknown = error instanceof NotLeader ? 'Conflict' : 'Unreachable';
      const code = known?.code ?? unknown;
      const message = known?.message ?? describeError(error);
      const retryAfterMs = (known?.retryAfterSeconds ?? 0) * 1000;
      ledger.failed(grant.pod.uid, clock.now(), { code, message, retryAfterMs });
      // The drain has ended, so its failure is dropped. The budget's disruption that the eviction
      // may have used stays reserved.
      if (!this.#options.isActive(grant.drain)) ledger.drop(grant.drain);
      journalRefusal(journal, grant, { code, message });
      log.debug('eviction not done', { pod: grant.pod.name, node: grant.node, code });
    }
  }

  /**
   * A dry run that checks whether the pod still has this uid. An eviction that finds another pod of
   * the same name uses up a disruption of the budget for two minutes; a dry run does not
   * (measured).
   */
  async #isReplaced({ pod }: Grant, signal: AbortSignal): Promise<boolean> {
    const { deps } = this.#options;
    try {
      const { kind } = await deps.kube.evict(pod, { dryRun: true, signal });
      if (kind === 'gone') return true;
    } catch (error) {
      if (error instanceof KubeError && error.code === 'PreconditionFailed') return true;
      throw error;
    }
    return false;
  }

  /** True when the pod did not exist. */
  async #call(grant: Grant, signal: AbortSignal): Promise<boolean> {
    const { kube } = this.#options.deps;
    const { namespace, name, uid } = grant.pod;
    if (grant.kind === 'evict') {
      const { kind } = await kube.evict({ namespace, name, uid }, { signal });
      return kind === 'gone';
    }
    const { graceSeconds, resourceVersion } = grant;
    const { kind } = await kube.delete(
      resourceTypes.pods,
      { namespace, name },
      {
        uid,
        signal,
        ...defined({ gracePeriodSeconds: graceSeconds, resourceVersion }),
      },
    );
    return kind === 'gone';
  }
}
