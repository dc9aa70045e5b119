// The gate of core/update/gate.ts with sums that are kept while a run goes on: may a node be drained beside
// those that are, without any budget keeping the batch beyond the time of a drain? Pure.

import type { ModelInput, ModelNode } from './model.ts';

/** Part of the drain's time that is planned with. */
const gateShare = 0.9;

export interface BudgetLoad {
  readonly budget: number;
  /** Pods of it on the node. */
  readonly count: number;
  /** From an eviction to its replacement being Ready, of its slowest owner. */
  readonly seconds: number;
}

export interface GateState {
  readonly drainTimeoutSeconds: number;
  readonly allowed: (budget: number) => number;
  /** Pods that were released and are not gone yet. */
  readonly outstanding: (budget: number) => number;
}

export const passesGate = (loads: readonly BudgetLoad[], state: GateState): boolean =>
  loads.every(({ budget, count, seconds }) => {
    const rounds = Math.ceil((state.outstanding(budget) + count) / state.allowed(budget));
    return rounds * seconds <= gateShare * state.drainTimeoutSeconds;
  });

/** How much longer a drain takes beside those under way than alone, as the controller reckons. */
export const waitBeside = (loads: readonly BudgetLoad[], state: GateState): number => {
  const longest = (waiting: (budget: number) => number): number =>
    loads.reduce((most, { budget, count, seconds }) => {
      const rounds = Math.ceil((waiting(budget) + count) / state.allowed(budget));
      return Math.max(most, rounds * seconds);
    }, 0);
  return longest(state.outstanding) - longest(() => 0);
};

/** How long the budget of these that has the longest way to go still takes, were there nothing else. */
export const longestChain = (
  loads: readonly BudgetLoad[],
  state: Pick<GateState, 'allowed'> & { readonly left: (budget: number) => number },
): number =>
  loads.reduce(
    (most, { budget, seconds }) =>
      Math.max(most, (state.left(budget) / state.allowed(budget)) * seconds),
    0,
  );

/** What the pods of a node ask of each budget. */
export const loadsOf = ({ apps }: ModelInput, { pods }: ModelNode): readonly BudgetLoad[] => {
  const loads = new Map<number, BudgetLoad>();
  for (const { app } of pods) {
    const one = apps[app];
    if (one?.budget === undefined) continue;
    const { budget } = one;
    const { count, seconds } = loads.get(budget) ?? { count: 0, seconds: 0 };
    // As the controller reckons: the predecessor may take its whole grace.
    const recovery = one.replace.p50 + one.graceSeconds;
    loads.set(budget, { budget, count: count + 1, seconds: Math.max(seconds, recovery) });
  }
  return [...loads.values()];
};
