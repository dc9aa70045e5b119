// Handlers that give one fixed answer each, for the contract tests of wire with real clients.
import { AwsError, type AwsHandlers, md5Hex, text } from '../../src/aws-wire/index.ts';

export const GROUP = 'eks-demo-ng-02c1ba5d-75b6-fbdf-4569-aa31827ad412';
const TOPIC = 'arn:aws:sns:eu-west-1:346952985317:eks-asg-lifecycle-hook-topic';
const AT = 1_735_394_773_000;

const hook = (name: string, transition: string) => ({
  LifecycleHookName: name,
  AutoScalingGroupName: GROUP,
  LifecycleTransition: `autoscaling:${transition}`,
  NotificationTargetARN: TOPIC,
  HeartbeatTimeout: 1800,
  GlobalTimeout: 172_800,
  DefaultResult: 'CONTINUE',
});

const autoscaling: AwsHandlers[string] = {
  DescribeLifecycleHooks: (input) => ({
    LifecycleHooks:
      text(input, 'AutoScalingGroupName') === GROUP
        ? [
            hook('Launch-LC-Hook', 'EC2_INSTANCE_LAUNCHING'),
            hook('Terminate-LC-Hook', 'EC2_INSTANCE_TERMINATING'),
          ]
        : [],
  }),
  TerminateInstanceInAutoScalingGroup: (input) => ({
    Activity: {
      ActivityId: 'a-1',
      AutoScalingGroupName: GROUP,
      Description: `Terminating EC2 instance: ${text(input, 'InstanceId')}`,
      Cause: 'At 2024-12-28T14:06:13Z an instance was taken out of service.',
      StartTime: AT,
      StatusCode: 'InProgress',
      Progress: 0,
    },
  }),
  CreateAutoScalingGroup: () => undefined,
  DescribeAutoScalingGroups: () => ({
    AutoScalingGroups: [
      {
        AutoScalingGroupName: GROUP,
        MinSize: 0,
        MaxSize: 1,
        DesiredCapacity: 0,
        DefaultCooldown: 300,
        AvailabilityZones: [],
        HealthCheckType: 'EC2',
        CreatedTime: AT,
        Instances: [],
      },
    ],
  }),
  DeleteAutoScalingGroup: () => {
    throw new AwsError({ code: 'ResourceInUseFault', message: 'Refused: it has instances' });
  },
};

const eks: AwsHandlers[string] = {
  DescribeNodegroup: (input) => {
    const nodegroupName = text(input, 'nodegroupName');
    const clusterName = text(input, 'clusterName');
    if (nodegroupName === 'nope') {
      throw new AwsError({
        code: 'ResourceNotFoundException',
        message: `No node group found for name: ${nodegroupName}.`,
        members: { clusterName, nodegroupName },
      });
    }
    const resources = { autoScalingGroups: [{ name: GROUP }] };
    return {
      nodegroup: { nodegroupName, clusterName, createdAt: AT, status: 'ACTIVE', resources },
    };
  },
  ListNodegroups: () => ({ nodegroups: ['demo-ng'] }),
  ListClusters: () => ({ clusters: [] }),
  TagResource: () => ({}),
  CreateNodegroup: () => ({}),
};

const ec2: AwsHandlers[string] = {
  DescribeInstances: () => ({
    Reservations: [
      {
        ReservationId: 'r-1',
        Instances: [
          {
            InstanceId: 'i-0123456789abcdef0',
            State: { Code: 16, Name: 'running' },
            LaunchTime: AT,
            SecurityGroups: [],
            Tags: [{ Key: 'Name', Value: 'a & <b>' }],
          },
        ],
      },
    ],
  }),
  TerminateInstances: () => {
    throw new AwsError({ code: 'InvalidInstanceID.Malformed', message: 'Invalid id: "i-1"' });
  },
};

const noQueue = (): never => {
  throw new AwsError({ code: 'QueueDoesNotExist', message: 'The queue does not exist.' });
};

const sqs: AwsHandlers[string] = {
  SendMessage: (input) => ({
    MessageId: 'm-1',
    MD5OfMessageBody: md5Hex(text(input, 'MessageBody')),
  }),
  ReceiveMessage: () => ({
    Messages: [
      {
        MessageId: 'm-1',
        ReceiptHandle: 'r-1',
        Body: 'hello',
        MD5OfBody: md5Hex('hello'),
        Attributes: { ApproximateReceiveCount: '1' },
      },
    ],
  }),
  DeleteMessage: () => undefined,
  DeleteQueue: noQueue,
  GetQueueUrl: noQueue,
};

export const CANNED: AwsHandlers = {
  autoscaling,
  eks,
  ec2,
  sqs,
  sns: { Publish: () => ({ MessageId: 'sns-1' }) },
  sts: {
    GetCallerIdentity: (_, ctx) => ({
      UserId: ctx.principal.principalId,
      Account: ctx.principal.accountId,
      Arn: ctx.principal.arn,
    }),
  },
  cloudformation: {
    ListStackResources: () => ({
      StackResourceSummaries: [
        {
          LogicalResourceId: 'NodeGroup',
          PhysicalResourceId: GROUP,
          ResourceType: 'AWS::AutoScaling::AutoScalingGroup',
          LastUpdatedTimestamp: AT,
          ResourceStatus: 'CREATE_COMPLETE',
          DriftInformation: { StackResourceDriftStatus: 'NOT_CHECKED' },
        },
      ],
    }),
  },
  cloudtrail: {
    LookupEvents: () => ({
      Events: [
        { EventName: 'CreateNodegroup', EventTime: AT, CloudTrailEvent: '{"eventVersion":"1.08"}' },
      ],
    }),
  },
};
