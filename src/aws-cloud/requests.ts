// The requests of the CloudApi port that are more than a name, in AWS' own member names. Pure.
import type {
  IngressRule,
  LaunchTemplate,
  NewGroup,
  NewHook,
  NewSecurityGroup,
} from '../api/cloud.ts';
import { defined } from '../api/defined.ts';
import { isObject, type JsonObject } from '../api/json.ts';
import type { CloudApi } from '../ports/index.ts';
import { tagList } from './values.ts';

/** As EKS sets it on the groups of its node groups. */
const gracePeriodSeconds = 15;
const terminationPolicies = ['AllocationStrategy', 'OldestLaunchTemplate', 'OldestInstance'];

const hookSpecification = (hook: NewHook) => ({
  LifecycleHookName: hook.name,
  LifecycleTransition: hook.transition,
  HeartbeatTimeout: hook.heartbeatTimeoutSeconds,
  DefaultResult: hook.defaultResult,
  ...defined({
    NotificationTargetARN: hook.notificationTarget,
    NotificationMetadata: hook.metadata,
  }),
});

/** PutLifecycleHook. */
export const putHookRequest = (autoScalingGroupName: string, hook: NewHook) => ({
  AutoScalingGroupName: autoScalingGroupName,
  ...hookSpecification(hook),
});

const groupTags = (group: NewGroup) =>
  [
    ...Object.entries(group.tags).map(([Key, Value]) => ({ Key, Value, PropagateAtLaunch: true })),
    ...Object.entries(group.ownTags).map(([Key, Value]) => ({
      Key,
      Value,
      PropagateAtLaunch: false,
    })),
  ].map((tag) => ({ ResourceId: group.name, ResourceType: 'auto-scaling-group', ...tag }));

const specification = ({ id, version }: { readonly id: string; readonly version: string }) => ({
  LaunchTemplateId: id,
  Version: version,
});

/** EKS user guide, "managed node group capacity types": how it allocates. */
const launchSource = (group: NewGroup) => {
  const template = specification(group.launchTemplate);
  if (group.instanceTypes === undefined) return { LaunchTemplate: template };
  return {
    MixedInstancesPolicy: {
      LaunchTemplate: {
        LaunchTemplateSpecification: template,
        Overrides: group.instanceTypes.map((InstanceType) => ({ InstanceType })),
      },
      InstancesDistribution: {
        OnDemandAllocationStrategy: 'prioritized',
        OnDemandBaseCapacity: 0,
        OnDemandPercentageAboveBaseCapacity: group.spot ? 0 : 100,
        SpotAllocationStrategy: 'price-capacity-optimized',
      },
    },
  };
};

/** CreateAutoScalingGroup: tags and hooks in the same call, so no instance starts without them. */
export const createGroupRequest = (group: NewGroup) => ({
  AutoScalingGroupName: group.name,
  MinSize: group.minSize,
  MaxSize: group.maxSize,
  DesiredCapacity: group.desiredCapacity,
  VPCZoneIdentifier: group.subnets.join(','),
  HealthCheckType: 'EC2',
  HealthCheckGracePeriod: gracePeriodSeconds,
  TerminationPolicies: [...terminationPolicies],
  CapacityRebalance: group.spot,
  ...launchSource(group),
  Tags: groupTags(group),
  LifecycleHookSpecificationList: group.hooks.map(hookSpecification),
});

/**
 * Whether an InstancesDistribution starts Spot Instances alone; absent, Auto Scaling starts
 * On-Demand ones.
 */
export const isSpotAlone = (distribution: {
  readonly OnDemandBaseCapacity?: unknown;
  readonly OnDemandPercentageAboveBaseCapacity?: unknown;
}): boolean =>
  (distribution.OnDemandBaseCapacity ?? 0) === 0 &&
  distribution.OnDemandPercentageAboveBaseCapacity === 0;

/** A template of its own is told by id and name, and taken by one of the two. */
const overrideAgain = (override: JsonObject): JsonObject => {
  const template = override.LaunchTemplateSpecification;
  if (!isObject(template) || template.LaunchTemplateId === undefined) return override;
  const { LaunchTemplateName: _told, ...byId } = template;
  return { ...override, LaunchTemplateSpecification: byId };
};

/** UpdateAutoScalingGroup; a group over several types keeps its types, with their weights. */
export const updateGroupRequest = (change: Parameters<CloudApi['updateGroup']>[0]) => {
  const { launchTemplate, overrides } = change;
  const source =
    launchTemplate === undefined
      ? {}
      : overrides === undefined
        ? { LaunchTemplate: specification(launchTemplate) }
        : {
            MixedInstancesPolicy: {
              LaunchTemplate: {
                LaunchTemplateSpecification: specification(launchTemplate),
                Overrides: overrides.map(overrideAgain),
              },
            },
          };
  return {
    AutoScalingGroupName: change.name,
    ...defined({
      MinSize: change.minSize,
      MaxSize: change.maxSize,
      DesiredCapacity: change.desiredCapacity,
    }),
    ...source,
  };
};

/** CreateOrUpdateTags, of one group. */
export const tagGroupRequest = (name: string, tags: Readonly<Record<string, string>>) => ({
  Tags: Object.entries(tags).map(([Key, Value]) => ({
    ResourceId: name,
    ResourceType: 'auto-scaling-group',
    Key,
    Value,
    PropagateAtLaunch: false,
  })),
});

/** DeleteTags, of one group. */
export const untagGroupRequest = (name: string, keys: readonly string[]) => ({
  Tags: keys.map((Key) => ({ ResourceId: name, ResourceType: 'auto-scaling-group', Key })),
});

export const createTemplateRequest = (
  template: Pick<LaunchTemplate, 'name' | 'tags' | 'data'>,
) => ({
  LaunchTemplateName: template.name,
  LaunchTemplateData: template.data,
  TagSpecifications: [
    {
      ResourceType: 'launch-template',
      Tags: tagList(template.tags),
    },
  ],
});

export const createProfileRequest = ({
  name,
  tags,
}: Pick<Parameters<CloudApi['ensureInstanceProfile']>[0], 'name' | 'tags'>) => ({
  InstanceProfileName: name,
  Tags: tagList(tags),
});

/**
 * How many activities are looked at, one page of Auto Scaling's: the last failures of a group stand
 * among its newest, and an update lets at most so many nodes go at once, each of which must be
 * found.
 */
export const newestActivities = 100;

/** The zone that an activity's Details name: JSON in a text, as Auto Scaling gives it. */
export const activityZone = (details: string | undefined): { readonly zone?: string } => {
  const zone = /"Availability Zone"\s*:\s*"([^"]+)"/.exec(details ?? '')?.[1];
  return zone === undefined ? {} : { zone };
};

/**
 * DescribeInstanceStatus of the instances that EC2 has scheduled something for: its filter spares
 * listing all others. The codes are those of EC2's user guide, "Scheduled events for your
 * instances".
 */
export const scheduledEventsRequest = () => ({
  Filters: [
    {
      Name: 'event.code',
      Values: [
        'instance-reboot',
        'system-reboot',
        'system-maintenance',
        'instance-retirement',
        'instance-stop',
      ],
    },
  ],
});

/** EC2's two status checks, and its filter for each; filters of one call must all hold. */
export const statusChecks = ['instance', 'system'] as const;
export const impairedRequest = (check: (typeof statusChecks)[number]) => ({
  Filters: [{ Name: `${check}-status.status`, Values: ['impaired'] }],
});

/** EC2 says in an event's description that it is over. */
export const isOverEvent = (description: string): boolean =>
  /^\[(?:Completed|Canceled)\]/.test(description);

export const findSecurityGroupsRequest = (
  by: { readonly ids: readonly string[] } | { readonly name: string },
) => ({
  Filters: [
    'ids' in by
      ? { Name: 'group-id', Values: [...by.ids] }
      : { Name: 'group-name', Values: [by.name] },
  ],
});

export const createSecurityGroupRequest = ({
  name,
  description,
  vpcId,
  tags,
}: NewSecurityGroup) => ({
  GroupName: name,
  Description: description,
  VpcId: vpcId,
  TagSpecifications: [
    {
      ResourceType: 'security-group',
      Tags: tagList(tags),
    },
  ],
});

export const allowIngressRequest = (GroupId: string, { port, groups, cidrs }: IngressRule) => ({
  GroupId,
  IpPermissions: [
    {
      IpProtocol: 'tcp',
      FromPort: port,
      ToPort: port,
      UserIdGroupPairs: groups.map((one) => ({ GroupId: one })),
      IpRanges: cidrs.map((CidrIp) => ({ CidrIp })),
    },
  ],
});
