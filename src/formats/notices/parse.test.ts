// Message bodies of every form, and invalid bodies.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maxNoticeBytes, parseNotice } from './index.ts';

const instanceId = 'i-0aaaabbbbccccdddd';
const raw = {
  Origin: 'AutoScalingGroup',
  Destination: 'EC2',
  LifecycleHookName: 'Terminate-LC-Hook',
  AccountId: '123456789012',
  RequestId: '11111111-2222-3333-4444-555555555555',
  LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING',
  AutoScalingGroupName: 'asg-1',
  Service: 'AWS Auto Scaling',
  Time: '2026-01-01T00:00:00.123Z',
  EC2InstanceId: instanceId,
  LifecycleActionToken: 'token-1',
};
const sns = (message: unknown): unknown => ({
  Type: 'Notification',
  MessageId: 'm',
  TopicArn: 'arn:aws:sns:eu-west-1:1:t',
  Message: JSON.stringify(message),
  Timestamp: '2026-01-01T00:00:01.000Z',
});
const event = (source: string, detailType: string, detail: unknown): Record<string, unknown> => ({
  version: '0',
  id: 'e-1',
  'detail-type': detailType,
  source,
  account: '1',
  time: '2026-01-01T00:00:00Z',
  region: 'eu-west-1',
  resources: [],
  detail,
});
const hookDetail = {
  LifecycleActionToken: 'token-1',
  AutoScalingGroupName: 'asg-1',
  LifecycleHookName: 'Terminate-LC-Hook',
  EC2InstanceId: instanceId,
  LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING',
};
const health = (more: object): unknown =>
  event('aws.health', 'AWS Health Event', {
    eventArn: 'arn:aws:health:eu-west-1::event/EC2/x',
    service: 'EC2',
    eventTypeCode: 'AWS_EC2_INSTANCE_STOP_SCHEDULED',
    eventTypeCategory: 'scheduledChange',
    startTime: 'Tue, 5 Jan 2027 15:10:09 GMT',
    endTime: 'Wed, 06 Jan 2027 15:10:09 GMT',
    affectedEntities: [{ entityValue: instanceId }, { entityValue: 'i-0bbbbbbb' }],
    ...more,
  });
const hookNotice = {
  kind: 'terminate',
  instanceId,
  autoScalingGroupName: 'asg-1',
  hookName: 'Terminate-LC-Hook',
  token: 'token-1',
};

describe('parseNotice knows', () => {
  it.each<[string, unknown, object]>([
    ['a raw lifecycle message', raw, { ...hookNotice, source: 'autoscaling', at: raw.Time }],
    ['one inside SNS', sns(raw), { ...hookNotice, source: 'sns', at: raw.Time }],
    [
      'a launch',
      { ...raw, LifecycleTransition: 'autoscaling:EC2_INSTANCE_LAUNCHING' },
      { kind: 'launch', instanceId },
    ],
    [
      'EventBridge’s terminate action',
      event('aws.autoscaling', 'EC2 Instance-terminate Lifecycle Action', hookDetail),
      { ...hookNotice, source: 'eventbridge', at: '2026-01-01T00:00:00Z' },
    ],
    [
      'an event inside SNS',
      sns(event('aws.ec2', 'EC2 Instance Rebalance Recommendation', { 'instance-id': instanceId })),
      { kind: 'rebalance', instanceId },
    ],
    [
      'EventBridge’s launch action',
      event('aws.autoscaling', 'EC2 Instance-launch Lifecycle Action', {
        ...hookDetail,
        LifecycleTransition: 'autoscaling:EC2_INSTANCE_LAUNCHING',
      }),
      { kind: 'launch', instanceId, token: 'token-1' },
    ],
    [
      'a spot interruption',
      event('aws.ec2', 'EC2 Spot Instance Interruption Warning', {
        'instance-id': instanceId,
        'instance-action': 'terminate',
      }),
      { kind: 'spotInterruption', instanceId, action: 'terminate', at: '2026-01-01T00:00:00Z' },
    ],
    [
      'a state change',
      event('aws.ec2', 'EC2 Instance State-change Notification', {
        'instance-id': instanceId,
        state: 'shutting-down',
      }),
      { kind: 'stateChange', instanceId, state: 'shutting-down' },
    ],
    [
      'maintenance of two instances, with AWS Health’s own form of times',
      health({}),
      {
        kind: 'scheduledChange',
        instanceIds: [instanceId, 'i-0bbbbbbb'],
        status: 'upcoming',
        startsAt: '2027-01-05T15:10:09Z',
        endsAt: '2027-01-06T15:10:09Z',
      },
    ],
    ['cancelled maintenance', health({ statusCode: 'closed' }), { status: 'closed' }],
    [
      'a test notification',
      { Event: 'autoscaling:TEST_NOTIFICATION', AutoScalingGroupName: 'asg-1', Time: raw.Time },
      { kind: 'test', autoScalingGroupName: 'asg-1' },
    ],
  ])('%s', (_, body, expected) => {
    expect(parseNotice(JSON.stringify(body))).toMatchObject(expected);
  });
});

describe('parseNotice lets go', () => {
  it.each<[string, unknown]>([
    ['an S3 notification', { Records: [] }],
    ['Auto Scaling’s plain notifications', { Event: 'autoscaling:EC2_INSTANCE_TERMINATE' }],
    ['other events', event('aws.s3', 'Object Created', {})],
    ['an event that only looks like EC2’s', event('my.app', 'EC2 Instance Rebalance', {})],
    ['maintenance of other services', health({ service: 'RDS' })],
    ['issues that are no scheduled change', health({ eventTypeCategory: 'issue' })],
    ['maintenance of volumes', health({ affectedEntities: [{ entityValue: 'vol-1' }] })],
    ['other transitions', { ...raw, LifecycleTransition: 'autoscaling:EC2_INSTANCE_X' }],
    ['a transition named like a method', { ...raw, LifecycleTransition: 'constructor' }],
    ['SNS’ handshake', { Type: 'SubscriptionConfirmation' }],
  ])('%s, as foreign', (_, body) => {
    expect(parseNotice(JSON.stringify(body)).kind).toBe('foreign');
  });
});

describe('parseNotice refuses', () => {
  it.each<[string, string, RegExp]>([
    ['an empty body', '', /not JSON/],
    ['an empty object', '{}', /empty/],
    ['a list', '[]', /not a JSON object/],
    ['null', 'null', /not a JSON object/],
    ['SNS around plain text', JSON.stringify({ Type: 'Notification', Message: 'hello' }), /SNS/],
    ['no token', JSON.stringify({ ...raw, LifecycleActionToken: undefined }), /LifecycleActionTo/],
    ['a number as group', JSON.stringify({ ...raw, AutoScalingGroupName: 7 }), /AutoScalingGroup/],
    ['a strange instance id', JSON.stringify({ ...raw, EC2InstanceId: 'i-../x' }), /instance id/],
    ['an endless name', JSON.stringify({ ...raw, LifecycleHookName: 'x'.repeat(2000) }), /long/],
    [
      'an event at odds with itself',
      JSON.stringify(event('aws.autoscaling', 'EC2 Instance-launch Lifecycle Action', hookDetail)),
      /disagree/,
    ],
    [
      'an event without detail',
      JSON.stringify(event('aws.ec2', 'EC2 Instance Rebalance Recommendation', 'x')),
      /no detail/,
    ],
    ['a body over the bound', ' '.repeat(maxNoticeBytes + 1), /longer/],
    ['a tower of brackets', `{"a":${'['.repeat(100_000)}`, /JSON|deep/],
  ])('%s', (_, body, why) => {
    const notice = parseNotice(body);
    expect(notice.kind).toBe('malformed');
    if (notice.kind === 'malformed') expect(notice.why).toMatch(why);
  });

  it('keeps what it says about a hostile body short', () => {
    const notice = parseNotice(JSON.stringify({ 'detail-type': 'y'.repeat(9_000), source: 'x' }));
    expect(JSON.stringify(notice).length).toBeLessThan(200);
  });
});

describe('parseNotice never throws', () => {
  it('on any text', () => {
    fc.assert(fc.property(fc.string(), (body) => typeof parseNotice(body).kind === 'string'));
  });
  it('on any JSON', () => {
    fc.assert(fc.property(fc.json(), (body) => typeof parseNotice(body).kind === 'string'));
  });
  it('on known messages with fields replaced or missing, bare and inside SNS', () => {
    const templates = [raw, hookDetail, health({}), sns(raw)].map(
      (value) => value as Record<string, unknown>,
    );
    const damaged = fc
      .tuple(fc.constantFrom(...templates), fc.nat(20), fc.option(fc.jsonValue()), fc.boolean())
      .map(([template, index, value, wrapped]) => {
        const entries = Object.entries(template);
        const doomed = index % entries.length;
        const kept = entries.map(([key, old], i): [string, unknown] =>
          i === doomed ? [key, value ?? undefined] : [key, old],
        );
        const message = Object.fromEntries(kept);
        return JSON.stringify(wrapped ? sns(message) : message);
      });
    fc.assert(fc.property(damaged, (body) => typeof parseNotice(body).kind === 'string'));
  });
});
