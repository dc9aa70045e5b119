// Standby over the API: enter and exit, with the service's sentences.
import { type AwsInput, optionalFlag, text, texts } from '../../../src/aws-wire/index.ts';
import type { Instances } from '../ec2/instances.ts';
import { type ServiceHandlers, sentence, validationError } from '../scope.ts';
import type { Engine } from './engine.ts';
import { renderActivity } from './render.ts';
import type { GroupRow, LifecycleState, MemberRow } from './rows.ts';
import type { GroupStore } from './store.ts';

export interface StandbyParts {
  readonly store: GroupStore;
  readonly engine: Engine;
  readonly instances: Instances;
}

export const standbyHandlers = (parts: StandbyParts): ServiceHandlers => ({
  EnterStandby: (input) => enter(parts, input),
  ExitStandby: (input) => exit(parts, input),
});

const named = (
  store: GroupStore,
  group: GroupRow,
  input: AwsInput,
  state: LifecycleState,
): readonly MemberRow[] =>
  texts(input, 'InstanceIds').map((id) => {
    const member = store.member(id);
    if (member?.group !== group.name) {
      throw validationError(`The instance ${id} is not part of Auto Scaling group ${group.name}.`);
    }
    if (member.state === state) return member;
    throw validationError(`The instance ${id} is not in ${state}.`);
  });

const enter = ({ store, engine }: StandbyParts, input: AwsInput) => {
  const group = store.needGroup(text(input, 'AutoScalingGroupName'));
  const members = named(store, group, input, 'InService');
  const decrement = optionalFlag(input, 'ShouldDecrementDesiredCapacity') ?? false;
  const count = members.length;
  if (decrement && group.desired - count < group.min) {
    throw validationError(
      sentence(
        `AutoScalingGroup ${group.name} has min-size=${group.min}, max-size=${group.max}, and`,
        `desired-size=${group.desired}. To place into standby ${count}`,
        `${count === 1 ? 'instance' : 'instances'}, please update the AutoScalingGroup sizes`,
        'appropriately.',
      ),
    );
  }
  let capacity = group.desired;
  const activities = members.map((member) => {
    const { instanceId, subnetId, zone } = member;
    const shrinks = decrement ? `, shrinking the capacity from ${capacity} to ${--capacity}.` : '.';
    const moved = `instance ${instanceId} was moved to standby in response to a user request`;
    const activity = store.beginActivity(group, {
      description: `Moving EC2 instance to Standby: ${instanceId}`,
      cause: `${store.at()} ${moved}${shrinks}`,
      status: 'InProgress',
      progress: 50,
      subnetId,
      zone,
    });
    engine.putAside(member, activity.id);
    return activity;
  });
  if (decrement) store.patchGroup(group.name, { desired: capacity });
  engine.queueScaling(group.name);
  return { Activities: activities.map(renderActivity) };
};

const exit = ({ store, engine, instances }: StandbyParts, input: AwsInput) => {
  const group = store.needGroup(text(input, 'AutoScalingGroupName'));
  const members = named(store, group, input, 'Standby');
  const desired = group.desired + members.length;
  if (desired > group.max) {
    const count = members.length;
    throw validationError(
      sentence(
        `AutoScalingGroup ${group.name} has min-size=${group.min}, max-size=${group.max}, and`,
        `desired-size=${group.desired}. To exit standby ${count}`,
        `${count === 1 ? 'instance' : 'instances'}, please update the AutoScalingGroup sizes`,
        'appropriately.',
      ),
    );
  }
  let capacity = group.desired;
  const activities = members.map((member) => {
    const { instanceId, subnetId, zone } = member;
    const activity = store.beginActivity(group, {
      description: `Moving EC2 instance out of Standby: ${instanceId}`,
      cause: sentence(
        `${store.at()} instance ${instanceId} was moved out of standby in response to a user`,
        `request, increasing the capacity from ${capacity} to ${++capacity}.`,
      ),
      status: 'PreInService',
      progress: 30,
      subnetId,
      zone,
    });
    engine.takeBack(member, activity.id);
    return activity;
  });
  store.patchGroup(group.name, { desired: capacity });
  const isStopped = (member: MemberRow): boolean =>
    instances.get(member.instanceId)?.state === 'stopped';
  for (const member of members) if (isStopped(member)) instances.start(member.instanceId);
  engine.queueScaling(group.name);
  return { Activities: activities.map(renderActivity) };
};
