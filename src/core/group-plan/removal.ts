// The plan of a node group that is being deleted and has no instances: Auto Scaling group, launch
// template, instance profile, security group, role, finalizer, in this order. Objects with another
// owner's tags stay. Pure.
import { type EpochMs, formatTime } from '../../api/brand.ts';
import type {
  InstanceProfile,
  LaunchTemplate,
  ScalingGroup,
  SecurityGroup,
} from '../../api/cloud.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import {
  autoScalingGroupNameOf,
  type HealthIssue,
  isRetained,
  type NodeGroup,
  type NodeGroupStatus,
} from '../../api/nodegroup.ts';
import type { GroupPlan, GroupStep, GroupWaiting } from '../../api/plan.ts';
import { mappedRoleOf, ownershipOf, ownsDerived } from '../nodegroup/index.ts';
import { isEmpty } from './deletion.ts';

/** Objects with the names that Drover derives; their tags show the owner. */
export interface DerivedParts {
  readonly template: LaunchTemplate | undefined;
  readonly profile: InstanceProfile | undefined;
}

export interface RemovalParts extends DerivedParts {
  /** The security group of remote access that has this group's tag. */
  readonly securityGroup: SecurityGroup | undefined;
}

export interface RemovalObservation {
  readonly group: NodeGroup;
  readonly repairs: readonly NodeRepair[];
  /** Undefined: the cloud's answer lacks the group, or the group was not read. */
  readonly scaling: ScalingGroup | undefined;
  /** The Auto Scaling group may exist although the cloud's answer lacks it. */
  readonly mayStand: boolean;
  /** Absent: not read, since the removal waits. */
  readonly parts?: RemovalParts;
}

type Found = Pick<RemovalObservation, 'group' | 'scaling'>;

/** Whether the parts are this NodeGroup's: the Auto Scaling group has its tag, or is gone. */
const isOwn = ({ group, scaling }: Found): boolean =>
  scaling === undefined || ownershipOf(group, scaling.tags).kind === 'own';

/** Undefined: the parts can be deleted. */
export const removalWaits = (
  observation: Omit<RemovalObservation, 'parts'>,
): GroupWaiting | undefined => {
  const { group, repairs, scaling, mayStand } = observation;
  // The NodeRepair is needed until EC2 has been asked to terminate the detached instance.
  const kept = repairs.filter(
    ({ spec, status }) => spec.nodeGroup === group.metadata.name && status?.phase === 'Quarantined',
  );
  if (kept.length > 0) {
    return { kind: 'quarantine', repairs: kept.map(({ metadata }) => metadata.name) };
  }
  if (mayStand) return { kind: 'absence', autoScalingGroupName: autoScalingGroupNameOf(group) };
  if (scaling === undefined || !isOwn(observation)) return undefined;
  // A retained group is released, never deleted. It comes here if an earlier read lacked the group
  // or its tag: the next pass reads both and releases it.
  if (isRetained(group)) return { kind: 'tag', autoScalingGroupName: scaling.name };
  if (isEmpty(scaling)) return undefined;
  return { kind: 'members', total: Math.max(scaling.instances.length, scaling.desiredCapacity) };
};

/** Deletes the launch template and the instance profile that Drover derived for the group. */
export const derivedSteps = (
  group: NodeGroup,
  { template, profile }: DerivedParts,
): readonly GroupStep[] => [
  ...(template !== undefined && ownsDerived(group, template)
    ? [{ kind: 'DeleteTemplate', name: template.name } as const]
    : []),
  ...(profile !== undefined && ownsDerived(group, profile)
    ? [{ kind: 'DeleteProfile', name: profile.name } as const]
    : []),
];

const removalSteps = (
  { group, scaling }: Found,
  { securityGroup, ...derived }: RemovalParts,
): readonly GroupStep[] => {
  const owns = isOwn({ group, scaling });
  const autoScalingGroupName = autoScalingGroupNameOf(group);
  return [
    ...(scaling !== undefined && owns
      ? [{ kind: 'DeleteGroup', autoScalingGroupName } as const]
      : []),
    // The template and profile of an adopted group belong to the owner of the group.
    ...(owns || group.spec.autoScalingGroupName === undefined ? derivedSteps(group, derived) : []),
    ...(securityGroup === undefined
      ? []
      : [
          {
            kind: 'DeleteSecurityGroup',
            id: securityGroup.id,
            name: securityGroup.name,
          } as const,
        ]),
    { kind: 'EndGroup', role: mappedRoleOf(group) },
  ];
};

export const decideRemoval = (observation: RemovalObservation): GroupPlan => {
  const { group, parts } = observation;
  const subject = group.metadata.name;
  const waits = removalWaits(observation);
  if (waits !== undefined) return { subject, steps: [], waitingOn: [waits] };
  const steps = parts === undefined ? [] : removalSteps(observation, parts);
  return { subject, steps, waitingOn: [] };
};

/** Security groups stay in use for a while after their instance is terminated. */
const inUseToldMs = 60_000;

/**
 * The failure to report for a part that cannot be deleted. `since`: the first refusal. Undefined:
 * it may still be freed.
 */
export const removalFailure = (
  { status, metadata }: NodeGroup,
  issue: HealthIssue,
  { since, now }: { readonly since: number; readonly now: EpochMs },
): NodeGroupStatus['failure'] => {
  const told = status?.failure;
  const known = told?.code === issue.code ? told : undefined;
  if (known === undefined && now - since < inUseToldMs) return undefined;
  const { generation = 0 } = metadata;
  return { ...issue, generation, at: known?.at ?? formatTime(now) };
};
