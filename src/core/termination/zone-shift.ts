// Zone shift: nodes of the zones that a group's policy names keep their marks and all their pods,
// until the zone is removed from the policy. Never evicts and never ends an instance.
import { type EpochMs, formatTime } from '../../api/brand.ts';
import type { ScalingInstance } from '../../api/cloud.ts';
import type { DisruptionCause, NodeDisruption } from '../../api/disruption.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { causeWrite, type DisruptionSubject } from './cause-writes.ts';

const prefix = 'zone-shift/';

/** A zone shift that has not been withdrawn. */
export const isZoneShift = ({ id, cancelledAt }: DisruptionCause): boolean =>
  id.startsWith(prefix) && cancelledAt === undefined;

export type ShiftAction =
  | {
      readonly kind: 'record';
      readonly subject: DisruptionSubject;
      readonly cause: DisruptionCause;
    }
  | { readonly kind: 'withdraw'; readonly name: string; readonly causeId: string };

/** One shift of one zone; a later shift of the same zone is another cause. */
const causeOf = (zone: string, now: EpochMs): DisruptionCause => ({
  kind: 'Manual',
  id: `${prefix}${zone}/${formatTime(now)}`,
  receivedAt: formatTime(now),
  onDeadline: 'fail',
  followUp: 'Release',
  hold: true,
  requestedBy: `zone shift of ${zone}`,
  reason: `the drain policy shifts ${zone}`,
});

/**
 * The zones that the drain policy shifts; none while the group is being deleted, since a group that
 * goes must keep no node out of service.
 */
export const shiftedZonesOf = (group: NodeGroup | undefined): ReadonlySet<string> => {
  const { metadata, spec } = group ?? {};
  const isGoing = metadata?.deletionTimestamp !== undefined;
  return new Set(isGoing ? [] : spec?.drain?.zoneShift?.zones);
};

/**
 * Withdraws the shifts of zones that are not listed any more, including those of instances that
 * have left the group.
 */
const withdrawals = (
  disruptions: readonly NodeDisruption[],
  zones: ReadonlySet<string>,
): readonly ShiftAction[] => {
  const stays = [...zones].map((zone) => `${prefix}${zone}/`);
  return disruptions.flatMap(({ metadata: { name }, spec }) =>
    spec.causes
      .filter((cause) => isZoneShift(cause) && !stays.some((start) => cause.id.startsWith(start)))
      .map(({ id }) => ({ kind: 'withdraw' as const, name, causeId: id })),
  );
};

interface Shiftable {
  readonly groupName: string;
  readonly zones: ReadonlySet<string>;
  /** The members of its Auto Scaling group. */
  readonly instances: readonly ScalingInstance[];
  /** The records of all groups; those of other groups are not changed. */
  readonly disruptions: readonly NodeDisruption[];
  readonly nodeNameOf: (instanceId: string) => string | undefined;
}

/** Members without a node are not shifted: they serve nothing yet. */
export const decideZoneShift = (
  { groupName, zones, instances, disruptions, nodeNameOf }: Shiftable,
  now: EpochMs,
): readonly ShiftAction[] => {
  const members = new Set(instances.map(({ instanceId }) => instanceId));
  const ours = disruptions.filter(
    ({ metadata, spec }) => spec.nodeGroup === groupName || members.has(metadata.name),
  );
  const byName = new Map(ours.map((disruption) => [disruption.metadata.name, disruption]));
  const records = instances.flatMap((instance): readonly ShiftAction[] => {
    const { instanceId, availabilityZone: zone, lifecycleState } = instance;
    const disruption = byName.get(instanceId);
    const nodeName = nodeNameOf(instanceId);
    if (!zones.has(zone) || lifecycleState !== 'InService') return [];
    if (disruption?.spec.causes.some(isZoneShift) === true || nodeName === undefined) return [];
    const subject = { name: instanceId, instanceId, nodeGroup: groupName, nodeName };
    const cause = causeOf(zone, now);
    // A record with the maximum number of causes already keeps its node out of service.
    const write = causeWrite(disruption, subject, cause);
    return write.kind === 'recorded' ? [] : [{ kind: 'record', subject, cause }];
  });
  return [...withdrawals(ours, zones), ...records];
};
