// What keeps an eligible node from being repaired: breakers for a group, a zone, the control plane
// and one signal on many nodes, and the share of nodes that are repaired at once. Sources: EKS user
// guide, "Node auto repair"; machine-controller-manager's freeze. Pure.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import {
  type RepairBlocker,
  type RepairBlockerKind,
  zonalShiftAnnotation,
} from '../../api/node-repair.ts';
import { type Finding, instanceConditions } from '../health/index.ts';
import { maxUnavailableOf } from '../update/index.ts';
import type { ClusterNode, RepairMember, RepairObservation } from './observation.ts';
import { repairRuleOf, repairTimesOf } from './policy.ts';

/** EKS' defaults: more than 5 nodes and more than 20 % of them unhealthy. */
const smallGroup = 5;
const defaultPercentage = 20;
/** A failure shorter than this counts for no breaker. */
const shortestMs = 30_000;
const zoneShare = 0.5;
const otherZonesShare = 0.1;
const partitionShare = 0.3;
const partitionWithinMs = 2 * 60_000;
/** Fewer nodes that become silent at once are treated as failing nodes. */
const partitionNodes = 3;
const signalNodes = 3;
const signalShare = 0.2;
const signalWithinMs = 10 * 60_000;

/**
 * If at least this many members, and this share of them, lost their Node objects, a client has
 * deleted the objects.
 */
const missingNodes = 2;
const missingShare = 0.5;
/**
 * An older instance without a Node object must have had one, unless a repair shows that it never
 * joined.
 */
const joinedBeforeMs = 60 * 60_000;

/** Breakers that start the group's cooldown when they close. */
export const stormKinds: ReadonlySet<RepairBlockerKind> = new Set([
  'groupUnhealthy',
  'zoneOutage',
  'controlPlane',
  'sameSignal',
]);

/** Unhealthy for long enough to count. */
const counts = (member: RepairMember, { group, now }: RepairObservation): boolean =>
  member.health.state === 'Unhealthy' &&
  member.health.findings.some((finding) => {
    const { waitMs, actions } = repairRuleOf(group, finding);
    return actions.length > 0 && now - finding.since >= Math.max(shortestMs, waitMs / 10);
  });

export const sizeOf = ({ members, desired }: RepairObservation): number =>
  Math.max(members.length, desired);

export const unhealthyMembers = (observation: RepairObservation): readonly RepairMember[] =>
  observation.members.filter((member) => counts(member, observation));

/** More unhealthy members than this stop new repairs; undefined: no limit. */
const unhealthyLimit = (observation: RepairObservation): number | undefined => {
  const size = sizeOf(observation);
  const config = observation.group.spec.nodeRepairConfig ?? {};
  const { maxUnhealthyNodeThresholdCount: count, maxUnhealthyNodeThresholdPercentage } = config;
  if (count !== undefined) return count;
  if (maxUnhealthyNodeThresholdPercentage === undefined && size <= smallGroup) return undefined;
  const percentage = maxUnhealthyNodeThresholdPercentage ?? defaultPercentage;
  // At least one: a group of three would otherwise never be repaired.
  return Math.max(1, Math.floor((size * percentage) / 100));
};

export const groupBreaker = (observation: RepairObservation): RepairBlocker | undefined => {
  const limit = unhealthyLimit(observation);
  const unhealthy = unhealthyMembers(observation).length;
  if (limit === undefined || unhealthy <= limit) return undefined;
  const message = `${unhealthy} of ${sizeOf(observation)} nodes are unhealthy, and repairs stop above ${limit}`;
  return { kind: 'groupUnhealthy', message };
};

const isDown = ({ ready, since }: ClusterNode, now: EpochMs): boolean =>
  ready !== 'True' && now - since >= shortestMs;

interface Share {
  readonly down: number;
  readonly all: number;
}

const shareOf = (nodes: readonly ClusterNode[], now: EpochMs): Share => ({
  down: nodes.filter((node) => isDown(node, now)).length,
  all: nodes.length,
});

/**
 * Half of a zone is down while the other zones are healthy: replacing its nodes makes an outage
 * worse.
 */
export const zoneBreaker = (
  { cluster, now }: RepairObservation,
  zone: string,
): RepairBlocker | undefined => {
  const own = shareOf(
    cluster.filter((node) => node.zone === zone),
    now,
  );
  const others = shareOf(
    cluster.filter((node) => node.zone !== zone),
    now,
  );
  const isOut = own.down >= 2 && own.down >= own.all * zoneShare;
  if (!isOut || others.all === 0 || others.down >= others.all * otherZonesShare) return undefined;
  const message = `${own.down} of ${own.all} nodes of zone ${zone} are not Ready, and the other zones are well`;
  return { kind: 'zoneOutage', message };
};

/** The largest number of times within `withinMs` of each other. */
const mostWithin = (times: readonly EpochMs[], withinMs: number): number => {
  const sorted = times.toSorted((a, b) => a - b);
  let most = 0;
  let first = 0;
  sorted.forEach((at, index) => {
    while (at - (sorted[first] ?? at) > withinMs) first += 1;
    most = Math.max(most, index - first + 1);
  });
  return most;
};

/** Many nodes became silent at once: the API server or its network failed, not the nodes. */
export const partitionBreaker = ({ cluster }: RepairObservation): RepairBlocker | undefined => {
  const silent = cluster.filter(({ ready }) => ready === 'Unknown').map(({ since }) => since);
  const together = mostWithin(silent, partitionWithinMs);
  if (together < partitionNodes || together < cluster.length * partitionShare) return undefined;
  const message = `${together} of ${cluster.length} nodes fell silent within 2 minutes: the control plane may be cut off`;
  return { kind: 'controlPlane', message };
};

/** The same signal on many nodes of the group points at an image, an agent or a setting. */
export const signalBreaker = (
  { members }: RepairObservation,
  { condition, reason }: Pick<Finding, 'condition' | 'reason'>,
): RepairBlocker | undefined => {
  const times = members.flatMap(({ health }) =>
    health.state === 'Unhealthy'
      ? health.findings
          .filter((one) => one.condition === condition && one.reason === reason)
          .map(({ since }) => since)
      : [],
  );
  const together = mostWithin(times, signalWithinMs);
  if (together < signalNodes || together < members.length * signalShare) return undefined;
  const message = `${together} of ${members.length} nodes reported ${condition} ${reason} within 10 minutes: look at their image, their agent and their settings`;
  return { kind: 'sameSignal', message };
};

/**
 * A repair was opened soon after the launch because the instance had not joined. A repair of an old
 * instance that a new process opened proves nothing.
 */
const neverJoined = (instanceId: string, { repairs, group }: RepairObservation): boolean => {
  const youngMs = Math.max(joinedBeforeMs, 2 * repairTimesOf(group).startupTimeoutMs);
  return repairs.some(({ spec, metadata }) => {
    if (spec.instanceId !== instanceId || spec.reason !== 'NeverJoined') return false;
    const launchedAt = parseTime(spec.unhealthySince) ?? epochMs(0);
    return (
      (parseTime(metadata.creationTimestamp) ?? Number.POSITIVE_INFINITY) - launchedAt < youngMs
    );
  });
};

/** The member had a Node object and has none any more. */
const lostNode = ({ health, instanceId }: RepairMember, observation: RepairObservation): boolean =>
  health.findings.some(
    ({ condition, reason, since }) =>
      condition === instanceConditions.node &&
      (reason === 'NodeDeleted' ||
        (observation.now - since >= joinedBeforeMs && !neverJoined(instanceId, observation))),
  );

/** Node objects that disappear together were deleted by a client; their machines may still work. */
export const missingBreaker = (observation: RepairObservation): RepairBlocker | undefined => {
  const { members } = observation;
  const lost = members.filter((member) => lostNode(member, observation)).length;
  if (lost < missingNodes || lost < members.length * missingShare) return undefined;
  const message = `${lost} of ${members.length} nodes lost their Node objects: find out who deletes them; a kubelet that restarts registers again`;
  return { kind: 'sameSignal', message };
};

/** EKS stops repairs during a zonal shift. Running repairs continue. */
export const shiftBlocker = ({ group }: RepairObservation): RepairBlocker | undefined => {
  const zones = group.metadata.annotations?.[zonalShiftAnnotation];
  if (zones === undefined || zones === '') return undefined;
  const message = `a zonal shift away from ${zones.slice(0, 100)} is active (annotation ${zonalShiftAnnotation} on the node group)`;
  return { kind: 'zonalShift', message };
};

const isRecorded = ({ repairs }: RepairObservation, { instanceId }: RepairMember): boolean =>
  repairs.some(
    ({ spec, status }) => spec.instanceId === instanceId && status?.findings !== undefined,
  );

/**
 * Maximum number of parallel repairs. As in EKS, a percentage refers to the unhealthy nodes. Only
 * those count whose findings a NodeRepair has, so that the number can be checked afterwards.
 */
export const maxParallelOf = (observation: RepairObservation): number => {
  const { spec } = observation.group;
  const { maxParallelNodesRepairedCount: count, maxParallelNodesRepairedPercentage: percentage } =
    spec.nodeRepairConfig ?? {};
  if (count !== undefined) return count;
  if (percentage === undefined) return maxUnavailableOf(spec.updateConfig, sizeOf(observation));
  const recorded = unhealthyMembers(observation).filter((one) => isRecorded(observation, one));
  return Math.max(1, Math.floor((recorded.length * percentage) / 100));
};

/**
 * A node in service needs a place in the group's disruption ledger; a failed node already has one.
 */
export const ledgerBlocker = (
  observation: RepairObservation,
  member: RepairMember,
): RepairBlocker | undefined => {
  if (!member.isInService) return undefined;
  const { group, members } = observation;
  const most = maxUnavailableOf(group.spec.updateConfig, sizeOf(observation));
  const out = sizeOf(observation) - members.filter(({ isInService }) => isInService).length;
  if (out < most) return undefined;
  const message = `${out} of the group's nodes are out of service, and ${most} may be at once`;
  return { kind: 'ledger', message };
};

export const cooldownBlocker = (until: number): RepairBlocker => {
  const at = formatTime(epochMs(until));
  return {
    kind: 'cooldown',
    message: `a breaker has closed; repairs start again at ${at}`,
    until: at,
  };
};
