// The row of a PodDisruptionBudget that allows no eviction, or that a drain waits for. Pure.
import type { NodeDisruption } from '../../api/disruption.ts';
import type { PodDisruptionBudget } from '../../api/kube.ts';
import type { PageBudget } from '../../api/page.ts';
import { drainWait } from './waits.ts';

const ruleOf = ({ spec }: PodDisruptionBudget): string => {
  const { minAvailable, maxUnavailable } = spec;
  if (minAvailable !== undefined) return `minAvailable ${minAvailable}`;
  return `maxUnavailable ${maxUnavailable ?? 'not set'}`;
};

/** Undefined for a budget that allows evictions and that no drain waits for: it is not listed. */
export const budgetRowOf = (
  budget: PodDisruptionBudget,
  drains: readonly NodeDisruption[],
): PageBudget | undefined => {
  const {
    disruptionsAllowed = 0,
    currentHealthy = 0,
    desiredHealthy = 0,
    expectedPods = 0,
  } = budget.status;
  const isSpent = disruptionsAllowed === 0 && expectedPods > 0;
  if (!isSpent && drains.length === 0) return undefined;
  const waits = drains.flatMap((drain) => drainWait(drain) ?? []);
  const [oldest = null] = waits.toSorted((a, b) => (a.since ?? '').localeCompare(b.since ?? ''));
  return {
    key: `${budget.metadata.namespace ?? ''}/${budget.metadata.name}`,
    rule: ruleOf(budget),
    allowed: disruptionsAllowed,
    healthy: currentHealthy,
    desired: desiredHealthy,
    expected: expectedPods,
    drains: drains.map(({ metadata }) => metadata.name).toSorted(),
    wait: oldest,
  };
};
