// A budget whose spec never allows an eviction, whatever the pods' health. That is maxUnavailable
// 0, minAvailable 100 %, or minAvailable of all pods or more (percentages round up).
import { ruleOf } from '../budgets.ts';
import type { Check } from '../finding.ts';
import { keptSurplus } from './kept-surplus.ts';
import { kubectl, plural, shortName, stuckDrain } from './parts.ts';

export const budgetNeverAllows: Check = {
  name: 'budget-never-allows',
  title: 'A budget never allows an eviction',
  needs: ['nodes', 'pods', 'budgets'],
  run: (view) => [
    ...view.budgets
      .filter(({ allowed, expected }) => allowed === 0 && expected !== 1)
      .map(({ budget, name, expected, healthy, pods }) => ({
        severity: 'blocker' as const,
        object: { kind: 'PodDisruptionBudget', name },
        evidence: {
          rule: ruleOf(budget),
          expectedPods: expected,
          currentHealthy: healthy,
          disruptionsAllowed: budget.status.disruptionsAllowed ?? 0,
          pods: pods.length,
        },
        consequence: stuckDrain(
          view,
          pods,
          `${ruleOf(budget)} of ${plural(expected, 'pod')} allows none`,
        ),
        remedy:
          `${kubectl(name)} patch pdb ${shortName(name)} --type merge -p ` +
          '\'{"spec":{"minAvailable":null,"maxUnavailable":1}}\'',
      })),
    ...keptSurplus(view),
  ],
};
