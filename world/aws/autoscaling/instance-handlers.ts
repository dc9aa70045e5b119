// Instances and activities of Auto Scaling over the API: terminate, health, protection, attach,
// detach.
import { defined } from '../../../src/api/defined.ts';
import {
  type AwsInput,
  optionalFlag,
  optionalNumber,
  optionalText,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import type { Instances } from '../ec2/instances.ts';
import { applyFilters, readFilters } from '../filters.ts';
import { invalidNextToken, pageOf } from '../paging.ts';
import { type Scope, type ServiceHandlers, sentence, validationError } from '../scope.ts';
import type { Engine } from './engine.ts';
import { renderActivity, scalingInstance } from './render.ts';
import type { GroupStore } from './store.ts';

export interface InstanceParts {
  readonly scope: Scope;
  readonly store: GroupStore;
  readonly engine: Engine;
  readonly instances: Instances;
}

export const instanceHandlers = (parts: InstanceParts): ServiceHandlers => ({
  TerminateInstanceInAutoScalingGroup: (input) => {
    const decrement = optionalFlag(input, 'ShouldDecrementDesiredCapacity') ?? false;
    const activity = parts.engine.terminateByUser(text(input, 'InstanceId'), decrement);
    return { Activity: renderActivity(activity) };
  },
  SetInstanceHealth: (input) => setHealth(parts, input),
  SetInstanceProtection: (input) => {
    const { store } = parts;
    const group = store.needGroup(text(input, 'AutoScalingGroupName'));
    const isProtected = optionalFlag(input, 'ProtectedFromScaleIn') ?? false;
    const ids = texts(input, 'InstanceIds');
    for (const id of ids) {
      if (store.member(id)?.group === group.name) continue;
      throw validationError(`The instance ${id} is not part of Auto Scaling group ${group.name}.`);
    }
    for (const id of ids) store.patchMember(id, { isProtected });
    return {};
  },
  AttachInstances: (input) => attach(parts, input),
  DetachInstances: (input) => detach(parts, input),
  DescribeAutoScalingInstances: (input) => describeInstances(parts, input),
  DescribeScalingActivities: (input) => describeActivities(parts, input),
});

const setHealth = ({ scope, store, engine }: InstanceParts, input: AwsInput): void => {
  const member = store.needMember(text(input, 'InstanceId'));
  const status = text(input, 'HealthStatus');
  if (status === 'Healthy') {
    store.patchMember(member.instanceId, { health: 'Healthy' });
    return;
  }
  if (status !== 'Unhealthy') {
    throw validationError(`Valid values for HealthStatus are: [Healthy, Unhealthy]`);
  }
  const graceMs = store.needGroup(member.group).gracePeriodSeconds * 1000;
  const isInGrace = scope.now() < member.joinedAt + graceMs;
  if (isInGrace && (optionalFlag(input, 'ShouldRespectGracePeriod') ?? true)) return;
  engine.becameUnhealthy(
    member,
    `${store.at()} an instance was taken out of service in response to a user health-check.`,
  );
};

const attach = ({ scope, store, engine, instances }: InstanceParts, input: AwsInput): void => {
  const group = store.needGroup(text(input, 'AutoScalingGroupName'));
  const ids = texts(input, 'InstanceIds');
  const desired = group.desired + ids.length;
  if (desired > group.max) {
    throw validationError(
      sentence(
        `AutoScalingGroup ${group.name} has max-size=${group.max},`,
        `desired-size=${group.desired}. Attaching ${ids.length} instances would exceed`,
        'max-size.',
      ),
    );
  }
  const rows = ids.map((id) => {
    const instance = instances.get(id);
    if (instance?.state === 'running' && store.member(id) === undefined) return instance;
    throw validationError(`Invalid Instance ID(s): [${id}] specified`);
  });
  for (const instance of rows) {
    const { instanceId, zone, subnetId, instanceType, imageId } = instance;
    const activity = store.beginActivity(group, {
      description: `Attaching an existing EC2 instance: ${instanceId}`,
      cause: sentence(
        `${store.at()} an instance was attached in response to a user request, increasing`,
        'the capacity.',
      ),
      status: 'InProgress',
      subnetId,
      zone,
    });
    store.addMember({
      instanceId,
      group: group.name,
      state: 'InService',
      health: 'Healthy',
      zone,
      subnetId,
      instanceType,
      imageId,
      template: group.template,
      isProtected: group.protectsNew,
      joinedAt: scope.now(),
      activityId: activity.id,
    });
    store.endActivity(activity.id, 'Successful');
  }
  store.patchGroup(group.name, { desired });
  engine.queueScaling(group.name);
};

const detach = ({ store, engine }: InstanceParts, input: AwsInput) => {
  const group = store.needGroup(text(input, 'AutoScalingGroupName'));
  const decrement = optionalFlag(input, 'ShouldDecrementDesiredCapacity') ?? false;
  const members = texts(input, 'InstanceIds').map((id) => {
    const member = store.member(id);
    const isFree = member?.state === 'InService' || member?.state === 'Standby';
    if (member?.group === group.name && isFree) return member;
    throw validationError(`The instance ${id} is not in InService.`);
  });
  const desired = group.desired - members.length;
  if (decrement && desired < group.min) {
    throw validationError(
      sentence(
        `AutoScalingGroup ${group.name} has min-size=${group.min},`,
        `desired-size=${group.desired}. Detaching ${members.length} instances would`,
        'violate min-size.',
      ),
    );
  }
  let capacity = group.desired;
  const activities = members.map((member) => {
    const { instanceId, subnetId, zone } = member;
    const activity = store.beginActivity(group, {
      description: `Detaching EC2 instance: ${instanceId}`,
      cause: detachCause(store, instanceId, decrement ? capacity-- : undefined),
      status: 'InProgress',
      subnetId,
      zone,
    });
    store.moveMember(instanceId, 'Detached');
    store.dropMember(instanceId);
    store.endActivity(activity.id, 'Successful');
    return renderActivity(activity);
  });
  if (decrement) store.patchGroup(group.name, { desired });
  engine.queueScaling(group.name);
  return { Activities: activities };
};

const detachCause = (store: GroupStore, instanceId: string, capacity?: number): string => {
  const detached = `instance ${instanceId} was detached in response to a user request`;
  const shrinks =
    capacity === undefined ? '' : `, shrinking the capacity from ${capacity} to ${capacity - 1}`;
  return `${store.at()} ${detached}${shrinks}.`;
};

const describeInstances = ({ store }: InstanceParts, input: AwsInput) => {
  const ids = texts(input, 'InstanceIds');
  const found = store
    .allMembers()
    .filter((member) => ids.length === 0 || ids.includes(member.instanceId));
  const page = pageOf(found, {
    max: optionalNumber(input, 'MaxRecords') ?? 50,
    token: optionalText(input, 'NextToken'),
    keyOf: (member) => member.instanceId,
    invalid: invalidNextToken,
  });
  return {
    AutoScalingInstances: page.items.map(scalingInstance),
    ...defined({ NextToken: page.nextToken }),
  };
};

const describeActivities = ({ store }: InstanceParts, input: AwsInput) => {
  const name = optionalText(input, 'AutoScalingGroupName');
  const includesDeleted = optionalFlag(input, 'IncludeDeletedGroups') ?? false;
  if (name !== undefined && !includesDeleted) store.needGroup(name);
  const ids = texts(input, 'ActivityIds');
  const found = store
    .activities(name)
    .filter((activity) => ids.length === 0 || ids.includes(activity.id))
    .filter((activity) => includesDeleted || store.group(activity.group) !== undefined)
    .toReversed();
  const filtered = applyFilters(
    found,
    readFilters(input),
    { Status: (activity) => activity.status },
    () => ({}),
  );
  const page = pageOf(filtered, {
    max: optionalNumber(input, 'MaxRecords') ?? 100,
    token: optionalText(input, 'NextToken'),
    keyOf: (activity) => activity.id,
    invalid: invalidNextToken,
  });
  return {
    Activities: page.items.map(renderActivity),
    ...defined({ NextToken: page.nextToken }),
  };
};
