// The AWS SDK v3, which the adapters use, against the same fixed answers: it reads wire's answers,
// and refusals become its models' error classes. It does not test the world's behaviour.
import {
  AutoScalingClient,
  CreateAutoScalingGroupCommand,
  DescribeAutoScalingGroupsCommand,
} from '@aws-sdk/client-auto-scaling';
import { DescribeInstancesCommand, EC2Client } from '@aws-sdk/client-ec2';
import {
  DescribeNodegroupCommand,
  EKSClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-eks';
import {
  DeleteQueueCommand,
  QueueDoesNotExist,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessKey, account, secretKey, startWireFront, type WireFront } from './wire-front.ts';

let front: WireFront;
beforeAll(async () => {
  front = await startWireFront();
});
afterAll(() => front.stop());

describe('SDK v3', () => {
  const config = () => ({
    endpoint: front.endpoint,
    region: 'eu-west-1',
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
  });

  it('writes and reads query', async () => {
    const client = new AutoScalingClient(config());
    const names = { AutoScalingGroupNames: [] };
    const output = await client.send(new DescribeAutoScalingGroupsCommand(names));
    expect(output.AutoScalingGroups?.[0]?.CreatedTime).toEqual(new Date(1_735_394_773_000));
    expect(output.AutoScalingGroups?.[0]?.Instances).toEqual([]);
    expect(front.lastInput('DescribeAutoScalingGroups')).toEqual(names);
    const create = new CreateAutoScalingGroupCommand({
      AutoScalingGroupName: 'g',
      MinSize: 1,
      MaxSize: -1,
    });
    await client.send(create);
    expect(front.lastInput('CreateAutoScalingGroup')).toMatchObject({ MaxSize: -1 });
  });

  it('reads rest-json, and its errors as the modelled class', async () => {
    const client = new EKSClient(config());
    const described = await client.send(
      new DescribeNodegroupCommand({ clusterName: 'c', nodegroupName: 'demo-ng' }),
    );
    expect(described.nodegroup?.createdAt).toEqual(new Date(1_735_394_773_000));
    const missing = client.send(
      new DescribeNodegroupCommand({ clusterName: 'c', nodegroupName: 'nope' }),
    );
    await expect(missing).rejects.toBeInstanceOf(ResourceNotFoundException);
    await expect(missing).rejects.toMatchObject({ nodegroupName: 'nope', clusterName: 'c' });
  });

  it('reads ec2', async () => {
    const output = await new EC2Client(config()).send(new DescribeInstancesCommand({}));
    const instance = output.Reservations?.[0]?.Instances?.[0];
    expect(instance?.LaunchTime).toEqual(new Date(1_735_394_773_000));
    expect(instance?.Tags).toEqual([{ Key: 'Name', Value: 'a & <b>' }]);
  });

  it('reads SQS, checks its MD5, and knows its errors', async () => {
    const client = new SQSClient(config());
    const QueueUrl = `${front.endpoint}/${account}/q1`;
    const output = await client.send(new ReceiveMessageCommand({ QueueUrl }));
    expect(output.Messages?.[0]?.Body).toBe('hello');
    const gone = client.send(
      new DeleteQueueCommand({ QueueUrl: `${front.endpoint}/${account}/nope` }),
    );
    await expect(gone).rejects.toBeInstanceOf(QueueDoesNotExist);
  });

  it('does not retry what the world lacks', async () => {
    const client = new EKSClient({ ...config(), customUserAgent: 'wire-test-sdk' });
    const { ListAddonsCommand } = await import('@aws-sdk/client-eks');
    const sent = client.send(new ListAddonsCommand({ clusterName: 'c' }));
    await expect(sent).rejects.toMatchObject({ name: 'NotImplemented' });
    expect(front.requestCounts.get('wire-test-sdk')).toBe(1);
  });
});

it('no canned answer left its model', () => {
  expect(front.defects).toEqual([]);
});
