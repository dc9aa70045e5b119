// EC2 Auto Scaling groups: describes, creates, updates and deletes them, and reads their scaling
// activities.

import type { ScalingActivity, ScalingGroup, ScalingInstance } from '../api/cloud.ts';
import { defined } from '../api/defined.ts';
import { isObject, type JsonObject, objectOr } from '../api/json.ts';
import { type CloudApi, CloudError } from '../ports/index.ts';
import type { AwsCalls, CallOptions } from './calls.ts';
import {
  activityZone,
  createGroupRequest,
  isSpotAlone,
  newestActivities,
  tagGroupRequest,
  untagGroupRequest,
  updateGroupRequest,
} from './requests.ts';
import {
  batchesOf,
  maybeText,
  maybeTime,
  numberOf,
  objects,
  tagsOf,
  textOf,
  textsOf,
  timeOf,
} from './values.ts';

/** Auto Scaling accepts 50 names per call, and returns 100 groups. */
const groupNamesAtOnce = 50;
const groupsPerPage = 100;

/** Undefined for an instance of another template, whose versions are unrelated. */
const versionOf = (
  template: ScalingGroup['launchTemplate'],
  instance: JsonObject,
): string | undefined => {
  const { LaunchTemplateId, Version } = objectOr(instance.LaunchTemplate);
  return LaunchTemplateId === template?.id ? maybeText(Version) : undefined;
};

const instanceOf = (
  { name, launchTemplate }: Pick<ScalingGroup, 'name' | 'launchTemplate'>,
  instance: JsonObject,
): ScalingInstance => ({
  instanceId: textOf(instance.InstanceId),
  autoScalingGroupName: name,
  availabilityZone: textOf(instance.AvailabilityZone),
  lifecycleState: textOf(instance.LifecycleState),
  instanceType: textOf(instance.InstanceType),
  protectedFromScaleIn: instance.ProtectedFromScaleIn === true,
  healthStatus: textOf(instance.HealthStatus),
  ...defined({ launchTemplateVersion: versionOf(launchTemplate, instance) }),
});

const launchTemplateOf = (template: unknown): ScalingGroup['launchTemplate'] =>
  isObject(template)
    ? {
        id: textOf(template.LaunchTemplateId),
        name: textOf(template.LaunchTemplateName),
        // Auto Scaling launches this version when none is specified.
        version: maybeText(template.Version) ?? '$Default',
      }
    : undefined;

const warmPoolOf = (group: JsonObject): ScalingGroup['warmPool'] => {
  const pool = group.WarmPoolConfiguration;
  if (!isObject(pool) || pool.Status === 'PendingDelete') return undefined;
  return {
    instances: numberOf(group.WarmPoolSize),
    state: maybeText(pool.PoolState) ?? 'Stopped',
  };
};

const classicLoadBalancersOf = ({
  LoadBalancerNames,
}: JsonObject): readonly string[] | undefined =>
  textsOf(LoadBalancerNames).length === 0 ? undefined : textsOf(LoadBalancerNames);

const groupOf = (group: JsonObject): ScalingGroup => {
  const name = textOf(group.AutoScalingGroupName);
  const mixed = objectOr(group.MixedInstancesPolicy);
  const policy = isObject(mixed.LaunchTemplate) ? mixed.LaunchTemplate : undefined;
  const isSpot = isSpotAlone(objectOr(mixed.InstancesDistribution));
  const launchTemplate = launchTemplateOf(
    group.LaunchTemplate ?? policy?.LaunchTemplateSpecification,
  );
  return {
    name,
    minSize: numberOf(group.MinSize),
    maxSize: numberOf(group.MaxSize),
    desiredCapacity: numberOf(group.DesiredCapacity),
    createdAt: timeOf(group.CreatedTime),
    instances: objects(group.Instances).map((one) =>
      instanceOf({ name, ...defined({ launchTemplate }) }, one),
    ),
    tags: tagsOf(group.Tags),
    subnets: textOf(group.VPCZoneIdentifier)
      .split(',')
      .flatMap((id) => id.trim() || []),
    capacityRebalance: group.CapacityRebalance === true,
    suspendedProcesses: objects(group.SuspendedProcesses).map((one) => textOf(one.ProcessName)),
    ...defined({
      arn: maybeText(group.AutoScalingGroupARN),
      warmPool: warmPoolOf(group),
      classicLoadBalancers: classicLoadBalancersOf(group),
      launchTemplate,
      isSpot: isSpot ? true : undefined,
      overrides: policy && objects(policy.Overrides),
    }),
  };
};

const activityOf = (activity: JsonObject): ScalingActivity => ({
  id: textOf(activity.ActivityId),
  description: textOf(activity.Description),
  startedAt: timeOf(activity.StartTime),
  ...defined({ endedAt: maybeTime(activity.EndTime) }),
  status: textOf(activity.StatusCode),
  message: textOf(activity.StatusMessage),
  cause: textOf(activity.Cause),
  ...activityZone(textOf(activity.Details)),
});

/** Auto Scaling's refusal to delete a group with instances, including those in its warm pool. */
const isGroupInUse = (error: unknown): boolean =>
  error instanceof CloudError && /still in the group|warm pool/i.test(error.message);

/** For a call whose refusal means that nothing needs to be done: throws only AccessDenied. */
const throwIfDenied = (refused: unknown): void => {
  if (!(refused instanceof CloudError) || refused.code === 'AccessDenied') throw refused;
};

const service = 'autoscaling';

const describe = async (
  calls: AwsCalls,
  names: JsonObject,
  options: CallOptions,
): Promise<readonly ScalingGroup[]> => {
  const input = { MaxRecords: groupsPerPage, ...names };
  const operation = 'DescribeAutoScalingGroups';
  const groups = await calls.all(service, operation, input, 'AutoScalingGroups', options);
  return groups.map(groupOf);
};

export const groupCalls = (
  calls: AwsCalls,
): Pick<
  CloudApi,
  | 'createGroup'
  | 'deleteGroup'
  | 'describeActivities'
  | 'detachFromGroup'
  | 'describeGroups'
  | 'setProcesses'
  | 'tagGroup'
  | 'terminateInGroup'
  | 'time'
  | 'untagGroup'
  | 'updateGroup'
> => ({
  describeGroups: async (names, options = {}) => {
    if (names === undefined) return describe(calls, {}, options);
    const groups: ScalingGroup[] = [];
    // Without names there are no groups; AWS would interpret an empty list as all.
    for (const batch of batchesOf(names, groupNamesAtOnce)) {
      groups.push(...(await describe(calls, { AutoScalingGroupNames: batch }, options)));
    }
    return groups;
  },
  createGroup: async (group, options = {}) => {
    await calls.send(service, 'CreateAutoScalingGroup', createGroupRequest(group), options);
  },
  updateGroup: async (change, options = {}) => {
    await calls.send(service, 'UpdateAutoScalingGroup', updateGroupRequest(change), options);
  },
  deleteGroup: async (name, options = {}) => {
    const input = { AutoScalingGroupName: name };
    try {
      const answer = await calls.maybe(service, 'DeleteAutoScalingGroup', input, options);
      return answer !== undefined;
    } catch (error) {
      if (!isGroupInUse(error)) throw error;
      const forced = { ...input, ForceDelete: true };
      await calls.send(service, 'DeleteWarmPool', forced, options).catch(throwIfDenied);
      throw error;
    }
  },
  setProcesses: async ({ name, processes, suspended }, options = {}) => {
    const input = { AutoScalingGroupName: name, ScalingProcesses: processes };
    const operation = suspended ? 'SuspendProcesses' : 'ResumeProcesses';
    await calls.send(service, operation, input, options);
  },
  tagGroup: async (name, tags, options = {}) => {
    await calls.send(service, 'CreateOrUpdateTags', tagGroupRequest(name, tags), options);
  },
  untagGroup: async (name, keys, options = {}) => {
    if (keys.length === 0) return;
    await calls.send(service, 'DeleteTags', untagGroupRequest(name, keys), options);
  },
  terminateInGroup: async (instanceId, options) => {
    const input = {
      InstanceId: instanceId,
      ShouldDecrementDesiredCapacity: options.decrementDesired,
    };
    await calls.send(service, 'TerminateInstanceInAutoScalingGroup', input, options);
  },
  detachFromGroup: async (instanceId, options) => {
    const input = {
      AutoScalingGroupName: options.autoScalingGroupName,
      InstanceIds: [instanceId],
      ShouldDecrementDesiredCapacity: false,
    };
    await calls.send(service, 'DetachInstances', input, options);
  },
  describeActivities: async (name, options = {}) => {
    const input = { AutoScalingGroupName: name, MaxRecords: newestActivities };
    const output = await calls.send(service, 'DescribeScalingActivities', input, options);
    return objects(output.Activities).map(activityOf);
  },
  time: async (options = {}) => {
    const input = { MaxRecords: 1 };
    const { servedAt } = await calls.answer(service, 'DescribeAutoScalingGroups', input, options);
    if (servedAt !== undefined) return servedAt;
    throw new CloudError('Unsupported', 'the answer of Auto Scaling has no Date header');
  },
});
