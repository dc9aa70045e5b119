// A budget whose status allows no eviction although every pod is healthy and its spec would allow
// some: the disruption controller cannot compute it. If pods are not healthy, it is only a warning.

import { isReady } from '../../../../api/conditions.ts';
import { statusIsCurrent } from '../../../drain/index.ts';
import { ruleOf } from '../budgets.ts';
import type { Check, Found } from '../finding.ts';
import type { ConcernedBudget, View } from '../view.ts';
import { kubectl, plural, shortName, stuckDrain } from './parts.ts';

const judge = (view: View, one: ConcernedBudget): readonly Found[] => {
  const { budget, name, allowed, expected, healthy, pods } = one;
  const { disruptionsAllowed = 0, disruptedPods = {}, desiredHealthy = 0 } = budget.status;
  // budget-never-allows and single-replica-budget report specs that never allow an eviction.
  if (allowed === 0 || disruptionsAllowed > 0 || Object.keys(disruptedPods).length > 0) return [];
  if (!statusIsCurrent(budget)) return [];
  const isHealthy = expected > 0 && healthy >= expected;
  const object = { kind: 'PodDisruptionBudget', name };
  const evidence = {
    rule: ruleOf(budget),
    expectedPods: expected,
    currentHealthy: healthy,
    desiredHealthy,
    disruptionsAllowed,
    pods: pods.length,
  };
  if (isHealthy) {
    const why =
      `${shortName(name)} allows no eviction although ` +
      `${expected === 1 ? 'its pod is' : `all ${expected} pods are`} healthy`;
    return [
      {
        severity: 'blocker',
        object,
        evidence,
        consequence: stuckDrain(view, pods, why),
        remedy: `${kubectl(name)} describe pdb ${shortName(name)}   # its conditions say why`,
      },
    ];
  }
  const why =
    `${shortName(name)} allows no eviction until ${plural(expected - healthy, 'more pod')} ` +
    `${expected - healthy === 1 ? 'is' : 'are'} healthy`;
  // unready-pods-held reports pods that are not Ready.
  const held = pods.filter(({ pod }) => isReady(pod));
  if (held.length === 0) return [];
  return [
    {
      severity: 'warning',
      object,
      evidence,
      consequence: stuckDrain(view, held, why),
      remedy: `${kubectl(name)} get pods   # bring them up before the update`,
    },
  ];
};

export const budgetMisconfigured: Check = {
  name: 'budget-misconfigured',
  title: 'A budget allows no eviction although its spec would',
  needs: ['nodes', 'pods', 'budgets'],
  run: (view) => view.budgets.flatMap((one) => judge(view, one)),
};
