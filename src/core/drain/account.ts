// The tokens and in-flight places that remain during one allocation, counted down as evictions are
// granted. A token is one disruption that a budget allows. Chooses no pod.
import type { PodDisruptionBudget } from '../../api/kube.ts';
import { keyOfObject, offeredTokens } from './budgets.ts';
import type { LedgerView } from './ledger.ts';

export interface Limits {
  /** Maximum number of evictions in flight in the whole cluster. */
  readonly clusterInFlight: number;
  /**
   * Maximum number of signals to applications that move their pods, in flight in the whole cluster;
   * a slow webhook must not hold up evictions.
   */
  readonly clusterSignalsInFlight: number;
  /**
   * Maximum number of evictions in flight per budget; more only cause conflicts (measured with a
   * budget that allows 10: 2 is best or equal).
   */
  readonly perBudgetInFlight: number;
  /**
   * `block`: a pod with two budgets waits for the deadline, because the API server refuses its
   * eviction.
   */
  readonly multiBudget: 'block' | 'emulate';
  /**
   * Evicts the last replicas of an owner without a budget one at a time. Needs list and watch of
   * ReplicaSets.
   */
  readonly holdLastReplicas: boolean;
}

export const defaultLimits: Limits = {
  clusterInFlight: 64,
  clusterSignalsInFlight: 16,
  perBudgetInFlight: 2,
  multiBudget: 'block',
  holdLastReplicas: false,
};
/**
 * Upper limit per budget, however many disruptions it allows; above it the p99 latency of evictions
 * grows to seconds (measured).
 */
const maxPerBudgetInFlight = 16;

/** Maximum number of evictions in flight for a budget that allows `left` more disruptions. */
export const perBudgetLimit = (left: number, limits: Limits): number => {
  const wide = left >= 80 ? 8 : left >= 40 ? 4 : 0;
  return Math.min(maxPerBudgetInFlight, Math.max(limits.perBudgetInFlight, wide));
};

/** Counts tokens and in-flight places down as evictions are granted. */
export class Account {
  readonly #limits: Limits;
  readonly #taken = new Map<string, number>();
  readonly #sending = new Map<string, number>();
  readonly #emulating = new Set<string>();
  #places: number;
  #signalPlaces: number;

  constructor(ledger: LedgerView, limits: Limits) {
    this.#limits = limits;
    this.#places = limits.clusterInFlight;
    this.#signalPlaces = limits.clusterSignalsInFlight;
    for (const entry of ledger.inFlight.values()) {
      for (const budget of entry.budgets) this.#take(budget, entry.emulated);
      if (entry.state === 'sending') this.#send(entry.sentOn, entry.isSignal);
    }
  }

  left(budget: PodDisruptionBudget): number {
    const key = keyOfObject(budget);
    return this.#emulating.has(key) ? 0 : offeredTokens(budget) - (this.#taken.get(key) ?? 0);
  }
  hasPlace(): boolean {
    return this.#places > 0;
  }
  hasSignalPlace(): boolean {
    return this.#signalPlaces > 0;
  }
  hasPlaceOn(budget: PodDisruptionBudget): boolean {
    const sending = this.#sending.get(keyOfObject(budget)) ?? 0;
    return sending < perBudgetLimit(this.left(budget), this.#limits);
  }
  /** True when none of our evictions is pending on this budget. */
  isQuiet(budget: PodDisruptionBudget): boolean {
    return (this.#taken.get(keyOfObject(budget)) ?? 0) === 0;
  }
  grant(budgets: readonly string[], one: boolean, isSignal = false): void {
    for (const budget of budgets) this.#take(budget, one);
    this.#send(budgets, isSignal);
  }

  #take(budget: string, one: boolean): void {
    this.#taken.set(budget, (this.#taken.get(budget) ?? 0) + 1);
    if (one) this.#emulating.add(budget);
  }
  #send(budgets: readonly string[], isSignal: boolean): void {
    if (isSignal) this.#signalPlaces--;
    else this.#places--;
    for (const budget of budgets) this.#sending.set(budget, (this.#sending.get(budget) ?? 0) + 1);
  }
}
