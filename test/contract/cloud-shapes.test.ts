// The mapping of AWS' answers, which is the same for the world in process and for the SDK over
// HTTP. The tests cover omitted fields, paginated lists and meanings of refusals. The answers are
// fixed; cloud-api.test.ts tests the behaviour of a cloud.
import { afterEach, describe, expect, it } from 'vitest';
import { AwsError, type AwsHandler, type AwsHandlers } from '../../src/aws-wire/index.ts';
import type { CloudApi } from '../../src/ports/index.ts';
import { type Side, sidesOver } from './cloud-sides.ts';

let open: readonly Side[] = [];
afterEach(async () => {
  await Promise.all(open.map((side) => side.stop()));
  open = [];
});

/** The result of the call, which must be the same over each transport. */
const onEachSide = async <T>(
  handlers: AwsHandlers,
  call: (cloud: CloudApi) => Promise<T>,
): Promise<{ readonly value: T; readonly asked: ReturnType<Side['asked']> }> => {
  open = await sidesOver(handlers);
  const [here, there] = await Promise.all(
    open.map(async (side) => {
      const value = await call(side.cloud).catch((error: Error & { code?: string }) => ({
        error: error.message,
        code: error.code,
      }));
      return { value: value as T, asked: side.asked() };
    }),
  );
  if (here === undefined || there === undefined) throw new Error('no sides');
  expect(here.value, 'in process as over HTTP').toEqual(there.value);
  expect(here.asked, 'the same calls in the same order').toEqual(there.asked);
  return there;
};

const gives =
  (output: object): AwsHandler =>
  () =>
    output;
const refuses =
  (code: string, message: string, httpStatus?: number): AwsHandler =>
  () => {
    throw new AwsError({ code, message, ...(httpStatus === undefined ? {} : { httpStatus }) });
  };

const at = 1_735_394_773_123;
const group = {
  AutoScalingGroupName: 'g',
  MinSize: 0,
  MaxSize: 3,
  DesiredCapacity: 1,
  DefaultCooldown: 300,
  AvailabilityZones: [],
  HealthCheckType: 'EC2',
  CreatedTime: at,
};
const groups = (...more: readonly object[]) => ({
  autoscaling: { DescribeAutoScalingGroups: gives({ AutoScalingGroups: more }) },
});
const instances = (instance: object) => ({
  ec2: { DescribeInstances: gives({ Reservations: [{ Instances: [instance] }] }) },
});

describe('a group', () => {
  it('is created at a time with milliseconds, and has what Auto Scaling means by default', async () => {
    const LaunchTemplate = { LaunchTemplateId: 'lt-1', LaunchTemplateName: 'n' };
    const WarmPoolConfiguration = { MinSize: 1 };
    const { value } = await onEachSide(
      groups({
        ...{ ...group, LaunchTemplate, WarmPoolConfiguration, VPCZoneIdentifier: 's-1, s-2' },
        LoadBalancerNames: ['web'],
      }),
      (cloud) => cloud.describeGroups(),
    );
    expect(value).toEqual([
      {
        name: 'g',
        minSize: 0,
        maxSize: 3,
        desiredCapacity: 1,
        createdAt: '2024-12-28T14:06:13.123Z',
        instances: [],
        tags: {},
        subnets: ['s-1', 's-2'],
        capacityRebalance: false,
        suspendedProcesses: [],
        warmPool: { instances: 0, state: 'Stopped' },
        classicLoadBalancers: ['web'],
        launchTemplate: { id: 'lt-1', name: 'n', version: '$Default' },
      },
    ]);
  });

  it('has overrides only where its policy has a template', async () => {
    const InstancesDistribution = { OnDemandPercentageAboveBaseCapacity: 100 };
    const { value } = await onEachSide(
      groups({ ...group, MixedInstancesPolicy: { InstancesDistribution } }),
      (cloud) => cloud.describeGroups(),
    );
    expect(value[0]).not.toHaveProperty('overrides');
  });

  it('is asked for by name, 50 names and 100 groups at a time', async () => {
    const names = Array.from({ length: 51 }, (_, n) => `g${n}`);
    const { asked } = await onEachSide(groups(group), (cloud) => cloud.describeGroups(names));
    expect(asked.map(({ input }) => input)).toEqual([
      { MaxRecords: 100, AutoScalingGroupNames: names.slice(0, 50) },
      { MaxRecords: 100, AutoScalingGroupNames: ['g50'] },
    ]);
  });

  it.each(['again', ''])(
    'ends its list where the token of the next page is %j',
    async (NextToken) => {
      const answer = { AutoScalingGroups: [group], NextToken };
      const { value } = await onEachSide(
        { autoscaling: { DescribeAutoScalingGroups: gives(answer) } },
        (cloud) => cloud.describeGroups(),
      );
      expect(value).toHaveLength(NextToken === '' ? 1 : 2);
    },
  );
});

describe('an instance', () => {
  it('has its public DNS name, and addresses of its own', async () => {
    const { value } = await onEachSide(
      instances({
        InstanceId: 'i-1',
        PublicDnsName: 'ec2-1.example',
        PrivateIpAddress: '10.0.0.1',
        PublicIpAddress: '3.3.3.3',
        SubnetId: 's-1',
        VpcId: 'v-1',
        LaunchTime: at,
      }),
      (cloud) => cloud.describeInstances(['i-1']),
    );
    expect(value[0]).toMatchObject({
      publicDnsName: 'ec2-1.example',
      addresses: ['10.0.0.1', '3.3.3.3'],
      launchTime: '2024-12-28T14:06:13.123Z',
      network: { subnetId: 's-1', vpcId: 'v-1', securityGroups: [], publicAddress: '3.3.3.3' },
    });
  });

  it('lacks what EC2 does not say, the time of its launch too', async () => {
    const { value } = await onEachSide(
      instances({ InstanceId: 'i-1', PrivateIpAddress: '10.0.0.1', PublicDnsName: '' }),
      (cloud) => cloud.describeInstances(['i-1']),
    );
    expect(value).toEqual([
      {
        instanceId: 'i-1',
        state: '',
        privateDnsName: '',
        instanceType: '',
        isSpot: false,
        imageId: '',
        availabilityZone: '',
        addresses: ['10.0.0.1'],
      },
    ]);
    const none = await onEachSide(instances({ InstanceId: 'i-1' }), (cloud) =>
      cloud.describeInstances(['i-1']),
    );
    expect(none.value[0]).not.toHaveProperty('addresses');
  });

  it('is asked for by filter, 200 ids at a time', async () => {
    const ids = Array.from({ length: 201 }, (_, n) => `i-${n}`);
    const { asked } = await onEachSide(instances({ InstanceId: 'i-1' }), (cloud) =>
      cloud.describeInstances(ids),
    );
    expect(asked.map(({ input }) => input)).toEqual([
      { MaxResults: 1000, Filters: [{ Name: 'instance-id', Values: ids.slice(0, 200) }] },
      { MaxResults: 1000, Filters: [{ Name: 'instance-id', Values: ['i-200'] }] },
    ]);
  });

  it('has scheduled events without a time where EC2 names none', async () => {
    const Events = [{ InstanceEventId: 'e-1', Code: 'system-reboot', Description: 'x' }];
    const { value } = await onEachSide(
      {
        ec2: { DescribeInstanceStatus: gives({ InstanceStatuses: [{ InstanceId: 'i', Events }] }) },
      },
      (cloud) => cloud.describeScheduledEvents(),
    );
    expect(value).toEqual([{ id: 'e-1', instanceId: 'i', code: 'system-reboot', isOver: false }]);
  });
});

describe('an impaired instance', () => {
  it('is looked for by one status check after the other', async () => {
    const Details = [{ Name: 'reachability', Status: 'failed', ImpairedSince: at }];
    const { value, asked } = await onEachSide(
      {
        ec2: {
          DescribeInstanceStatus: gives({
            InstanceStatuses: [
              { InstanceId: 'i-1', InstanceStatus: { Status: 'impaired', Details } },
            ],
          }),
        },
      },
      (cloud) => cloud.describeImpairedInstances(),
    );
    expect(value).toEqual([
      { instanceId: 'i-1', check: 'instance', since: '2024-12-28T14:06:13.123Z' },
      { instanceId: 'i-1', check: 'system' },
    ]);
    expect(asked.map(({ input }) => input)).toEqual(
      ['instance', 'system'].map((check) => ({
        MaxResults: 1000,
        Filters: [{ Name: `${check}-status.status`, Values: ['impaired'] }],
      })),
    );
  });
});

describe('hooks, activities and messages', () => {
  it('have the defaults of PutLifecycleHook where a hook says nothing', async () => {
    const { value } = await onEachSide(
      { autoscaling: { DescribeLifecycleHooks: gives({ LifecycleHooks: [{}] }) } },
      (cloud) => cloud.describeHooks('g'),
    );
    expect(value).toEqual([
      {
        name: '',
        autoScalingGroupName: '',
        transition: 'autoscaling:EC2_INSTANCE_TERMINATING',
        heartbeatTimeoutSeconds: 3600,
        globalTimeoutSeconds: 172_800,
        defaultResult: 'ABANDON',
      },
    ]);
  });

  it('have an end only once they ended', async () => {
    const activity = {
      ActivityId: 'a',
      AutoScalingGroupName: 'g',
      Cause: 'c',
      StartTime: at,
      StatusCode: 'InProgress',
      Details: '{"Availability Zone":"eu-west-1a"}',
    };
    const { value } = await onEachSide(
      { autoscaling: { DescribeScalingActivities: gives({ Activities: [activity] }) } },
      (cloud) => cloud.describeActivities('g'),
    );
    expect(value).toEqual([
      {
        id: 'a',
        description: '',
        startedAt: '2024-12-28T14:06:13.123Z',
        status: 'InProgress',
        message: '',
        cause: 'c',
        zone: 'eu-west-1a',
      },
    ]);
  });

  it('are read from the queue with their count and time', async () => {
    const Attributes = { ApproximateReceiveCount: '2', SentTimestamp: String(at) };
    const MD5OfBody = '92eb5ffee6ae2fec3ad71c777531578f';
    const message = { MessageId: 'm', ReceiptHandle: 'r', Body: 'b', MD5OfBody, Attributes };
    const { value, asked } = await onEachSide(
      { sqs: { ReceiveMessage: gives({ Messages: [message] }) } },
      (cloud) =>
        cloud.receiveMessages('http://127.0.0.1/1/q', { waitSeconds: 0, visibilitySeconds: 60 }),
    );
    expect(value).toEqual([
      { id: 'm', receiptHandle: 'r', body: 'b', receiveCount: 2, sentAt: at },
    ]);
    expect(asked[0]?.input).toMatchObject({ MaxNumberOfMessages: 10, WaitTimeSeconds: 0 });
  });
});

describe('a launch template', () => {
  const versions = { LaunchTemplateVersions: [{ VersionNumber: 3, LaunchTemplateData: {} }] };
  const listed = { LaunchTemplates: [{ LaunchTemplateId: 'lt-1', LaunchTemplateName: 'mine' }] };

  it('is looked for by its name, never by listing those of others', async () => {
    const { value, asked } = await onEachSide(
      {
        ec2: {
          DescribeLaunchTemplates: gives(listed),
          DescribeLaunchTemplateVersions: gives(versions),
        },
      },
      (cloud) => cloud.findLaunchTemplate({ name: 'mine', version: '$Latest' }),
    );
    expect(value).toEqual({ id: 'lt-1', name: 'mine', version: '3', tags: {}, data: {} });
    expect(asked).toEqual([
      { operation: 'DescribeLaunchTemplates', input: { LaunchTemplateNames: ['mine'] } },
      {
        operation: 'DescribeLaunchTemplateVersions',
        input: { LaunchTemplateId: 'lt-1', Versions: ['$Latest'] },
      },
    ]);
  });

  it.each([
    ['InvalidLaunchTemplateName.NotFoundException', undefined],
    ['InvalidLaunchTemplateId.Malformed', { code: 'InvalidRequest' }],
  ])('refused with %s is %j', async (code, expected) => {
    const { value } = await onEachSide(
      { ec2: { DescribeLaunchTemplates: refuses(code, 'no') } },
      (cloud) => cloud.findLaunchTemplate({ name: 'mine', version: '1' }),
    );
    if (expected === undefined) expect(value).toBeUndefined();
    else expect(value).toMatchObject(expected);
  });

  it('keeps the time until when its Spot request is valid, there and back', async () => {
    const SpotOptions = { ValidUntil: at };
    const data = { InstanceMarketOptions: { MarketType: 'spot', SpotOptions } };
    const row = { VersionNumber: 4, LaunchTemplateData: data };
    const { value, asked } = await onEachSide(
      {
        ec2: {
          DescribeLaunchTemplates: gives(listed),
          DescribeLaunchTemplateVersions: gives({ LaunchTemplateVersions: [row] }),
          CreateLaunchTemplateVersion: gives({ LaunchTemplateVersion: { VersionNumber: 5 } }),
        },
      },
      async (cloud) => {
        const found = await cloud.findLaunchTemplate({ name: 'mine', version: '4' });
        const again = { id: 'lt-1', data: found?.data ?? {} };
        return [found?.data, await cloud.addLaunchTemplateVersion(again)];
      },
    );
    expect(value).toEqual([data, '5']);
    expect(asked.at(-1)?.input).toEqual({ LaunchTemplateId: 'lt-1', LaunchTemplateData: data });
  });
});

describe('what EC2 and EKS have to choose from', () => {
  it('is images of Amazon by name, and of anyone by id', async () => {
    const { asked } = await onEachSide(
      { ec2: { DescribeImages: gives({ Images: [] }) } },
      async (cloud) => [await cloud.describeImages('al*'), await cloud.findImage('ami-1')],
    );
    expect(asked.map(({ input }) => input)).toEqual([
      { Owners: ['amazon'], Filters: [{ Name: 'name', Values: ['al*'] }] },
      { Filters: [{ Name: 'image-id', Values: ['ami-1'] }] },
    ]);
  });

  it('is a cluster without a network and a version where EKS does not say', async () => {
    const { value } = await onEachSide(
      { eks: { DescribeCluster: gives({ cluster: { name: 'c' } }) } },
      (cloud) => cloud.describeCluster('c'),
    );
    expect(value).toEqual({ endpoint: '', certificateAuthority: '' });
  });

  it('is a key pair of the very name, as a filter takes wildcards', async () => {
    const { value } = await onEachSide(
      { ec2: { DescribeKeyPairs: gives({ KeyPairs: [{ KeyName: 'key-of-another' }] }) } },
      (cloud) => cloud.hasKeyPair('key*'),
    );
    expect(value).toBe(false);
  });

  it('is a rule of a security group with all of its sources', async () => {
    const IpPermissions = [
      {
        IpProtocol: '-1',
        IpRanges: [{ CidrIp: '10.0.0.0/8' }],
        Ipv6Ranges: [{ CidrIpv6: '::/0' }],
        PrefixListIds: [{ PrefixListId: 'pl-1' }],
      },
    ];
    const { value } = await onEachSide(
      {
        ec2: {
          DescribeSecurityGroups: gives({ SecurityGroups: [{ GroupId: 'sg', IpPermissions }] }),
        },
      },
      (cloud) => cloud.findSecurityGroups({ name: 'n' }),
    );
    expect(value[0]?.ingress).toEqual([
      { protocol: '-1', cidrs: ['10.0.0.0/8', '::/0'], groups: [], hasPrefixLists: true },
    ]);
  });

  it('is an instance profile whose role has an ARN only where IAM says so', async () => {
    const profile = { InstanceProfileName: 'p', Roles: [{ RoleName: 'r', Arn: '' }] };
    const { value } = await onEachSide(
      { iam: { GetInstanceProfile: gives({ InstanceProfile: profile }) } },
      (cloud) => cloud.findInstanceProfile('p'),
    );
    expect(value).toEqual({ name: 'p', roles: ['r'], tags: {} });
  });
});

describe('stacks', () => {
  it('are those of groups alone: others are neither listed nor looked into', async () => {
    const stack = (StackName: string, tag: string) => ({
      StackName,
      StackStatus: 'CREATE_COMPLETE',
      CreationTime: at,
      Tags: [{ Key: tag, Value: 'x' }],
    });
    const Tags = [{ Key: 'aws:cloudformation:stack-name', Value: 'tagged' }];
    const resource = {
      ResourceType: 'AWS::AutoScaling::AutoScalingGroup',
      LogicalResourceId: 'NodeGroup',
      PhysicalResourceId: 'asg-2',
      LastUpdatedTimestamp: at,
      ResourceStatus: 'CREATE_COMPLETE',
    };
    const pages = [{ StackResourceSummaries: [], NextToken: 'more' }];
    const Stacks = [
      stack('tagged', 'a'),
      stack('asked', 'alpha.eksctl.io/nodegroup-name'),
      stack('of-others', 'b'),
    ];
    const { value, asked } = await onEachSide(
      {
        ...groups({ ...group, Tags }),
        cloudformation: {
          DescribeStacks: gives({ Stacks }),
          ListStackResources: (input) =>
            input.NextToken === undefined ? pages[0] : { StackResourceSummaries: [resource] },
        },
      },
      (cloud) => cloud.listStacks(),
    );
    expect(value.map((one) => [one.name, one.autoScalingGroupName, one.createdAt])).toEqual([
      ['tagged', 'g', '2024-12-28T14:06:13.123Z'],
      ['asked', 'asg-2', '2024-12-28T14:06:13.123Z'],
    ]);
    expect(asked.map(({ operation }) => operation)).toEqual([
      'DescribeAutoScalingGroups',
      'DescribeStacks',
      'ListStackResources',
      'ListStackResources',
    ]);
  });
});

describe('a refusal', () => {
  it.each([
    ['ResourceContentionFault', 'busy', 500, 'Throttled'],
    ['ServiceUnavailable', 'later', 503, 'ServerError'],
    ['InternalFailure', 'oops', undefined, 'ServerError'],
    ['ValidationError', 'AutoScalingGroup name not found', 400, 'InvalidRequest'],
    ['AccessDenied', 'no', 403, 'AccessDenied'],
    ['NotImplemented', 'no', 501, 'Unsupported'],
  ] as const)('%s (%s, %s) is %s', async (code, message, status, expected) => {
    const { value } = await onEachSide(
      { autoscaling: { DescribeLifecycleHooks: refuses(code, message, status) } },
      (cloud) => cloud.describeHooks('g'),
    );
    expect(value).toEqual({ error: `DescribeLifecycleHooks: ${message}`, code: expected });
  });

  it('to complete what waits no more has a code of its own', async () => {
    const { value } = await onEachSide(
      {
        autoscaling: {
          CompleteLifecycleAction: refuses('ValidationError', 'AutoScalingGroup name not found'),
        },
      },
      (cloud) =>
        cloud.completeHook({
          autoScalingGroupName: 'g',
          hookName: 'h',
          instanceId: 'i-07e9ea9eb19a67337',
          result: 'CONTINUE',
        }),
    );
    expect(value).toMatchObject({ code: 'NoActiveLifecycleAction' });
  });

  it('to delete a group in use ends its warm pool', async () => {
    const { value, asked } = await onEachSide(
      {
        autoscaling: {
          DeleteAutoScalingGroup: refuses(
            'ResourceInUse',
            'You cannot delete an AutoScalingGroup while there are instances still in the group.',
          ),
          DeleteWarmPool: refuses('ValidationError', 'no warm pool'),
        },
      },
      (cloud) => cloud.deleteGroup('g'),
    );
    expect(value).toMatchObject({ code: 'InvalidRequest' });
    expect(asked.map(({ operation }) => operation)).toEqual([
      'DeleteAutoScalingGroup',
      'DeleteWarmPool',
    ]);
  });
});
