// The expected new nodes of the group, one for each zone that gets any: labels, taints, allocatable
// resources. Taken from an existing node unless the target says otherwise. Pure.
import { defined } from '../../../api/defined.ts';
import type { Taint } from '../../../api/kube.ts';
import type { FullPod } from '../../../api/workloads.ts';
import { skipReasonOf } from '../../drain/index.ts';
import { type Amounts, amountsOf, minus, podAmounts, sum, volumesResource } from './quantity.ts';
import type { Labels, Place } from './scheduling.ts';
import type { PlannedNode, Snapshot } from './snapshot.ts';

export interface NewNode extends Place {
  readonly zone: string;
  readonly taints: readonly Taint[];
  readonly labels: Labels;
  /** Undefined: the group has no node to take it from, and the instance type is unknown. */
  readonly room: Amounts | undefined;
}

/** Labels that the kubelet and the cloud set on each node. */
const ownLabels = new Set([
  'kubernetes.io/os',
  'beta.kubernetes.io/os',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
]);
const zoneLabels = [
  'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/zone',
  'topology.ebs.csi.aws.com/zone',
] as const;

export const architectureOf = (name: string | undefined): string | undefined => {
  if (name === undefined) return undefined;
  return name === 'x86_64' ? 'amd64' : name;
};

/** The zones of the group's subnets; if these could not be read, of its nodes. */
export const zonesOf = ({ group, subnets, nodes, unread }: Snapshot): readonly string[] => {
  const known = subnets.filter(({ id }) => group.subnets.includes(id)).map(({ zone }) => zone);
  const fallback = nodes.filter(({ isOfGroup }) => isOfGroup).map(({ zone }) => zone);
  const useKnown = unread.subnets === undefined && group.subnets.length > 0;
  return [...new Set(useKnown ? known : fallback)].toSorted();
};

const labelsOf = (snapshot: Snapshot, sample: PlannedNode | undefined, zone: string): Labels => {
  const { group, target } = snapshot;
  const has = sample?.node.metadata.labels ?? {};
  const own = Object.entries(has).filter(([key]) => ownLabels.has(key));
  const type = target.instanceTypes?.length === 1 ? target.instanceTypes[0] : undefined;
  const arch =
    architectureOf(target.architecture) ??
    sample?.node.status.nodeInfo?.architecture ??
    has['kubernetes.io/arch'];
  return {
    ...Object.fromEntries(own),
    ...defined({ 'node.kubernetes.io/instance-type': type }),
    ...(arch === undefined ? {} : { 'kubernetes.io/arch': arch, 'beta.kubernetes.io/arch': arch }),
    ...Object.fromEntries(zoneLabels.map((key) => [key, zone])),
    ...group.labels,
    'eks.amazonaws.com/nodegroup': group.name,
    'eks.amazonaws.com/capacityType': group.capacityType,
    ...defined({ 'eks.amazonaws.com/nodegroup-image': target.imageId }),
  };
};

export type PodsOn = (node: string) => readonly FullPod[];

export const podsByNode = (pods: readonly FullPod[]): PodsOn => {
  const byNode = Map.groupBy(pods, ({ spec }) => spec.nodeName);
  return (node) => byNode.get(node) ?? [];
};

/** The smallest of the group's nodes, since Auto Scaling chooses the type of a new one. */
const roomOf = (snapshot: Snapshot, podsOn: PodsOn): Amounts | undefined => {
  const { target, nodes, csiNodes } = snapshot;
  const csiNodeOf = new Map(csiNodes.map((one) => [one.metadata.name, one]));
  const types = target.instanceTypes;
  const samples = nodes.filter(
    ({ isOfGroup, instanceType, node }) =>
      isOfGroup &&
      node.status.allocatable !== undefined &&
      (types === undefined || types.includes(instanceType ?? '')),
  );
  const rooms = samples.map(({ node }) => {
    const { name } = node.metadata;
    const attachable = csiNodeOf
      .get(name)
      ?.spec.drivers?.flatMap(({ allocatable }) => allocatable?.count ?? []);
    const daemons = podsOn(name).filter((pod) => {
      const reason = skipReasonOf(pod);
      return reason === 'daemonSet' || reason === 'mirror';
    });
    const overhead = sum(daemons.map(podAmounts));
    const all = {
      ...amountsOf(node.status.allocatable),
      ...(attachable === undefined || attachable.length === 0
        ? {}
        : { [volumesResource]: Math.min(...attachable) }),
    };
    return minus(all, overhead);
  });
  return rooms.toSorted((a, b) => (a.cpu ?? 0) - (b.cpu ?? 0))[0];
};

export const newNodesOf = (snapshot: Snapshot, podsOn: PodsOn): readonly NewNode[] => {
  const sample = snapshot.nodes.find(({ isOfGroup }) => isOfGroup);
  const room = roomOf(snapshot, podsOn);
  return zonesOf(snapshot).map((zone) => ({
    // The name is unknown, so a pod pinned to a host name never matches.
    name: '',
    zone,
    labels: labelsOf(snapshot, sample, zone),
    taints: snapshot.group.taints,
    room,
  }));
};
