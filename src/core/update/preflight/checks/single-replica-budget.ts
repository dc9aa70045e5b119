// A single replica under a budget that therefore allows no eviction. A second replica during the
// update lets the first be evicted without a gap.
import { allowedWhenHealthy, ruleOf } from '../budgets.ts';
import type { Check } from '../finding.ts';
import { kubectl, ownerText, shortName, stuckDrain } from './parts.ts';

export const singleReplicaBudget: Check = {
  name: 'single-replica-budget',
  title: 'A single replica has a budget that allows no eviction',
  needs: ['nodes', 'pods', 'budgets'],
  run: (view) =>
    view.budgets
      .filter(({ allowed, expected }) => allowed === 0 && expected === 1)
      .map(({ budget, name, healthy, pods }) => {
        const [pod] = pods;
        const owner = pod?.owner;
        const isScalable = owner !== undefined && /^(Deployment|StatefulSet)$/.test(owner.kind);
        // A budget that allows no eviction of two pods either would still block the update.
        const scaled =
          isScalable && allowedWhenHealthy(budget, 2) > 0
            ? `${kubectl(name)} scale ${owner.kind.toLowerCase()}/${owner.name} --replicas=2`
            : undefined;
        return {
          severity: 'blocker' as const,
          object: { kind: 'PodDisruptionBudget', name },
          evidence: {
            rule: ruleOf(budget),
            expectedPods: 1,
            currentHealthy: healthy,
            owner: pod === undefined ? '' : ownerText(pod),
          },
          consequence: stuckDrain(view, pods, `${ruleOf(budget)} of 1 pod allows none`),
          remedy:
            scaled ??
            `${kubectl(name)} delete pdb ${shortName(name)}   # for the time of the update`,
        };
      }),
};
