// Computes the status of a PodDisruptionBudget. Pure; upstream: pkg/controller/disruption
// (Kubernetes 1.32: trySync, getExpectedPodCount, updatePdbStatus).
import {
  type BudgetView,
  type Cond,
  type Labels,
  microsOf,
  scaled,
  withCondition,
} from '../actors/index.ts';

/** How long an admitted eviction counts against the budget when its pod is not deleted. */
const deletionTimeoutMicros = 120 * 1_000_000;

export interface BudgetFacts {
  /** Pods that match the selector and are not finished. */
  readonly matching: number;
  /** Matching pods that are Ready and not terminating. */
  readonly healthy: number;
  /** Sum of the scales of the distinct controllers behind the matching pods. */
  readonly expectedByScale: number;
}

/** The expected number of pods, and how many must stay healthy. */
export const budgetNumbers = (
  budget: BudgetView,
  facts: BudgetFacts,
): { readonly expected: number; readonly desired: number } => {
  const { minAvailable, maxUnavailable } = budget.spec;
  if (maxUnavailable !== undefined) {
    const expected = facts.expectedByScale;
    return {
      expected,
      desired: Math.max(0, expected - scaled(maxUnavailable, expected, 'up')),
    };
  }
  if (typeof minAvailable === 'string') {
    const expected = facts.expectedByScale;
    return { expected, desired: scaled(minAvailable, expected, 'up') };
  }
  return { expected: facts.matching, desired: minAvailable ?? 0 };
};

export interface DisruptedPods {
  /** Pods whose admitted eviction still counts. */
  readonly kept: Labels;
  /** When the oldest of these evictions stops counting. */
  readonly nextExpiry: number | undefined;
}

/** An entry is removed when its pod is deleted or terminating, or after two minutes. */
export const keptDisruptions = (
  disrupted: Labels | undefined,
  now: number,
  standing: (podName: string) => boolean,
): DisruptedPods => {
  const kept: Record<string, string> = {};
  let nextExpiry: number | undefined;
  for (const [name, time] of Object.entries(disrupted ?? {})) {
    const expiry = (microsOf(time) ?? 0) + deletionTimeoutMicros;
    if (expiry <= now || !standing(name)) continue;
    kept[name] = time;
    nextExpiry = Math.min(nextExpiry ?? expiry, expiry);
  }
  return { kept, nextExpiry };
};

export type BudgetStatus = {
  readonly conditions: readonly Cond[];
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly disruptedPods?: Labels;
  readonly disruptionsAllowed: number;
  readonly expectedPods: number;
  readonly observedGeneration: number;
};

/** `healthy` excludes the pods in `disrupted`. */
export const budgetStatus = (
  budget: BudgetView,
  numbers: { readonly healthy: number; readonly desired: number; readonly expected: number },
  more: { readonly disrupted: Labels; readonly now: string },
): BudgetStatus => {
  const { healthy, desired, expected } = numbers;
  const allowed = expected <= 0 ? 0 : Math.max(0, healthy - desired);
  const generation = budget.metadata.generation ?? 1;
  const condition = {
    type: 'DisruptionAllowed',
    status: allowed > 0 ? 'True' : 'False',
    reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration: generation,
  };
  return {
    conditions: withCondition(budget.status?.conditions ?? [], condition, more.now),
    currentHealthy: healthy,
    desiredHealthy: desired,
    ...(Object.keys(more.disrupted).length === 0 ? {} : { disruptedPods: more.disrupted }),
    disruptionsAllowed: allowed,
    expectedPods: expected,
    observedGeneration: generation,
  };
};

const sameLabels = (a: Labels, b: Labels): boolean => {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
};

export const sameStatus = (budget: BudgetView, next: BudgetStatus): boolean => {
  const old = budget.status;
  return (
    old !== undefined &&
    old.observedGeneration === next.observedGeneration &&
    old.currentHealthy === next.currentHealthy &&
    old.desiredHealthy === next.desiredHealthy &&
    old.expectedPods === next.expectedPods &&
    old.disruptionsAllowed === next.disruptionsAllowed &&
    next.conditions === old.conditions &&
    sameLabels(old.disruptedPods ?? {}, next.disruptedPods ?? {})
  );
};
