// What the surge takes of the account's quotas beside everything else that runs: with too few vCPUs EC2 refuses the
// launches. Other quotas are a warning, since others use them as well and nothing here counts in them.
import type { Check } from '../finding.ts';
import { quantity } from '../quantity.ts';
import type { AccountQuota } from '../snapshot.ts';
import { vcpuQuotaOf } from '../vcpu-quotas.ts';
import type { View } from '../view.ts';

/** Of the smallest type that may be launched: where that is too much every other is. */
const vcpusOf = ({ snapshot, oldNodes }: View, { code }: AccountQuota): number => {
  const isSpot = snapshot.group.capacityType === 'SPOT';
  const types = snapshot.instanceTypes.filter(
    ({ name, vcpus }) => vcpus > 0 && vcpuQuotaOf(name, isSpot)?.code === code,
  );
  if (types.length > 0) return Math.min(...types.map(({ vcpus }) => vcpus));
  return Math.max(0, ...oldNodes.map(({ node }) => Math.ceil(quantity(node.status.capacity?.cpu))));
};

const demandOf = (view: View, quota: AccountQuota): number => {
  switch (quota.unit) {
    case 'vCPU':
      return view.surge * vcpusOf(view, quota);
    case 'interfaces':
      return view.surge;
    case 'GiB':
      return 0;
  }
};

const raise = ({ code, used }: AccountQuota, wanted: number): string =>
  `aws service-quotas request-service-quota-increase --service-code ec2 --quota-code ${code}` +
  ` --desired-value ${used + wanted}`;

const codeOf = ({ snapshot }: View): string =>
  snapshot.group.capacityType === 'SPOT' ? 'MaxSpotInstanceCountExceeded' : 'VcpuLimitExceeded';

const consequenceOf = (view: View, quota: AccountQuota): string => {
  const one = demandOf({ ...view, surge: 1 }, quota);
  // Drover's own goes on with what came, in its zones, until nothing is left to do there.
  return quota.limit - quota.used < one
    ? `launches are refused (${codeOf(view)}): NodeCreationFailure, no old node is touched`
    : `some launches are refused (${codeOf(view)}): NodeCreationFailure`;
};

export const accountQuota: Check = {
  name: 'account-quota',
  title: "New nodes are more than the account's quota leaves",
  needs: ['nodes', 'accountQuotas'],
  run: (view) =>
    view.snapshot.accountQuotas.flatMap((quota) => {
      const wanted = demandOf(view, quota);
      const left = quota.limit - quota.used;
      if (wanted <= left || view.oldNodes.length === 0) return [];
      const { name } = view.snapshot.group;
      return [
        {
          severity: quota.unit === 'vCPU' ? ('blocker' as const) : ('warning' as const),
          object: { kind: 'Quota', name: quota.name },
          evidence: {
            code: quota.code,
            limit: quota.limit,
            used: quota.used,
            wanted,
            surge: view.surge,
          },
          consequence: {
            text: consequenceOf(view, quota),
            minute: Math.round(view.forecast.firstLaunchMinute),
          },
          remedy:
            view.surge === 0
              ? raise(quota, wanted)
              : `drover plan update ${name} --strategy MINIMAL   # or ${raise(quota, wanted)}`,
        },
      ];
    }),
};
