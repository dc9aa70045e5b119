// Auto Scaling resources of a stack: groups, which are ready once they have stabilized, and hooks.
// Uses only the service's own operations.
import { isObject, type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { GroupStore } from '../../autoscaling/store.ts';
import type { ServiceCalls } from '../../calls.ts';
import { sentence } from '../../scope.ts';
import type { StackResource } from '../rows.ts';
import {
  done,
  type Progress,
  pending,
  type ResourceTypes,
  type TypeContext,
} from './resource-type.ts';
import { flagOf, given, numberOf, objectsOf, textOf, textsOf, typed } from './values.ts';

export interface ScalingParts {
  readonly calls: ServiceCalls;
  readonly store: GroupStore;
}

/** This many consecutive failed launches end the wait for a group. */
const failuresBeforeGivingUp = 3;

export const scalingTypes = ({ calls, store }: ScalingParts): ResourceTypes => ({
  'AWS::AutoScaling::AutoScalingGroup': {
    kind: 'local',
    create: (properties, context) => {
      const name = textOf(properties.AutoScalingGroupName) ?? context.physicalName();
      calls.now('autoscaling', 'CreateAutoScalingGroup', groupInput(name, properties, context));
      const arn = store.needGroup(name).arn;
      return { physicalId: name, attributes: { Arn: arn, AutoScalingGroupARN: arn } };
    },
    ready: (resource) => stabilized(store, resource),
    replacing: new Set(['AutoScalingGroupName', 'InstanceId']),
    update: (resource, properties, context) => {
      updateGroup(calls, resource, properties, context);
      return {};
    },
    remove: ({ physicalId }) => {
      if (store.group(physicalId) === undefined) return;
      const sizes = { MinSize: 0, MaxSize: 0, DesiredCapacity: 0 };
      const input = { AutoScalingGroupName: physicalId, ...sizes };
      calls.now('autoscaling', 'UpdateAutoScalingGroup', input);
    },
    gone: ({ physicalId }) => {
      if (store.group(physicalId) === undefined) return done;
      if (store.members(physicalId).length > 0) return pending;
      calls.now('autoscaling', 'DeleteAutoScalingGroup', { AutoScalingGroupName: physicalId });
      return done;
    },
  },
  'AWS::AutoScaling::LifecycleHook': {
    kind: 'local',
    create: (properties, context) => {
      const name = textOf(properties.LifecycleHookName) ?? context.physicalName();
      calls.now('autoscaling', 'PutLifecycleHook', {
        ...(typed(properties) as JsonObject),
        LifecycleHookName: name,
      });
      return { physicalId: name };
    },
    remove: ({ physicalId, properties }) => {
      const group = textOf(properties.AutoScalingGroupName) ?? '';
      if (store.hook(group, physicalId) === undefined) return;
      const input = { AutoScalingGroupName: group, LifecycleHookName: physicalId };
      calls.now('autoscaling', 'DeleteLifecycleHook', input);
    },
  },
});

/** Members that CloudFormation spells differently from the API, or lacks. */
const renamed = new Set([
  ...['AutoScalingGroupName', 'MinSize', 'MaxSize', 'DesiredCapacity', 'VPCZoneIdentifier'],
  ...['Cooldown', 'Tags', 'LaunchTemplate', 'MixedInstancesPolicy', 'MetricsCollection'],
  ...['LifecycleHookSpecificationList', 'ServiceLinkedRoleARN', 'AvailabilityZones'],
  ...['HealthCheckGracePeriod', 'NewInstancesProtectedFromScaleIn', 'CapacityRebalance'],
]);

const groupInput = (name: string, properties: JsonObject, context: TypeContext) => {
  const others = Object.entries(properties).filter(([key]) => !renamed.has(key));
  const subnets = textsOf(properties.VPCZoneIdentifier);
  const hooks = objectsOf(properties.LifecycleHookSpecificationList).map((one) => typed(one));
  return given({
    ...Object.fromEntries(others),
    AutoScalingGroupName: name,
    MinSize: numberOf(properties.MinSize),
    MaxSize: numberOf(properties.MaxSize),
    DesiredCapacity: numberOf(properties.DesiredCapacity),
    VPCZoneIdentifier: subnets.length === 0 ? undefined : subnets.join(','),
    DefaultCooldown: numberOf(properties.Cooldown),
    HealthCheckGracePeriod: numberOf(properties.HealthCheckGracePeriod),
    NewInstancesProtectedFromScaleIn: flagOf(properties.NewInstancesProtectedFromScaleIn),
    CapacityRebalance: flagOf(properties.CapacityRebalance),
    LaunchTemplate: templateInput(properties.LaunchTemplate),
    MixedInstancesPolicy: mixedInput(properties.MixedInstancesPolicy),
    LifecycleHookSpecificationList: hooks.length === 0 ? undefined : hooks,
    Tags: groupTags(name, properties, context),
  });
};

/** Sends a new size only if the template changed it; else the current size stays. */
const updateGroup = (
  calls: ServiceCalls,
  { physicalId, properties: before }: StackResource,
  after: JsonObject,
  context: TypeContext,
): void => {
  const { Tags, LifecycleHookSpecificationList: _, ...members } = after;
  const { DesiredCapacity, ...others } = members;
  const isChanged = JSON.stringify(DesiredCapacity) !== JSON.stringify(before.DesiredCapacity);
  const sent = { ...others, ...(isChanged ? { DesiredCapacity: DesiredCapacity ?? null } : {}) };
  const { Tags: _none, ...input } = groupInput(physicalId, sent, context);
  calls.now('autoscaling', 'UpdateAutoScalingGroup', input);
  if (JSON.stringify(Tags) === JSON.stringify(before.Tags)) return;
  const tags = groupTags(physicalId, after, context);
  calls.now('autoscaling', 'CreateOrUpdateTags', { Tags: tags });
};

const templateInput = (value: unknown) => {
  if (!isObject(value)) return undefined;
  const { LaunchTemplateId, LaunchTemplateName, Version } = value;
  return given({ LaunchTemplateId, LaunchTemplateName, Version: textOf(Version) });
};

const mixedInput = (value: unknown) => {
  if (!isObject(value)) return undefined;
  const launch = objectOr(value.LaunchTemplate);
  const distribution = value.InstancesDistribution;
  return given({
    LaunchTemplate: given({
      LaunchTemplateSpecification: templateInput(launch.LaunchTemplateSpecification),
      Overrides: launch.Overrides,
    }),
    InstancesDistribution: distribution === undefined ? undefined : typed(distribution),
  });
};

const groupTags = (name: string, properties: JsonObject, context: TypeContext) => {
  const own = objectsOf(properties.Tags).map((tag) => ({
    Key: String(tag.Key),
    Value: textOf(tag.Value) ?? '',
    PropagateAtLaunch: flagOf(tag.PropagateAtLaunch) ?? false,
  }));
  const fromStack = {
    ...context.tags,
    'aws:cloudformation:logical-id': context.logicalId,
    'aws:cloudformation:stack-id': context.stackId,
    'aws:cloudformation:stack-name': context.stackName,
  };
  const inherited = Object.entries(fromStack)
    .filter(([key]) => !own.some((tag) => tag.Key === key))
    .map(([Key, Value]) => ({ Key, Value, PropagateAtLaunch: true }));
  return [...own, ...inherited].map((tag) => ({
    ...tag,
    ResourceId: name,
    ResourceType: 'auto-scaling-group',
  }));
};

const stabilized = (store: GroupStore, { physicalId }: StackResource): Progress => {
  const group = store.group(physicalId);
  if (group === undefined) return { kind: 'failed', reason: `Group ${physicalId} is gone.` };
  const inService = store.members(physicalId).filter((one) => one.state === 'InService').length;
  if (inService >= group.desired) return done;
  const ended = store.activities(physicalId).filter((one) => one.endedAt !== undefined);
  const last = ended.slice(-failuresBeforeGivingUp);
  const isHopeless =
    last.length === failuresBeforeGivingUp && last.every((one) => one.status === 'Failed');
  if (!isHopeless) return pending;
  return {
    kind: 'failed',
    reason: sentence(
      'Group did not stabilize. {current/minSize/maxSize} group size =',
      `{${inService}/${group.min}/${group.max}}. Failed Scaling Activity:`,
      last.at(-1)?.message ?? '',
    ),
  };
};
