import { describe, expect, it } from 'vitest';
import type { AwsInput } from '../../../src/aws-wire/index.ts';
import {
  type Answer,
  aGroup,
  aTestWorld,
  type TestWorld,
} from '../../../test/builders/world-aws.ts';
import { toParameters, trailTime } from './parameters.ts';

const lookup = (world: TestWorld, more: AwsInput = {}): readonly Answer[] => [
  ...(world.call('cloudtrail', 'LookupEvents', more).Events ?? []),
];
const by = (AttributeKey: string, AttributeValue: string) => ({
  LookupAttributes: [{ AttributeKey, AttributeValue }],
});

const serviceCall = (world: TestWorld, operation: string, input: object) =>
  world.aws.call(
    'autoscaling',
    operation,
    { ...input },
    {
      principal: {
        type: 'AssumedRole',
        accountId: '111111111111',
        arn: 'arn:aws:sts::111111111111:assumed-role/AWSServiceRoleForAmazonEKSNodegroup/EKS',
        principalId: 'AROAR5DGWODCNOJPW6PDC:EKS',
      },
      userAgent: 'eks-nodegroup.amazonaws.com',
    },
  );

describe('a record', () => {
  it('of a termination has the form of article 004', () => {
    const world = aTestWorld();
    aGroup(world);
    world.advance(5);
    const [InstanceId = ''] = Object.keys(world.states('g'));
    serviceCall(world, 'TerminateInstanceInAutoScalingGroup', {
      InstanceId,
      ShouldDecrementDesiredCapacity: false,
    });
    const [found] = lookup(world, by('EventName', 'TerminateInstanceInAutoScalingGroup'));
    const record: unknown = JSON.parse(String(found?.CloudTrailEvent));
    expect(record).toMatchObject({
      eventVersion: '1.08',
      userIdentity: {
        type: 'AssumedRole',
        principalId: 'AROAR5DGWODCNOJPW6PDC:EKS',
        sessionContext: {
          sessionIssuer: {
            type: 'Role',
            arn: [
              'arn:aws:iam::111111111111:role/aws-service-role',
              'eks-nodegroup.amazonaws.com',
              'AWSServiceRoleForAmazonEKSNodegroup',
            ].join('/'),
            userName: 'AWSServiceRoleForAmazonEKSNodegroup',
          },
          attributes: { creationDate: '2026-09-25T13:00:05Z', mfaAuthenticated: 'false' },
        },
        invokedBy: 'eks-nodegroup.amazonaws.com',
      },
      eventTime: '2026-09-25T13:00:05Z',
      eventSource: 'autoscaling.amazonaws.com',
      eventName: 'TerminateInstanceInAutoScalingGroup',
      awsRegion: 'eu-west-1',
      sourceIPAddress: 'eks-nodegroup.amazonaws.com',
      userAgent: 'eks-nodegroup.amazonaws.com',
      requestParameters: { instanceId: InstanceId, shouldDecrementDesiredCapacity: false },
      responseElements: {
        activity: {
          autoScalingGroupName: 'g',
          description: `Terminating EC2 instance: ${InstanceId}`,
          startTime: 'Sep 25, 2026, 1:00:05 PM',
          statusCode: 'InProgress',
          progress: 0,
        },
      },
      readOnly: false,
      eventType: 'AwsApiCall',
      managementEvent: true,
      recipientAccountId: '111111111111',
      eventCategory: 'Management',
    });
    expect(found).toMatchObject({ Username: 'EKS', ReadOnly: 'false' });
  });

  it('of a refused call has its error', () => {
    const world = aTestWorld();
    world.refusal('autoscaling', 'SetDesiredCapacity', {
      AutoScalingGroupName: 'nope',
      DesiredCapacity: 1,
    });
    const [found] = lookup(world, by('EventName', 'SetDesiredCapacity'));
    expect(JSON.parse(String(found?.CloudTrailEvent))).toMatchObject({
      errorCode: 'ValidationError',
      errorMessage: 'AutoScalingGroup name not found - AutoScalingGroup: nope not found',
      responseElements: null,
    });
  });

  it('never holds user data', () => {
    const world = aTestWorld();
    aGroup(world);
    const [found] = lookup(world, by('EventName', 'CreateLaunchTemplate'));
    expect(String(found?.CloudTrailEvent)).toContain('"userData":"<sensitiveDataRemoved>"');
  });
});

describe('a time', () => {
  it('is what the model says, by its name only where none is asked', () => {
    const at = Date.UTC(2024, 11, 28, 14, 6, 13);
    const shown = 'Dec 28, 2024, 2:06:13 PM';
    const input = { startTime: 1_664_114_322, Starts: [{ from: at }] };
    expect(toParameters(input, 'request', new Set(['from']))).toEqual({
      startTime: 1_664_114_322,
      starts: [{ from: shown }],
    });
    expect(toParameters({ StartTime: at }, 'request')).toEqual({ startTime: shown });
  });
});

describe('LookupEvents', () => {
  it('finds by attribute and time, newest first, page by page', () => {
    const world = aTestWorld();
    aGroup(world, { desired: 0 });
    for (const DesiredCapacity of [1, 2, 3, 4, 5]) {
      world.advance(60);
      world.call('autoscaling', 'SetDesiredCapacity', {
        AutoScalingGroupName: 'g',
        DesiredCapacity,
      });
    }
    const wanted = (more: object) =>
      world.call('cloudtrail', 'LookupEvents', {
        ...by('EventName', 'SetDesiredCapacity'),
        ...more,
      });
    const sizes = (answer: Answer) =>
      [...(answer.Events ?? [])].map(
        (one) => JSON.parse(String(one.CloudTrailEvent)).requestParameters.desiredCapacity,
      );
    const first = wanted({ MaxResults: 3 });
    expect(sizes(first)).toEqual([5, 4, 3]);
    expect(sizes(wanted({ MaxResults: 3, NextToken: first.NextToken }))).toEqual([2, 1]);
    const StartTime = Date.UTC(2026, 8, 25, 13, 3, 30);
    expect(sizes(wanted({ StartTime }))).toEqual([5, 4]);
    expect(lookup(world, by('ResourceName', 'g'))).toHaveLength(6);
    expect(lookup(world, by('Username', 'nobody'))).toEqual([]);
  });

  it('does not show calls on messages, and keeps a bounded number of reads', () => {
    const world = aTestWorld();
    const QueueUrl = world.call('sqs', 'CreateQueue', { QueueName: 'q' }).QueueUrl;
    world.call('sqs', 'SendMessage', { QueueUrl, MessageBody: 'x' });
    expect(lookup(world, by('EventSource', 'sqs.amazonaws.com'))).toHaveLength(1);
    for (let i = 0; i < 1100; i++) world.call('ec2', 'DescribeVpcs');
    expect(world.parts.trail.all()).toHaveLength(1001);
  });
});

describe("CloudTrail's own form of time", () => {
  it.each([
    ['2024-12-28T14:06:13Z', 'Dec 28, 2024, 2:06:13 PM'],
    ['2024-01-05T00:00:00Z', 'Jan 5, 2024, 12:00:00 AM'],
    ['2024-01-05T12:30:00Z', 'Jan 5, 2024, 12:30:00 PM'],
  ])('shows %s as %s', (iso, shown) => {
    expect(trailTime(Date.parse(iso))).toBe(shown);
  });
});
