// Rows of Auto Scaling in the shapes of the API. Decides nothing.
import { defined } from '../../../src/api/defined.ts';
import type { Network } from '../ec2/network.ts';
import type {
  ActivityRow,
  GroupRow,
  HookRow,
  MemberRow,
  MixedPolicy,
  TemplateUse,
} from './rows.ts';
import type { GroupStore } from './store.ts';
import type { WarmPoolRow, WarmPools } from './warm-pool.ts';

const template = ({ id, name, version }: TemplateUse) => ({
  LaunchTemplateId: id,
  LaunchTemplateName: name,
  ...defined({ Version: version }),
});

const member = (row: MemberRow) => ({
  InstanceId: row.instanceId,
  InstanceType: row.instanceType,
  AvailabilityZone: row.zone,
  LifecycleState: row.state,
  LaunchTemplate: template(row.template),
  ProtectedFromScaleIn: row.isProtected,
});

/** As an element of a group's Instances. */
export const groupInstance = (row: MemberRow) => ({ ...member(row), HealthStatus: row.health });

/** An instance of DescribeAutoScalingInstances, with the health in capitals. */
export const scalingInstance = (row: MemberRow) => ({
  ...member(row),
  AutoScalingGroupName: row.group,
  HealthStatus: row.health.toUpperCase(),
});

export const tagDescription = (
  group: string,
  tag: { readonly key: string; readonly value: string; readonly propagate: boolean },
) => ({
  ResourceId: group,
  ResourceType: 'auto-scaling-group',
  Key: tag.key,
  Value: tag.value,
  PropagateAtLaunch: tag.propagate,
});

/** Cached: tags change rarely, and clients describe the group every second during updates. */
const rendered = new WeakMap<GroupRow['tags'], { readonly name: string; readonly tags: Tags }>();
type Tags = readonly ReturnType<typeof tagDescription>[];

const tagsOf = ({ name, tags }: GroupRow): Tags => {
  const known = rendered.get(tags);
  if (known?.name === name) return known.tags;
  const all = tags.map((tag) => tagDescription(name, tag));
  rendered.set(tags, { name, tags: all });
  return all;
};

const serviceRole = 'aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling';

export const renderGroup = (
  row: GroupRow,
  parts: {
    readonly store: GroupStore;
    readonly network: Network;
    readonly warmPools: WarmPools;
    readonly account: string;
  },
) => ({
  AutoScalingGroupName: row.name,
  AutoScalingGroupARN: row.arn,
  ...launchSource(row),
  MinSize: row.min,
  MaxSize: row.max,
  DesiredCapacity: row.desired,
  DefaultCooldown: row.cooldownSeconds,
  AvailabilityZones: zonesOf(row, parts.network),
  LoadBalancerNames: row.loadBalancers ?? [],
  TargetGroupARNs: row.targetGroups ?? [],
  ...warmPoolOf(row, parts),
  HealthCheckType: row.healthCheckType,
  HealthCheckGracePeriod: row.gracePeriodSeconds,
  Instances: parts.store.members(row.name).map(groupInstance),
  CreatedTime: row.createdAt,
  SuspendedProcesses: row.suspended.map((ProcessName) => ({
    ProcessName,
    SuspensionReason: 'User suspended',
  })),
  VPCZoneIdentifier: namedZones(row) === undefined ? row.subnetIds.join(',') : '',
  EnabledMetrics: [],
  ...(row.isDeleting ? { Status: 'Delete in progress' } : {}),
  Tags: tagsOf(row),
  TerminationPolicies: row.terminationPolicies,
  NewInstancesProtectedFromScaleIn: row.protectsNew,
  ServiceLinkedRoleARN: `arn:aws:iam::${parts.account}:role/${serviceRole}`,
  CapacityRebalance: row.capacityRebalance,
  TrafficSources: trafficSourcesOf(row),
  ...(row.retainsAbandoned === true
    ? { InstanceLifecyclePolicy: { RetentionTriggers: { TerminateHookAbandon: 'retain' } } }
    : {}),
});

export const trafficSourcesOf = ({ targetGroups = [], loadBalancers = [] }: GroupRow) => [
  ...targetGroups.map((Identifier) => ({ Identifier, Type: 'elbv2' })),
  ...loadBalancers.map((Identifier) => ({ Identifier, Type: 'elb' })),
];

const warmPoolOf = (
  row: GroupRow,
  parts: { readonly store: GroupStore; readonly warmPools: WarmPools },
) => {
  const pool = parts.warmPools.find(row.name);
  if (pool === undefined) return {};
  return {
    WarmPoolConfiguration: renderWarmPool(pool),
    WarmPoolSize: parts.store.warmed(row.name).length,
  };
};

export const renderWarmPool = (pool: WarmPoolRow) => ({
  MinSize: pool.minSize,
  PoolState: pool.state,
  ...defined({ MaxGroupPreparedCapacity: pool.maxPrepared }),
  ...(pool.isDeleting ? { Status: 'PendingDelete' } : {}),
});

const launchSource = (row: GroupRow) => {
  if (row.mixed === undefined) return { LaunchTemplate: template(row.template) };
  return {
    MixedInstancesPolicy: {
      LaunchTemplate: {
        LaunchTemplateSpecification: template(row.template),
        Overrides: row.mixed.instanceTypes.map((type) => overrideOf(type, row.mixed?.weights)),
      },
      InstancesDistribution: distributionOf(row.mixed),
    },
  };
};

const overrideOf = (InstanceType: string, weights: MixedPolicy['weights']) => {
  const weight = weights?.[InstanceType];
  return { InstanceType, ...(weight === undefined ? {} : { WeightedCapacity: String(weight) }) };
};

/** EC2 Auto Scaling API reference, "InstancesDistribution". */
const defaultSpotPools = 2;

const distributionOf = (mixed: MixedPolicy) => ({
  OnDemandAllocationStrategy: mixed.onDemandStrategy,
  OnDemandBaseCapacity: mixed.onDemandBase,
  OnDemandPercentageAboveBaseCapacity: mixed.onDemandAbove,
  SpotAllocationStrategy: mixed.spotStrategy,
  ...(mixed.spotStrategy === 'lowest-price'
    ? { SpotInstancePools: mixed.spotPools ?? defaultSpotPools }
    : {}),
  ...defined({ SpotMaxPrice: mixed.spotMaxPrice }),
});

const namedZones = ({ zones }: GroupRow): readonly string[] | undefined =>
  zones === undefined || zones.length === 0 ? undefined : zones;

const zonesOf = (row: GroupRow, network: Network): readonly string[] =>
  namedZones(row) ?? [...new Set(row.subnetIds.flatMap((id) => network.subnet(id)?.zone ?? []))];

export const renderHook = (row: HookRow) => ({
  LifecycleHookName: row.name,
  AutoScalingGroupName: row.group,
  LifecycleTransition: row.transition,
  ...defined({
    NotificationTargetARN: row.targetArn,
    RoleARN: row.roleArn,
    NotificationMetadata: row.metadata,
  }),
  HeartbeatTimeout: row.heartbeatSeconds,
  GlobalTimeout: row.globalSeconds,
  DefaultResult: row.defaultResult,
});

export const renderActivity = (row: ActivityRow) => ({
  ActivityId: row.id,
  AutoScalingGroupName: row.group,
  Description: row.description,
  Cause: row.cause,
  StartTime: row.startedAt,
  ...defined({ EndTime: row.endedAt }),
  StatusCode: row.status,
  ...defined({ StatusMessage: row.message }),
  Progress: row.progress,
  Details: row.details,
  AutoScalingGroupARN: row.groupArn,
});
