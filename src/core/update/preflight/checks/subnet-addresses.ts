// Free addresses of the subnets against the demand of new nodes while old nodes still hold theirs.
// Amazon's VPC CNI reserves addresses ahead and, if it cannot, allocates them one by one. Only too
// few addresses for the nodes and pods themselves are a blocker (amazon-vpc-cni-k8s:
// eni-and-ip-target, prefix delegation).
import { isOwnStrategy } from '../../../../api/nodegroup-update.ts';
import type { FullPod } from '../../../../api/workloads.ts';
import type { Check, Found } from '../finding.ts';
import type { InstanceTypeFact, SubnetFacts } from '../snapshot.ts';
import type { View } from '../view.ts';

interface Cni {
  readonly warmEnis: number;
  readonly warmIps: number | undefined;
  readonly minimumIps: number | undefined;
  readonly warmPrefixes: number;
  readonly isPrefixMode: boolean;
}

/** Settings of the aws-node DaemonSet; undefined if it does not exist. */
export const cniOf = ({ snapshot }: View): Cni | undefined => {
  const daemonSet = snapshot.workloads.find(
    ({ kind, metadata }) => kind === 'DaemonSet' && metadata.name === 'aws-node',
  );
  if (daemonSet === undefined) return undefined;
  const env = (daemonSet.spec.template?.spec?.containers ?? []).flatMap((one) => one.env ?? []);
  const numberOf = (name: string): number | undefined => {
    const value = env.find((one) => one.name === name)?.value;
    return value === undefined || value === '' ? undefined : Number(value);
  };
  return {
    warmEnis: numberOf('WARM_ENI_TARGET') ?? 1,
    warmIps: numberOf('WARM_IP_TARGET'),
    minimumIps: numberOf('MINIMUM_IP_TARGET'),
    warmPrefixes: numberOf('WARM_PREFIX_TARGET') ?? 1,
    isPrefixMode: env.some(
      ({ name, value }) => name === 'ENABLE_PREFIX_DELEGATION' && value === 'true',
    ),
  };
};

const addressesPerPrefix = 16;

/** Addresses that the CNI reserves for a node with `pods` pods, in addition to the node's own. */
export const warmDemand = (cni: Cni, type: InstanceTypeFact, pods: number): number => {
  const { warmIps, minimumIps, warmEnis } = cni;
  if (cni.isPrefixMode) {
    return addressesPerPrefix * (Math.ceil(pods / addressesPerPrefix) + cni.warmPrefixes);
  }
  if (warmIps !== undefined || minimumIps !== undefined) {
    return Math.max(minimumIps ?? 0, pods + (warmIps ?? 0));
  }
  const perEni = type.addressesPerInterface - 1;
  const inUse = Math.max(1, Math.ceil(pods / Math.max(1, perEni)));
  return perEni * Math.min(type.interfaces, inUse + warmEnis);
};

const onPodNetwork = ({ spec }: FullPod): boolean => spec.hostNetwork !== true;

/** The pods of a new node after the update: as many as on the old node with the most pods. */
const podsPerNode = (view: View): number => {
  const counts = view.oldNodes.map(
    ({ node }) => view.podsOn(node.metadata.name).filter(onPodNetwork).length,
  );
  return Math.max(0, ...counts);
};

/**
 * Drover's own strategies accept first new nodes in other zones, and SURGE may drain old nodes
 * first. EKS waits for a new node in each zone.
 */
const goesOn = (view: View, launches: number, subnet: SubnetFacts): string | undefined => {
  const { group, subnets } = view.snapshot;
  const { strategy, onShortage = 'Elsewhere' } = group;
  if (!isOwnStrategy(strategy) || subnet.freeAddresses >= launches) return undefined;
  const own = subnets.filter(({ id }) => group.subnets.includes(id));
  const room = own.reduce((all, { freeAddresses }) => all + freeAddresses, 0);
  if (strategy === 'SURGE' && onShortage === 'Minimal' && room < view.surge) {
    return (
      'there is no address for new nodes beside the old ones: old nodes are drained first ' +
      '(onShortage)'
    );
  }
  if (room < view.surge || (strategy === 'SURGE' && onShortage === 'Fail')) return undefined;
  return (
    `no new node gets an address in ${subnet.zone}: they come up in other zones, and old ` +
    'nodes there go last'
  );
};

const judge = (view: View, subnet: SubnetFacts, launches: number): readonly Found[] => {
  const { snapshot, forecast } = view;
  const [smallest] = snapshot.instanceTypes.toSorted(
    (a, b) => a.addressesPerInterface - b.addressesPerInterface,
  );
  const cni = cniOf(view);
  const pods = cni === undefined ? 0 : podsPerNode(view);
  const needed = launches * (1 + pods);
  const warm = cni === undefined || smallest === undefined ? pods : warmDemand(cni, smallest, pods);
  const wanted = launches * (1 + warm);
  const { freeAddresses } = subnet;
  if (freeAddresses >= wanted) return [];
  const without = goesOn(view, launches, subnet);
  const isShort = freeAddresses < needed;
  const short = 'new nodes or their pods get no address: InsufficientFreeAddresses';
  return [
    {
      severity: isShort && without === undefined ? 'blocker' : 'warning',
      object: { kind: 'Subnet', name: subnet.id },
      evidence: {
        zone: subnet.zone,
        freeAddresses,
        newNodesAtOnce: launches,
        podsPerNode: pods,
        addressesNeeded: needed,
        addressesWithReserve: wanted,
      },
      consequence: {
        text: isShort
          ? (without ?? short)
          : 'the CNI cannot reserve addresses ahead: pods start slower',
        minute: Math.round(forecast.firstLaunchMinute),
      },
      remedy: isShort
        ? `free addresses in ${subnet.id}, or give ${snapshot.group.name} a further subnet in ` +
          `${subnet.zone}`
        : 'kubectl -n kube-system set env daemonset/aws-node WARM_IP_TARGET=2 MINIMUM_IP_TARGET=4',
    },
  ];
};

export const subnetAddresses: Check = {
  name: 'subnet-addresses',
  title: 'A subnet has too few free addresses for new nodes and their pods',
  needs: ['nodes', 'pods', 'subnets', 'instanceTypes'],
  run: (view) => {
    const { group, subnets } = view.snapshot;
    const own = subnets.filter(({ id }) => group.subnets.includes(id));
    if (own.length === 0 || view.oldNodes.length === 0) return [];
    // Without a surge, an old node frees its addresses before the first launch.
    const launches = Math.ceil(view.surge / own.length);
    return launches === 0 ? [] : own.flatMap((subnet) => judge(view, subnet, launches));
  },
};
