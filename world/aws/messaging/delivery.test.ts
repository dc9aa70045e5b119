import { describe, expect, it } from 'vitest';
import { aGroup, aHook, aTestWorld, type TestWorld } from '../../../test/builders/world-aws.ts';
import type { FaultKind } from '../../faults/index.ts';

/** A group with a termination hook whose instance has just entered Terminating:Wait. */
const waiting = (fault?: FaultKind, target: object = {}, seed = 1): TestWorld => {
  const world = aTestWorld({ seed });
  aGroup(world, { hooks: [aHook({ NotificationMetadata: 'cluster=x' })] });
  world.advance(5);
  world.takeMessages();
  if (fault !== undefined) world.faults.inject(fault, target);
  const [InstanceId] = Object.keys(world.states('g'));
  world.call('autoscaling', 'TerminateInstanceInAutoScalingGroup', {
    InstanceId,
    ShouldDecrementDesiredCapacity: true,
  });
  world.advance(1);
  return world;
};

const parsed = (body: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
};

const isWrapped = (body: string): boolean =>
  parsed(body).Type === 'Notification' &&
  String(parsed(body).Message).includes('LifecycleActionToken');
const isEvent = (body: string): boolean =>
  parsed(body)['detail-type'] === 'EC2 Instance-terminate Lifecycle Action';

describe('the notice of a termination hook', () => {
  it('comes wrapped by SNS from the topic of the other account', () => {
    const world = waiting();
    const action = world.parts.store.actions()[0];
    const envelope = parsed(world.takeMessages().find(isWrapped) ?? '');
    expect(envelope).toMatchObject({
      TopicArn: 'arn:aws:sns:eu-west-1:346952985317:eks-asg-lifecycle-hook-topic',
      Subject: [
        `Auto Scaling:  Lifecycle action 'TERMINATING' for instance ${action?.instanceId}`,
        'in progress.',
      ].join(' '),
      SignatureVersion: '1',
    });
    expect(parsed(String(envelope.Message))).toEqual({
      Origin: 'AutoScalingGroup',
      Destination: 'EC2',
      LifecycleHookName: 'drain',
      LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING',
      AutoScalingGroupName: 'g',
      EC2InstanceId: action?.instanceId,
      LifecycleActionToken: action?.token,
      NotificationMetadata: 'cluster=x',
      AccountId: '111111111111',
      RequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      Service: 'AWS Auto Scaling',
      Time: expect.stringMatching(/^2026-09-25T13:00:05\.\d{3}Z$/),
    });
  });

  it('comes as an EventBridge event too', () => {
    const world = waiting();
    const action = world.parts.store.actions()[0];
    const event = parsed(world.takeMessages().find(isEvent) ?? '');
    expect(event).toMatchObject({
      source: 'aws.autoscaling',
      account: '111111111111',
      region: 'eu-west-1',
      detail: {
        LifecycleActionToken: action?.token,
        AutoScalingGroupName: 'g',
        LifecycleHookName: 'drain',
        EC2InstanceId: action?.instanceId,
        LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING',
      },
    });
  });

  it('is preceded by a test notification when the hook is made', () => {
    const world = aTestWorld();
    aGroup(world, { desired: 0, hooks: [aHook()] });
    world.advance(1);
    const [envelope = ''] = world.takeMessages();
    expect(parsed(String(parsed(envelope).Message))).toMatchObject({
      Event: 'autoscaling:TEST_NOTIFICATION',
      AutoScalingGroupName: 'g',
      AccountId: '111111111111',
    });
  });
});

describe('message faults', () => {
  it('lose every lifecycle message of the group they aim at, and of no other', () => {
    expect(waiting('message-loss', { group: 'g' }).takeMessages()).toEqual([]);
    expect(waiting('message-loss', { group: 'other' }).takeMessages()).not.toEqual([]);
  });

  it('double messages two to four times', () => {
    const world = waiting('message-duplicate');
    world.advance(31);
    const copies = world.takeMessages().filter(isWrapped);
    expect(copies.length).toBeGreaterThanOrEqual(2);
    expect(copies.length).toBeLessThanOrEqual(4);
    expect(new Set(copies).size).toBe(1);
  });

  it('delay messages by seconds to minutes', () => {
    const world = waiting('message-delay');
    expect(world.takeMessages().filter(isWrapped)).toEqual([]);
    world.advance(121);
    expect(world.takeMessages().filter(isWrapped)).toHaveLength(1);
  });

  it('put broken messages among the real ones', () => {
    const world = waiting('message-malformed');
    const messages = world.takeMessages();
    expect(messages.filter(isWrapped)).toHaveLength(1);
    expect(messages.filter((body) => !isWrapped(body) && !isEvent(body)).length).toBeGreaterThan(0);
  });
});

describe('notices of EC2', () => {
  it('warn two minutes before a spot instance ends', () => {
    const world = aTestWorld();
    aGroup(world, { isSpot: true });
    world.advance(5);
    world.takeMessages();
    const [id = ''] = Object.keys(world.states('g'));
    expect(world.aws.interrupt(id)).toBe(true);
    world.advance(1);
    expect(world.takeMessages().map(parsed)).toMatchObject([
      {
        'detail-type': 'EC2 Spot Instance Interruption Warning',
        source: 'aws.ec2',
        detail: { 'instance-id': id, 'instance-action': 'terminate' },
      },
    ]);
    world.advance(118);
    expect(world.aws.machines.instanceState(id)).toBe('running');
    world.advance(2);
    expect(world.aws.machines.instanceState(id)).toBe('shutting-down');
    expect(world.host.log.at(-1)).toBe(`off ${id}`);
  });

  it('end no on-demand instance', () => {
    const world = aTestWorld();
    aGroup(world);
    world.advance(5);
    const [id = ''] = Object.keys(world.states('g'));
    expect(world.aws.interrupt(id)).toBe(true);
    world.advance(600);
    expect(world.aws.machines.instanceState(id)).toBe('running');
  });

  it('recommend a rebalance and report changes of state', () => {
    const world = aTestWorld();
    aGroup(world);
    world.advance(5);
    const [id = ''] = Object.keys(world.states('g'));
    expect(world.takeMessages().map((body) => parsed(body).detail)).toEqual([
      { 'instance-id': id, state: 'pending' },
      { 'instance-id': id, state: 'running' },
    ]);
    world.aws.recommendRebalance(id);
    world.advance(1);
    expect(world.takeMessages().map((body) => parsed(body)['detail-type'])).toEqual([
      'EC2 Instance Rebalance Recommendation',
    ]);
  });
});

describe('the topic of the other account', () => {
  it('is neither listed nor open to the user', () => {
    const world = aTestWorld();
    expect(world.call('sns', 'ListTopics')).toEqual({ Topics: [] });
    expect(world.call('sns', 'ListSubscriptions')).toEqual({ Subscriptions: [] });
    const TopicArn = world.foundation.topicArn;
    expect(world.refusal('sns', 'Publish', { TopicArn, Message: 'x' })).toMatch(
      /^AuthorizationError: User: \S+:user\/cli is not authorized to perform: SNS:Publish/,
    );
  });

  it('is unlike a topic of the user, which delivers what the user publishes', () => {
    const world = aTestWorld();
    const { TopicArn } = world.call('sns', 'CreateTopic', { Name: 'mine' });
    const QueueUrl = world.call('sqs', 'CreateQueue', { QueueName: 'q' }).QueueUrl;
    world.call('sns', 'Subscribe', {
      TopicArn,
      Protocol: 'sqs',
      Endpoint: 'arn:aws:sqs:eu-west-1:111111111111:q',
      Attributes: { RawMessageDelivery: 'true' },
    });
    world.call('sns', 'Publish', { TopicArn, Message: 'hello' });
    world.advance(1);
    expect(world.call('sqs', 'ReceiveMessage', { QueueUrl }).Messages).toMatchObject([
      { Body: 'hello' },
    ]);
  });
});
