// Requests of the CloudApi port with more than a name, in AWS' member names. Pure.
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

/** The value that EKS sets on the groups of its node groups. */
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

/** EKS user guide, "managed node group capacity types": allocation strategies. */
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
 * Whether an InstancesDistribution starts only Spot Instances; without one Auto Scaling starts
 * On-Demand Instances.
 */
export const isSpotAlone = (distribution: {
  readonly OnDemandBaseCapacity?: unknown;
  readonly OnDemandPercentageAboveBaseCapacity?: unknown;
}): boolean =>
  (distribution.OnDemandBaseCapacity ?? 0) === 0 &&
  distribution.OnDemandPercentageAboveBaseCapacity === 0;

/** Auto Scaling describes an override's template by id and name, but accepts only one of them. */
const overrideAgain = (override: JsonObject): JsonObject => {
  const template = override.LaunchTemplateSpecification;
  if (!isObject(template) || template.LaunchTemplateId === undefined) return override;
  const { LaunchTemplateName: _told, ...byId } = template;
  return { ...override, LaunchTemplateSpecification: byId };
};

/**
 * UpdateAutoScalingGroup; a group with several instance types keeps the types and their weights.
 */
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

/** CreateOrUpdateTags for one group. */
export const tagGroupRequest = (name: string, tags: Readonly<Record<string, string>>) => ({
  Tags: Object.entries(tags).map(([Key, Value]) => ({
    ResourceId: name,
    ResourceType: 'auto-scaling-group',
    Key,
    Value,
    PropagateAtLaunch: false,
  })),
});

/** DeleteTags for one group. */
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
 * Number of activities read, one page of Auto Scaling's. A group's last failures are among its
 * newest activities, and an update terminates at most this many nodes at once, each of which must
 * be found.
 */
export const newestActivities = 100;

/** The zone in an activity's Details, which Auto Scaling returns as JSON text. */
export const activityZone = (details: string | undefined): { readonly zone?: string } => {
  const zone = /"Availability Zone"\s*:\s*"([^"]+)"/.exec(details ?? '')?.[1];
  return zone === undefined ? {} : { zone };
};

/**
 * DescribeInstanceStatus for instances with scheduled events: the filter avoids listing all others.
 * Codes are those of EC2's user guide, "Scheduled events for your instances".
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

/**
 * EC2's two status checks and a filter for each; separate calls, because filters of one call are
 * ANDed.
 */
export const statusChecks = ['instance', 'system'] as const;
export const impairedRequest = (check: (typeof statusChecks)[number]) => ({
  Filters: [{ Name: `${check}-status.status`, Values: ['impaired'] }],
});

/** EC2 marks a completed event in its description. */
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
