// Surplus new nodes that an earlier update could not remove. If budgets still keep too many of the
// group's nodes from being drained, this update fails as the earlier one did. Part of
// budget-never-allows. Pure.
import { BudgetIndex, classifyPods, keyOfObject } from '../../../drain/index.ts';
import { allowedWhenHealthy, ruleOf } from '../budgets.ts';
import type { Found } from '../finding.ts';
import type { View } from '../view.ts';
import { kubectl, plural, shortName } from './parts.ts';

/** Pods of new nodes under budgets that never allow an eviction: the first one on each node. */
const keptOn = ({ snapshot }: View) => {
  const index = new BudgetIndex(snapshot.budgets);
  const fresh = snapshot.nodes.filter(({ isOfGroup, isOld }) => isOfGroup && !isOld);
  const podsByNode = Map.groupBy(snapshot.pods, ({ spec }) => spec.nodeName);
  const kept = fresh.flatMap(({ node }) => {
    const pods = podsByNode.get(node.metadata.name) ?? [];
    for (const { pod } of classifyPods(pods).evict) {
      const budget = index.of(pod).find((one) => {
        const { expectedPods = 0 } = one.status;
        return expectedPods > 0 && allowedWhenHealthy(one, expectedPods) === 0;
      });
      if (budget !== undefined) return [{ node: node.metadata.name, pod, budget }];
    }
    return [];
  });
  return { nodes: fresh.length, kept };
};

export const keptSurplus = (view: View): readonly Found[] => {
  const { leftover = 0, force, drainTimeoutSeconds } = view.snapshot.group;
  if (leftover === 0) return [];
  const { nodes, kept } = keptOn(view);
  const [first] = kept;
  if (first === undefined || nodes - kept.length >= leftover) return [];
  const name = keyOfObject(first.budget);
  const minutes = Math.round(drainTimeoutSeconds / 60);
  const end = force ? 'their pods are deleted' : 'PodEvictionFailure';
  return [
    {
      severity: force ? 'warning' : 'blocker',
      object: { kind: 'PodDisruptionBudget', name },
      evidence: { rule: ruleOf(first.budget), leftover, nodes, kept: kept.length },
      consequence: {
        text:
          `${plural(leftover, 'node')} more than asked for ${leftover === 1 ? 'is' : 'are'} ` +
          `to go, and budgets never let ${kept.length} of ${nodes} be emptied; ${end} after ` +
          `${plural(minutes, 'minute')}`,
        node: first.node,
        pod: keyOfObject(first.pod),
        minute: minutes,
      },
      remedy:
        `${kubectl(name)} patch pdb ${shortName(name)} --type merge -p ` +
        '\'{"spec":{"minAvailable":null,"maxUnavailable":1}}\'',
    },
  ];
};
