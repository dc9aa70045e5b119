// How a pod may be removed, by what the API server requires for its eviction, measured on a real
// one (reference: real control plane, section 1). A token is one disruption that a budget allows.

import { isReady } from '../../api/conditions.ts';
import type { Pod, PodDisruptionBudget } from '../../api/kube.ts';
import { statusIsCurrent } from './budgets.ts';
import { isFinished, isTerminating } from './pods.ts';

export type Route =
  /** Its force time has come: it is deleted, whatever its budgets allow. */
  | { readonly kind: 'forced'; readonly budgets: readonly PodDisruptionBudget[] }
  /** Budgets select it, but its eviction takes no token. */
  | { readonly kind: 'bypass'; readonly budgets: readonly PodDisruptionBudget[] }
  | { readonly kind: 'free'; readonly budgets: readonly [] }
  | {
      readonly kind: 'budget';
      readonly budget: PodDisruptionBudget;
      readonly budgets: readonly PodDisruptionBudget[];
    }
  /** More than one budget: the API server refuses every eviction with a plain 500. */
  | { readonly kind: 'several'; readonly budgets: readonly PodDisruptionBudget[] };

/**
 * Whether its only budget allows evicting an unready pod: always, or while enough pods are healthy.
 */
const unreadyMayGo = (budget: PodDisruptionBudget): boolean => {
  if (budget.spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status;
  return statusIsCurrent(budget) && desiredHealthy > 0 && currentHealthy >= desiredHealthy;
};

export const routeOf = (
  pod: Pod,
  budgets: readonly PodDisruptionBudget[],
  forced: boolean,
): Route => {
  if (forced) return { kind: 'forced', budgets };
  const [first, ...others] = budgets;
  if (first === undefined) return { kind: 'free', budgets: [] };
  // The API server checks no budget for these, even when there are two.
  const counts = pod.status.phase !== 'Pending' && !isTerminating(pod) && !isFinished(pod);
  if (!counts) return { kind: 'bypass', budgets };
  if (others.length > 0) return { kind: 'several', budgets };
  if (!isReady(pod) && unreadyMayGo(first)) return { kind: 'bypass', budgets };
  return { kind: 'budget', budget: first, budgets };
};
