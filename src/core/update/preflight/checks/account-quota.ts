// What the surge takes of the account's quotas beside everything else that runs. A warning: the quota in
// force and its use change from minute to minute.
import type { Check } from '../finding.ts';
import { quantity } from '../quantity.ts';
import type { AccountQuota } from '../snapshot.ts';
import type { View } from '../view.ts';

const vcpusOf = (view: View): number =>
  Math.max(0, ...view.oldNodes.map(({ node }) => Math.ceil(quantity(node.status.capacity?.cpu))));

const demandOf = (view: View, { unit }: AccountQuota): number => {
  switch (unit) {
    case 'vCPU':
      return view.surge * vcpusOf(view);
    case 'interfaces':
      return view.surge;
    case 'GiB':
      return 0;
  }
};

export const accountQuota: Check = {
  name: 'account-quota',
  title: "New nodes are more than the account's quota leaves",
  needs: ['nodes', 'accountQuotas'],
  run: (view) =>
    view.snapshot.accountQuotas.flatMap((quota) => {
      const wanted = demandOf(view, quota);
      const left = quota.limit - quota.used;
      if (wanted <= left) return [];
      return [
        {
          severity: 'warning' as const,
          object: { kind: 'Quota', name: quota.name },
          evidence: { limit: quota.limit, used: quota.used, wanted, surge: view.surge },
          consequence: {
            text: 'instances are refused: NodeCreationFailure, no old node is touched',
            minute: Math.round(view.forecast.firstLaunchMinute),
          },
          remedy: `drover plan update ${view.snapshot.group.name} --strategy MINIMAL   # or raise ${quota.name}`,
        },
      ];
    }),
};
