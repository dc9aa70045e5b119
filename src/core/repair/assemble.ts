// Builds the observation of one group's repairs from the facts of the cluster and the cloud. The
// controller and the command line share it, so both decide on the same facts. Pure.
import { type EpochMs, epochMs, parseTime } from '../../api/brand.ts';
import type { ImpairedInstance, ScalingGroup, ScalingInstance } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import { marks, type NodeDisruption } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import { endedRepairPhases, type NodeRepair } from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { type HealthFacts, healthOf, type ImpairedCheck } from '../health/index.ts';
import type { ClusterNode, RepairMember, RepairObservation } from './observation.ts';
import { repairTimesOf } from './policy.ts';

export interface RepairFacts {
  readonly group: NodeGroup;
  readonly scaling: ScalingGroup;
  /** The node of an instance of the group. */
  readonly nodeOf: (instanceId: string) => Node | undefined;
  readonly nodes: readonly Node[];
  /** All repairs of the group. */
  readonly repairs: readonly NodeRepair[];
  readonly disruptionOf: (instanceId: string) => NodeDisruption | undefined;
  /** For instances without a Node object. */
  readonly launchedAt: ReadonlyMap<string, EpochMs>;
  readonly missedSince: ReadonlyMap<string, EpochMs>;
  readonly impaired: ReadonlyMap<string, readonly ImpairedCheck[]>;
  /** Instances of verified quarantines that EC2 has terminated or is terminating; default: none. */
  readonly gone?: ReadonlySet<string>;
  readonly now: EpochMs;
}

const zoneLabel = 'topology.kubernetes.io/zone';

const readyOf = (node: Node) => node.status.conditions?.find(({ type }) => type === 'Ready');

const isInService = (node: Node): boolean =>
  readyOf(node)?.status === 'True' &&
  node.metadata.labels?.[marks.excludeFromLoadBalancers] === undefined &&
  node.spec.taints?.some(({ key }) => key === marks.disruptedTaint) !== true;

/** For a process that did not see the Node's deletion: the time recorded in the open episode. */
const missedBefore = ({ repairs }: RepairFacts, instanceId: string): EpochMs | undefined => {
  const open = repairs.find(
    ({ spec, status }) =>
      spec.instanceId === instanceId && !endedRepairPhases.some((one) => one === status?.phase),
  );
  if (open?.spec.reason === 'NodeDeleted') return parseTime(open.spec.unhealthySince);
  return parseTime(open?.status?.findings?.find(({ reason }) => reason === 'NodeDeleted')?.since);
};

const healthFacts = (facts: RepairFacts, instanceId: string): HealthFacts => ({
  node: facts.nodeOf(instanceId),
  ...defined({
    launchedAt: facts.launchedAt.get(instanceId),
    missedSince: facts.missedSince.get(instanceId) ?? missedBefore(facts, instanceId),
    impaired: facts.impaired.get(instanceId),
  }),
  startupTimeoutMs: repairTimesOf(facts.group).startupTimeoutMs,
  now: facts.now,
});

const memberOf = (
  facts: RepairFacts,
  { instanceId, availabilityZone }: ScalingInstance,
): RepairMember => {
  const node = facts.nodeOf(instanceId);
  return {
    instanceId,
    availabilityZone,
    node,
    health: healthOf(healthFacts(facts, instanceId)),
    isInService: node !== undefined && isInService(node),
  };
};

/** EC2's failing status checks by instance id. */
export const checksByInstance = (
  found: readonly ImpairedInstance[],
): ReadonlyMap<string, readonly ImpairedCheck[]> => {
  const byInstance = new Map<string, ImpairedCheck[]>();
  for (const { instanceId, check, since } of found) {
    const one = { check, since: parseTime(since) };
    const known = byInstance.get(instanceId);
    if (known === undefined) byInstance.set(instanceId, [one]);
    else known.push(one);
  }
  return byInstance;
};

/** Ids of the members without a Node object. */
export const membersWithoutNode = (
  { instances }: ScalingGroup,
  nodeOf: RepairFacts['nodeOf'],
): readonly string[] =>
  instances
    .filter(isMember)
    .map(({ instanceId }) => instanceId)
    .filter((id) => nodeOf(id) === undefined);

/** Whether Auto Scaling has it in service; others are launching, on standby or terminating. */
export const isMember = ({ lifecycleState }: ScalingInstance): boolean =>
  lifecycleState === 'InService';

const clusterNode = (node: Node): ClusterNode => {
  const ready = readyOf(node);
  const since = ready?.lastTransitionTime ?? node.metadata.creationTimestamp;
  return {
    zone: node.metadata.labels?.[zoneLabel] ?? '',
    ready: ready?.status ?? 'Unknown',
    since: parseTime(since) ?? epochMs(0),
  };
};

export const repairObservation = (facts: RepairFacts): RepairObservation => {
  const { group, scaling, repairs, nodes, gone = new Set(), now } = facts;
  const members = scaling.instances.filter(isMember).map((one) => memberOf(facts, one));
  const ids = [
    ...members.map(({ instanceId }) => instanceId),
    ...repairs.map(({ spec }) => spec.instanceId),
  ];
  const disruptions = new Map<string, NodeDisruption>();
  for (const id of ids) {
    const disruption = facts.disruptionOf(id);
    if (disruption !== undefined) disruptions.set(id, disruption);
  }
  const desired = scaling.desiredCapacity;
  const cluster = nodes.map(clusterNode);
  return { group, desired, members, repairs, disruptions, gone, cluster, now };
};
