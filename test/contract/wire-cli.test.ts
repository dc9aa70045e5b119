// The real aws CLI against the dispatcher behind a plain HTTP server, with fixed answers. It tests
// that a real client's requests pass wire's checks and that wire and client read each other's
// messages. It does not test the world's behaviour.
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { awsVersion, clientPath } from '../support/aws-client.ts';
import { type Ran, run } from '../support/demo-world.ts';
import { GROUP } from './wire-canned.ts';
import {
  accessKey,
  account,
  principal,
  secretKey,
  startWireFront,
  type WireFront,
} from './wire-front.ts';

let front: WireFront;
beforeAll(async () => {
  front = await startWireFront();
});
afterAll(() => front.stop());

function aws(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const options = {
    env: {
      PATH: clientPath,
      HOME: tmpdir(),
      AWS_ACCESS_KEY_ID: accessKey,
      AWS_SECRET_ACCESS_KEY: secretKey,
      AWS_DEFAULT_REGION: 'eu-west-1',
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_PAGER: '',
      ...env,
    },
  };
  return run('aws', ['--endpoint-url', front.endpoint, '--output', 'json', ...args], options);
}

async function json(args: readonly string[]): Promise<unknown> {
  const { code, stdout, stderr } = await aws(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.trim() === '' ? undefined : JSON.parse(stdout);
}

function hasCli(): boolean {
  const found = awsVersion ?? 'no aws CLI on PATH, its tests are skipped';
  process.stderr.write(`wire-cli: ${found}\n`);
  return awsVersion !== undefined;
}

describe.skipIf(!hasCli())('the real aws CLI', { concurrent: true }, () => {
  it('reads lifecycle hooks as article 001 prints them', async () => {
    const args = ['--auto-scaling-group-name', GROUP];
    expect(await json(['autoscaling', 'describe-lifecycle-hooks', ...args])).toEqual({
      LifecycleHooks: [
        expect.objectContaining({ LifecycleHookName: 'Launch-LC-Hook', HeartbeatTimeout: 1800 }),
        expect.objectContaining({
          LifecycleHookName: 'Terminate-LC-Hook',
          GlobalTimeout: 172800,
          DefaultResult: 'CONTINUE',
        }),
      ],
    });
  });

  it('reads an empty list as an empty list', async () => {
    const args = ['--auto-scaling-group-name', 'hookless'];
    const output = await json(['autoscaling', 'describe-lifecycle-hooks', ...args]);
    expect(output).toEqual({ LifecycleHooks: [] });
  });

  it('terminates an instance and gets its activity', async () => {
    const output = await json([
      ...['autoscaling', 'terminate-instance-in-auto-scaling-group'],
      ...['--instance-id', 'i-07e9ea9eb19a67337', '--should-decrement-desired-capacity'],
    ]);
    expect(output).toMatchObject({
      Activity: { StatusCode: 'InProgress', Progress: 0 },
    });
    // AWS CLI v2 prints times in its own format.
    const { StartTime } = (output as { Activity: { StartTime: string } }).Activity;
    expect(Date.parse(StartTime)).toBe(Date.parse('2024-12-28T14:06:13Z'));
    expect(front.lastInput('TerminateInstanceInAutoScalingGroup')).toEqual({
      InstanceId: 'i-07e9ea9eb19a67337',
      ShouldDecrementDesiredCapacity: true,
    });
  });

  it('creates a group with nested hooks and tags', async () => {
    const hook =
      'LifecycleHookName=H1,HeartbeatTimeout=60,' +
      'LifecycleTransition=autoscaling:EC2_INSTANCE_TERMINATING';
    await json([
      ...['autoscaling', 'create-auto-scaling-group', '--auto-scaling-group-name', 'a & b <ü>'],
      ...['--min-size', '0', '--max-size', '3', '--availability-zones', 'eu-west-1a', 'eu-west-1b'],
      ...['--launch-template', 'LaunchTemplateName=lt1,Version=$Latest'],
      ...['--lifecycle-hook-specification-list', hook],
      ...['--tags', 'Key=k1,Value=v=1,PropagateAtLaunch=true', 'Key=k2,Value='],
    ]);
    expect(front.lastInput('CreateAutoScalingGroup')).toMatchObject({
      AutoScalingGroupName: 'a & b <ü>',
      MinSize: 0,
      AvailabilityZones: ['eu-west-1a', 'eu-west-1b'],
      LaunchTemplate: { LaunchTemplateName: 'lt1', Version: '$Latest' },
      LifecycleHookSpecificationList: [{ LifecycleHookName: 'H1', HeartbeatTimeout: 60 }],
      Tags: [
        { Key: 'k1', Value: 'v=1', PropagateAtLaunch: true },
        { Key: 'k2', Value: '' },
      ],
    });
  });

  it('describes and lists node groups', async () => {
    const group = ['--cluster=ironman-2022', '--nodegroup-name=demo-ng'];
    const query = ['--query', 'nodegroup.resources.autoScalingGroups[0].name'];
    expect(await json(['eks', 'describe-nodegroup', ...group, ...query])).toBe(GROUP);
    const listed = await json([
      'eks',
      'list-nodegroups',
      '--cluster-name',
      'c',
      '--max-items',
      '5',
    ]);
    expect(listed).toEqual({ nodegroups: ['demo-ng'] });
  });

  it('tags an EKS resource whose ARN stands URL-encoded in the path', async () => {
    const arn = 'arn:aws:eks:eu-west-1:123456789012:nodegroup/c/demo-ng/02c1ba5d';
    await json(['eks', 'tag-resource', '--resource-arn', arn, '--tags', 'a=1']);
    expect(front.lastInput('TagResource')).toEqual({ resourceArn: arn, tags: { a: '1' } });
  });

  it('lists stack resources', async () => {
    const output = await json(['cloudformation', 'list-stack-resources', '--stack-name', 's']);
    expect(output).toMatchObject({
      StackResourceSummaries: [
        {
          LogicalResourceId: 'NodeGroup',
          DriftInformation: { StackResourceDriftStatus: 'NOT_CHECKED' },
        },
      ],
    });
  });

  it('filters EC2 instances', async () => {
    const output = await json([
      ...['ec2', 'describe-instances', '--filters', 'Name=tag:a,Values=x,y'],
      ...['Name=instance-state-name,Values=running', '--instance-ids', 'i-0123456789abcdef0'],
    ]);
    expect(output).toMatchObject({
      Reservations: [{ Instances: [{ State: { Code: 16, Name: 'running' }, SecurityGroups: [] }] }],
    });
    expect(front.lastInput('DescribeInstances')).toEqual({
      InstanceIds: ['i-0123456789abcdef0'],
      Filters: [
        { Name: 'tag:a', Values: ['x', 'y'] },
        { Name: 'instance-state-name', Values: ['running'] },
      ],
    });
  });

  it('sends, receives and deletes messages', async () => {
    const queue = ['--queue-url', `${front.endpoint}/${account}/q1`];
    const sent = await json(['sqs', 'send-message', ...queue, '--message-body', '{"a":"ü"}']);
    expect(sent).toMatchObject({ MessageId: 'm-1' });
    expect(await json(['sqs', 'receive-message', ...queue])).toMatchObject({
      Messages: [{ Body: 'hello', Attributes: { ApproximateReceiveCount: '1' } }],
    });
    await json(['sqs', 'delete-message', ...queue, '--receipt-handle', 'r-1']);
    expect(front.lastInput('DeleteMessage')).toMatchObject({ ReceiptHandle: 'r-1' });
  });

  it('publishes, says who it is, looks up events', async () => {
    const topic = 'arn:aws:sns:eu-west-1:123456789012:t';
    expect(await json(['sns', 'publish', '--topic-arn', topic, '--message', 'm'])).toEqual({
      MessageId: 'sns-1',
    });
    expect(await json(['sts', 'get-caller-identity'])).toEqual({
      UserId: 'AIDATESTER',
      Account: account,
      Arn: principal.arn,
    });
    const events = await json(['cloudtrail', 'lookup-events', '--max-items', '1']);
    expect(events).toMatchObject({ Events: [{ EventName: 'CreateNodegroup' }] });
  });

  it.each([
    [
      ['autoscaling', 'delete-auto-scaling-group', '--auto-scaling-group-name', 'busy'],
      '(ResourceInUse)',
      'it has instances',
    ],
    [
      ['eks', 'describe-nodegroup', '--cluster-name', 'c', '--nodegroup-name', 'nope'],
      '(ResourceNotFoundException)',
      'No node group found for name: nope.',
    ],
    [
      ['ec2', 'terminate-instances', '--instance-ids', 'i-1'],
      '(InvalidInstanceID.Malformed)',
      'Invalid id: "i-1"',
    ],
    [
      ['sqs', 'get-queue-url', '--queue-name', 'nope'],
      '(AWS.SimpleQueueService.NonExistentQueue)',
      'does not exist',
    ],
    [
      [
        'logs',
        'start-query',
        '--log-group-name',
        'bad name',
        '--start-time',
        '0',
        '--end-time',
        '1',
        '--query-string',
        'fields @message',
      ],
      '(InvalidParameterException)',
      'validation error',
    ],
    [
      [
        'eks',
        'create-nodegroup',
        '--cluster-name',
        'c',
        '--nodegroup-name',
        'n',
        '--subnets',
        's',
        '--node-role',
        'r',
        '--ami-type',
        'NOPE',
      ],
      '(InvalidParameterException)',
      'enum value set',
    ],
  ])('prints the error of %j in its own protocol', async (args, code, message) => {
    const outcome = await aws(args);
    expect(outcome.code).toBeGreaterThan(0);
    expect(outcome.stderr).toContain(code);
    expect(outcome.stderr).toContain(message);
  });

  it.each([
    ['autoscaling', ['autoscaling', 'describe-scaling-process-types']],
    ['ec2', ['ec2', 'describe-addresses']],
    ['json', ['ssm', 'describe-parameters']],
    ['rest-json', ['eks', 'list-addons', '--cluster-name', 'c']],
    ['unknown', ['s3api', 'list-buckets']],
  ])('is reported once, without retries, what the world lacks (%s)', async (label, args) => {
    const outcome = await aws(args, { AWS_EXECUTION_ENV: `wire-test-${label}` });
    expect(outcome.stderr).toContain('(NotImplemented)');
    expect(front.requestCounts.get(`wire-test-${label}`)).toBe(1);
  });

  it.each([
    ['sts', ['sts', 'get-caller-identity'], 'SignatureDoesNotMatch'],
    ['eks', ['eks', 'list-clusters'], 'InvalidSignatureException'],
    ['ec2', ['ec2', 'describe-instances'], 'AuthFailure'],
  ])('is refused by %s when it signs with a wrong secret', async (_, args, code) => {
    const outcome = await aws(args, { AWS_SECRET_ACCESS_KEY: 'wrong' });
    expect(outcome.stderr).toContain(`(${code})`);
  });
});

it('no canned answer left its model', () => {
  expect(front.defects).toEqual([]);
});
