// Pods that are not Ready under a budget that allows evicting unready pods only while enough others
// are healthy. The application is already down, and no drain can evict its pods.
import { isReady } from '../../../../api/conditions.ts';
import { ruleOf } from '../budgets.ts';
import type { Check } from '../finding.ts';
import { kubectl, shortName, stuckDrain } from './parts.ts';

export const unreadyPodsHeld: Check = {
  name: 'unready-pods-held',
  title: 'A budget holds pods that are not Ready',
  needs: ['nodes', 'pods', 'budgets'],
  run: (view) =>
    view.budgets.flatMap(({ budget, name, pods, healthy, expected }) => {
      const { unhealthyPodEvictionPolicy = 'IfHealthyBudget' } = budget.spec;
      const { desiredHealthy = 0 } = budget.status;
      const unready = pods.filter(({ pod }) => pod.status.phase === 'Running' && !isReady(pod));
      // With enough healthy pods the API server evicts unready pods without consuming the budget.
      const goAnyway = desiredHealthy > 0 && healthy >= desiredHealthy;
      if (unhealthyPodEvictionPolicy === 'AlwaysAllow' || unready.length === 0 || goAnyway) {
        return [];
      }
      return [
        {
          severity: 'warning' as const,
          object: { kind: 'PodDisruptionBudget', name },
          evidence: {
            rule: ruleOf(budget),
            unhealthyPodEvictionPolicy,
            unready: unready.length,
            currentHealthy: healthy,
            desiredHealthy,
            expectedPods: expected,
          },
          consequence: stuckDrain(
            view,
            unready,
            `${unready.length} unready pods cannot be evicted`,
          ),
          remedy:
            `${kubectl(name)} patch pdb ${shortName(name)} --type merge -p ` +
            '\'{"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}}\'',
        },
      ];
    }),
};
