// A pod that more than one budget of its namespace selects. The API server refuses every eviction
// of it with a plain 500, even if the budgets would allow it. Pending and finished pods can be
// evicted.

import { keyOfObject } from '../../../drain/index.ts';
import type { Check, Found } from '../finding.ts';
import type { MovedPod, View } from '../view.ts';
import { byOwner, kubectl, ownerText, shortName, stuckDrain } from './parts.ts';

const judge = (view: View, pods: readonly MovedPod[]): readonly Found[] => {
  const [first] = pods;
  if (first === undefined) return [];
  const names = first.budgets.map(keyOfObject);
  const consequence = stuckDrain(
    view,
    pods,
    `${names.length} budgets select the pod, so the API server refuses to evict it`,
  );
  return [
    {
      severity: 'blocker',
      object: { kind: 'Pod', name: consequence.pod ?? first.name },
      evidence: { budgets: names.join(' '), owner: ownerText(first), pods: pods.length },
      consequence,
      remedy:
        `${kubectl(first.name)} delete pdb ${shortName(names.at(-1) ?? '')}   # or narrow its ` +
        'selector',
    },
  ];
};

export const severalBudgets: Check = {
  name: 'several-budgets',
  title: 'Several budgets select one pod',
  needs: ['nodes', 'pods', 'budgets'],
  run: (view) =>
    byOwner(
      view.moved.filter(({ budgets, pod }) => budgets.length > 1 && pod.status.phase !== 'Pending'),
    ).flatMap((pods) => judge(view, pods)),
};
