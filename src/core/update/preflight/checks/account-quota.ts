// The account's quotas against the surge and everything else that runs. With too few vCPUs EC2
// refuses launches; if none of the group's types has room in its quota, no new node starts. Other
// quotas are only a warning, since their use elsewhere in the account is not counted.
import { defined } from '../../../../api/defined.ts';
import { quantityValue } from '../../../../api/quantity.ts';
import type { Check } from '../finding.ts';
import type { AccountQuota } from '../snapshot.ts';
import { vcpuQuotaOf } from '../vcpu-quotas.ts';
import type { View } from '../view.ts';

/** vCPUs of the smallest launchable type; if it is too large for the quota, every other type is. */
const vcpusOf = ({ snapshot, oldNodes }: View, { code }: AccountQuota): number => {
  const isSpot = snapshot.group.capacityType === 'SPOT';
  const types = snapshot.instanceTypes.filter(
    ({ name, vcpus }) => vcpus > 0 && vcpuQuotaOf(name, isSpot)?.code === code,
  );
  if (types.length > 0) return Math.min(...types.map(({ vcpus }) => vcpus));
  return Math.max(
    0,
    ...oldNodes.map(({ node }) => Math.ceil(quantityValue(node.status.capacity?.cpu))),
  );
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

const leftOf = ({ limit, used }: AccountQuota): number => limit - used;

type OldNode = View['oldNodes'][number];

/**
 * vCPUs of this quota that the termination of the node frees; 0 if the node counts against another
 * quota.
 */
const givenBack = ({ snapshot }: View, { code }: AccountQuota, one: OldNode): number => {
  const { instanceTypes, group } = snapshot;
  if (vcpuQuotaOf(one.instanceType ?? '', group.capacityType === 'SPOT')?.code !== code) return 0;
  const known = instanceTypes.find(({ name }) => name === one.instanceType)?.vcpus ?? 0;
  return known > 0 ? known : Math.ceil(quantityValue(one.node.status.capacity?.cpu));
};

/**
 * If an old node is terminated before each launch: the first one that frees too few vCPUs for its
 * replacement.
 */
const firstShort = (view: View, quota: AccountQuota): OldNode | undefined => {
  const wanted = vcpusOf(view, quota);
  const rest = new Map(view.oldNodes.map((one) => [one.node.metadata.name, one]));
  let left = leftOf(quota);
  while (rest.size > 0) {
    const name = view.forecast.firstDrained([...rest.keys()])?.node ?? [...rest.keys()][0] ?? '';
    const one = rest.get(name);
    if (one === undefined) return undefined;
    rest.delete(name);
    left += givenBack(view, quota, one);
    if (left < wanted) return one;
    left -= wanted;
  }
  return undefined;
};

/** Whether each new node is launched after an old one is terminated. */
const isBehind = (view: View, quota: AccountQuota): boolean =>
  view.surge === 0 && quota.unit === 'vCPU';

const isShort = (view: View, quota: AccountQuota): boolean =>
  isBehind(view, quota)
    ? firstShort(view, quota) !== undefined
    : demandOf(view, quota) > leftOf(quota);

/**
 * How many new nodes the quota allows. Without a surge, each is launched after an old one is
 * terminated.
 */
const roomOf = (view: View, quota: AccountQuota): number => {
  if (view.surge === 0) return firstShort(view, quota) === undefined ? 1 : 0;
  return Math.max(0, Math.floor(leftOf(quota) / Math.max(1, vcpusOf(view, quota))));
};

/**
 * Whether the vCPU quotas of all types together have room for the new nodes. Types without a known
 * quota count as available.
 */
const isRoomElsewhere = (view: View): boolean => {
  const { accountQuotas, instanceTypes, group } = view.snapshot;
  const quotas = accountQuotas.filter(({ unit }) => unit === 'vCPU');
  const codes = new Set(quotas.map(({ code }) => code));
  const isKnown = ({ name }: { readonly name: string }): boolean =>
    codes.has(vcpuQuotaOf(name, group.capacityType === 'SPOT')?.code ?? '');
  const room = quotas.reduce((all, one) => all + roomOf(view, one), 0);
  return !instanceTypes.every(isKnown) || room >= Math.max(1, view.surge);
};

/**
 * Drover's own strategy continues without a surge, which needs only the vCPUs that old nodes free.
 */
const goesOnWithout = (view: View, quota: AccountQuota): boolean => {
  const { group } = view.snapshot;
  return (
    group.strategy === 'SURGE' &&
    group.onShortage === 'Minimal' &&
    firstShort(view, quota) === undefined
  );
};

const consequenceOf = (view: View, quota: AccountQuota): string => {
  const { group } = view.snapshot;
  const one = demandOf({ ...view, surge: 1 }, quota);
  const areSome = leftOf(quota) >= one;
  const refused = `${areSome ? 'some launches' : 'launches'} are refused (${codeOf(view)})`;
  if (quota.unit === 'vCPU' && isRoomElsewhere(view)) {
    return `${refused} for its families: new nodes are of the other instance types`;
  }
  if (goesOnWithout(view, quota)) return `${refused}: old nodes are drained first (onShortage)`;
  // One old node is terminated first; the vCPUs that it frees do not cover the excess over the
  // limit.
  const isBehind =
    view.surge === 0 || (group.strategy === 'SURGE' && group.onShortage === 'Minimal');
  if (isBehind)
    return `${refused}: an old node is drained, nothing replaces it, NodeCreationFailure`;
  // Drover's own strategy continues with the nodes that were launched, in their zones, as far as it
  // can.
  return areSome
    ? `${refused}: NodeCreationFailure`
    : `${refused}: NodeCreationFailure, no old node is touched`;
};

const severityOf = (view: View, quota: AccountQuota): 'blocker' | 'warning' =>
  quota.unit !== 'vCPU' || isRoomElsewhere(view) || goesOnWithout(view, quota)
    ? 'warning'
    : 'blocker';

export const accountQuota: Check = {
  name: 'account-quota',
  title: "New nodes exceed the account's vCPU quota",
  needs: ['nodes', 'accountQuotas'],
  run: (view) =>
    view.snapshot.accountQuotas.flatMap((quota) => {
      if (view.oldNodes.length === 0 || !isShort(view, quota)) return [];
      const isOneByOne = isBehind(view, quota);
      const wanted = isOneByOne ? vcpusOf(view, quota) : demandOf(view, quota);
      const short = isOneByOne ? firstShort(view, quota)?.node.metadata.name : undefined;
      const first = short === undefined ? undefined : view.forecast.firstDrained([short]);
      const { name } = view.snapshot.group;
      return [
        {
          severity: severityOf(view, quota),
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
            ...defined({ node: short }),
            minute: Math.round(first?.minute ?? view.forecast.firstLaunchMinute),
          },
          remedy:
            view.surge === 0 || leftOf(quota) < 0
              ? raise(quota, wanted)
              : `drover plan update ${name} --strategy MINIMAL   # or ${raise(quota, wanted)}`,
        },
      ];
    }),
};
