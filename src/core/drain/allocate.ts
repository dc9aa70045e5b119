// Which pods may be evicted at this time: one pure function over all drains that share a budget. A
// token is one disruption that a budget allows. An eviction holds it from its request until the
// budget's watch shows the pod in disruptedPods; pods that need none come first. Sends nothing,
// keeps nothing (docs/designs/drain-order.md).
import { type EpochMs, epochMs } from '../../api/brand.ts';
import type { WaitingOn } from '../../api/disruption.ts';
import type { Pod, PodDisruptionBudget } from '../../api/kube.ts';
import type { PodRef } from '../../api/plan.ts';
import { Account, type Limits } from './account.ts';
import * as blocker from './blockers.ts';
import { type BudgetLookup, keyOfObject, versionsOf } from './budgets.ts';
import { type Candidate, type Drain, inOrder } from './candidates.ts';
import { forceAt, forcedGraceSeconds, intervalsOf, shouldShorten } from './force.ts';
import { type LedgerView, retryAt, settlesAt } from './ledger.ts';
import { type NotYet, notYetOf } from './not-yet.ts';
import { controllerOf, graceOf, isTerminating, podRef } from './pods.ts';
import { type Route, routeOf } from './route.ts';
import { movesItself, requestAgainAt } from './self-moving.ts';

/** What is known of an owner's pods on nodes that are not being drained. */
export type OwnerLookup = (ownerUid: string) => { readonly readyElsewhere: number } | undefined;

export interface AllocateInput {
  readonly drains: readonly Drain[];
  readonly budgets: BudgetLookup;
  readonly ledger: LedgerView;
  readonly now: EpochMs;
  readonly limits: Limits;
  readonly owners?: OwnerLookup;
  /** By uid: pods that wait until their Deployment has replaced them. */
  readonly swaps?: ReadonlyMap<string, NotYet>;
}

export type Grant =
  | {
      readonly kind: 'evict';
      readonly drain: string;
      readonly node: string;
      readonly pod: PodRef;
      /** Budgets that the eviction uses up a disruption of; empty if the API server checks none. */
      readonly budgets: readonly string[];
      readonly budgetVersions: Readonly<Record<string, string>>;
      /** Only prompts an application that moves its own pods; it is expected to be refused. */
      readonly isSignal: boolean;
    }
  | {
      readonly kind: 'delete';
      readonly drain: string;
      readonly node: string;
      readonly pod: PodRef;
      readonly budgets: readonly string[];
      readonly budgetVersions: Readonly<Record<string, string>>;
      /** Absent: the pod's own grace period. */
      readonly graceSeconds?: number;
      readonly resourceVersion?: string;
      readonly why: 'deadline' | 'shorten' | 'emulate';
    };

export interface Allocation {
  readonly grants: readonly Grant[];
  readonly blockers: ReadonlyMap<string, readonly WaitingOn[]>;
  /** When to allocate again if no event arrives earlier. */
  readonly nextCheckAt?: EpochMs;
}

/**
 * True while a pod has to wait after a failed eviction: for its budget to change if the budget
 * refused it, and for the end of its backoff at the latest.
 */
const mustWait = (candidate: Candidate, now: EpochMs): boolean => {
  const { failure, route } = candidate;
  if (failure === undefined || now >= retryAt(failure)) return false;
  // A forced deletion does not wait for an eviction's backoff: the grace period must end in time.
  if (route.kind === 'forced') return failure.how === 'delete';
  if (failure.code !== 'DisruptionBudget') return true;
  const known = failure.budgetVersions;
  return route.budgets.every(
    (budget) => known[keyOfObject(budget)] === budget.metadata.resourceVersion,
  );
};

class Pass {
  readonly #input: AllocateInput;
  readonly #account: Account;
  readonly #grants: Grant[] = [];
  readonly #blockers = new Map<string, WaitingOn[]>();
  /** Owners with a pod that is already being evicted. */
  readonly #ownersBusy = new Set<string>();
  #nextCheckAt = Number.POSITIVE_INFINITY;

  constructor(input: AllocateInput) {
    this.#input = input;
    this.#account = new Account(input.ledger, input.limits);
    this.#wake(settlesAt(input.ledger));
  }

  run(): Allocation {
    const candidates = this.#input.drains.flatMap((drain) => this.#candidatesOf(drain));
    for (const candidate of candidates.sort(inOrder)) this.#decide(candidate);
    return {
      grants: this.#grants,
      blockers: this.#blockers,
      ...(Number.isFinite(this.#nextCheckAt) ? { nextCheckAt: epochMs(this.#nextCheckAt) } : {}),
    };
  }

  #wake(at: EpochMs | undefined): void {
    if (at !== undefined) this.#nextCheckAt = Math.min(this.#nextCheckAt, at);
  }

  #block(drain: Drain, waiting: WaitingOn): void {
    const known = this.#blockers.get(drain.id);
    if (known === undefined) this.#blockers.set(drain.id, [waiting]);
    else known.push(waiting);
  }

  #candidatesOf(drain: Drain): readonly Candidate[] {
    const { now, budgets, ledger } = this.#input;
    const notYet = notYetOf(drain.pods, drain.waits, now);
    const intervals = intervalsOf(drain.pods, drain.window);
    const candidates: Candidate[] = [];
    for (const { pod } of drain.pods) {
      const at = forceAt(pod, drain.window, intervals.get(pod.metadata.uid));
      const entry = ledger.inFlight.get(pod.metadata.uid);
      if (isTerminating(pod) || entry !== undefined) this.#ownerIsBusy(pod);
      if (entry !== undefined && entry.state !== 'lost') {
        this.#requestedAgain(drain, pod, at);
        continue;
      }
      if (isTerminating(pod)) {
        this.#terminating(drain, pod);
        continue;
      }
      if (at !== undefined && at > now) this.#wake(at);
      const forced = drain.forcing && at !== undefined && at <= now;
      const route = routeOf(pod, budgets.of(pod), forced);
      const { uid } = pod.metadata;
      const failure = ledger.failures.size === 0 ? undefined : ledger.failures.get(uid);
      const later = forced ? undefined : (this.#input.swaps?.get(uid) ?? notYet(pod, at));
      if (later === undefined) {
        candidates.push({ drain, pod, name: keyOfObject(pod), route, forceAt: at, failure });
      } else {
        this.#block(drain, later.waiting);
        this.#wake(later.until);
      }
    }
    return drain.mayEvict ? candidates : [];
  }

  #ownerIsBusy(pod: Pod): void {
    if (!this.#input.limits.holdLastReplicas) return;
    const owner = controllerOf(pod)?.uid;
    if (owner !== undefined) this.#ownersBusy.add(owner);
  }

  #terminating(drain: Drain, pod: Pod): void {
    const { now, ledger } = this.#input;
    const { window } = drain;
    this.#block(drain, blocker.termination(pod, now));
    const at = forceAt(pod, window);
    if (window === undefined || !drain.mayEvict) return;
    if (at !== undefined && at > now) this.#wake(at);
    const failure = ledger.failures.get(pod.metadata.uid);
    if (failure?.how === 'delete' && now < retryAt(failure)) {
      this.#wake(retryAt(failure));
      return;
    }
    if (!drain.forcing || !shouldShorten(pod, window, now) || !this.#account.hasPlace()) return;
    this.#delete(drain, pod, [], {
      graceSeconds: forcedGraceSeconds(window, now),
      why: 'shorten',
    });
  }

  #decide(candidate: Candidate): void {
    const { drain, pod, route, failure } = candidate;
    const { now } = this.#input;
    if (this.#isSignalled(candidate)) return;
    if (failure !== undefined && mustWait(candidate, now)) {
      this.#wake(retryAt(failure));
      this.#block(drain, blocker.failed(pod, failure, route, candidate.forceAt));
      return;
    }
    switch (route.kind) {
      case 'forced':
        this.#force(candidate);
        return;
      case 'bypass':
        if (this.#account.hasPlace()) this.#evict(drain, pod, [], route.budgets);
        return;
      case 'free':
        this.#evictFree(candidate);
        return;
      case 'budget':
        this.#evictFrom(candidate, route.budget);
        return;
      case 'several':
        this.#evictFromSeveral(candidate, route.budgets);
        return;
    }
  }

  /**
   * For an application that moves its own pods: requests the move or waits for it. False for all
   * other pods.
   */
  #isSignalled(candidate: Candidate): boolean {
    const { drain, pod, route, failure, forceAt: at } = candidate;
    if (route.kind === 'forced') return false;
    const isKnown = movesItself(pod, drain.selfMoving);
    const { now } = this.#input;
    const againAt = failure && requestAgainAt(failure, isKnown, drain.selfMoving);
    if (failure === undefined || againAt === undefined) {
      const isBackingOff = failure !== undefined && now < retryAt(failure);
      if (!isKnown || isBackingOff || this.#mayBeGranted(route)) return false;
      this.#signal(candidate);
      return true;
    }
    if (failure.code === 'DisruptionBudget' && this.#mayBeGranted(route)) return false;
    if (now >= againAt) this.#signal(candidate);
    else this.#wake(againAt);
    this.#block(drain, blocker.selfMoving(pod, route.budgets, failure, { againAt, at }));
    return true;
  }

  /** While another request is in flight, the blocker of the previous request stays in effect. */
  #requestedAgain(drain: Drain, pod: Pod, at: EpochMs | undefined): void {
    const { ledger, budgets } = this.#input;
    const failure = ledger.failures.get(pod.metadata.uid);
    if (failure === undefined || isTerminating(pod)) return;
    const isKnown = movesItself(pod, drain.selfMoving);
    const againAt = requestAgainAt(failure, isKnown, drain.selfMoving);
    if (againAt === undefined) return;
    this.#block(drain, blocker.selfMoving(pod, budgets.of(pod), failure, { againAt, at }));
  }

  /** Whether its budgets would allow the eviction. */
  #mayBeGranted(route: Route): boolean {
    if (route.kind === 'several') return false;
    return route.kind !== 'budget' || this.#account.left(route.budget) > 0;
  }

  /**
   * Without a free slot the pod needs no blocker: a slot is freed by an answer, and an answer
   * starts the next pass.
   */
  #signal({ drain, pod, route: { budgets } }: Candidate): void {
    const hasPlace = budgets.every((budget) => this.#account.hasPlaceOn(budget));
    if (!this.#account.hasSignalPlace() || !hasPlace) return;
    this.#evict(drain, pod, budgets, budgets, true);
  }

  #force({ drain, pod }: Candidate): void {
    if (drain.window === undefined || !this.#account.hasPlace()) return;
    const leftSeconds = forcedGraceSeconds(drain.window, this.#input.now);
    const graceSeconds = Math.max(1, Math.min(leftSeconds, graceOf(pod) / 1000));
    this.#delete(drain, pod, [], { graceSeconds, why: 'deadline' });
  }

  #evictFree(candidate: Candidate): void {
    const { drain, pod } = candidate;
    const owner = controllerOf(pod);
    if (this.#input.limits.holdLastReplicas && owner !== undefined) {
      const elsewhere = this.#input.owners?.(owner.uid);
      if (elsewhere?.readyElsewhere === 0 && this.#ownersBusy.has(owner.uid)) {
        this.#block(drain, blocker.replacement(pod, candidate.forceAt));
        return;
      }
      this.#ownersBusy.add(owner.uid);
    }
    if (this.#account.hasPlace()) this.#evict(drain, pod, []);
  }

  #evictFrom(candidate: Candidate, budget: PodDisruptionBudget): void {
    const { drain, pod } = candidate;
    // No blocker: a slot is freed by an answer, and an answer starts the next pass.
    if (this.#account.left(budget) <= 0) this.#blockOn(candidate, budget);
    else if (this.#account.hasPlace() && this.#account.hasPlaceOn(budget)) {
      this.#evict(drain, pod, [budget]);
    }
  }

  #blockOn(candidate: Candidate, budget: PodDisruptionBudget): void {
    const { drain, pod, forceAt: at } = candidate;
    const held = this.#input.ledger.held.get(keyOfObject(budget));
    if (held === undefined) this.#block(drain, blocker.pdb(pod, budget, at));
    else {
      this.#wake(held.until);
      this.#block(drain, blocker.budgetHeld(pod, held, at));
    }
  }

  #evictFromSeveral(candidate: Candidate, budgets: readonly PodDisruptionBudget[]): void {
    const { drain, pod, forceAt: at } = candidate;
    const possible = this.#input.limits.multiBudget === 'emulate';
    const free = budgets.every(
      (budget) => this.#account.left(budget) >= 1 && this.#account.isQuiet(budget),
    );
    if (!possible || !free) this.#block(drain, blocker.multiplePdbs(pod, budgets, at));
    else if (this.#account.hasPlace()) {
      const { resourceVersion } = pod.metadata;
      this.#delete(drain, pod, budgets, { resourceVersion, why: 'emulate' });
    }
  }

  /** `seen` = every budget that selects the pod: a refusal is retried once one of them changes. */
  #evict(
    drain: Drain,
    pod: Pod,
    budgets: readonly PodDisruptionBudget[],
    seen: readonly PodDisruptionBudget[] = budgets,
    isSignal = false,
  ): void {
    const keys = budgets.map(keyOfObject);
    this.#account.grant(keys, false, isSignal);
    this.#grants.push({
      kind: 'evict',
      drain: drain.id,
      node: drain.node,
      pod: podRef(pod),
      budgets: keys,
      budgetVersions: versionsOf(seen),
      isSignal,
    });
  }

  #delete(
    drain: Drain,
    pod: Pod,
    budgets: readonly PodDisruptionBudget[],
    more: {
      readonly graceSeconds?: number;
      readonly resourceVersion?: string;
      readonly why: 'deadline' | 'shorten' | 'emulate';
    },
  ): void {
    const keys = budgets.map(keyOfObject);
    this.#account.grant(keys, more.why === 'emulate');
    this.#grants.push({
      kind: 'delete',
      drain: drain.id,
      node: drain.node,
      pod: podRef(pod),
      budgets: keys,
      budgetVersions: versionsOf(budgets),
      ...more,
    });
  }
}

export const allocate = (input: AllocateInput): Allocation => new Pass(input).run();
