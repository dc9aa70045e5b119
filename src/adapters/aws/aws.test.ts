import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { CloudApi } from '../../ports/index.ts';
import { createAwsCloud } from './index.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

interface Seen {
  readonly target: string;
  readonly body: string;
  readonly agent: string;
}

/**
 * A server that answers each call with the next function; the last one answers all further calls.
 */
const cloudAt = async (
  ...answers: ((response: ServerResponse, seen: Seen) => void)[]
): Promise<{ cloud: CloudApi; seen: Seen[] }> => {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const call = {
      target: String(request.headers['x-amz-target'] ?? ''),
      body: Buffer.concat(parts).toString(),
      agent: String(request.headers['user-agent']),
    };
    seen.push(call);
    (answers.length > 1 ? answers.shift() : answers[0])?.(response, call);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const cloud = createAwsCloud({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    userAgent: 'drover/test',
  });
  return { cloud, seen };
};

const xml =
  (text: string, status = 200) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'text/xml' }).end(text);
  };
const groups = (names: readonly string[], next = ''): string =>
  `<DescribeAutoScalingGroupsResponse><DescribeAutoScalingGroupsResult><AutoScalingGroups>${names
    .map(
      (name) => `<member><AutoScalingGroupName>${name}</AutoScalingGroupName><MinSize>0</MinSize>
      <MaxSize>10</MaxSize><DesiredCapacity>1</DesiredCapacity>
      <CreatedTime>2024-12-28T14:06:13Z</CreatedTime>
      <Instances><member><InstanceId>i-1</InstanceId><AvailabilityZone>eu-west-1a</AvailabilityZone>
      <LifecycleState>Terminating:Wait</LifecycleState>
      <ProtectedFromScaleIn>false</ProtectedFromScaleIn></member></Instances>
      <Tags><member><Key>k</Key><Value>v</Value></member></Tags></member>`,
    )
    .join('')}</AutoScalingGroups>${next === '' ? '' : `<NextToken>${next}</NextToken>`}
  </DescribeAutoScalingGroupsResult></DescribeAutoScalingGroupsResponse>`;

describe('the AWS cloud', () => {
  it('reads every page of groups and says who it is', async () => {
    const { cloud, seen } = await cloudAt(xml(groups(['a', 'b'], 'more')), xml(groups(['c'])));
    const found = await cloud.describeGroups();
    expect(found.map((group) => group.name)).toEqual(['a', 'b', 'c']);
    expect(found[0]).toMatchObject({
      maxSize: 10,
      createdAt: '2024-12-28T14:06:13.000Z',
      tags: { k: 'v' },
      instances: [{ autoScalingGroupName: 'a', lifecycleState: 'Terminating:Wait' }],
    });
    expect(new URLSearchParams(seen[1]?.body).get('NextToken')).toBe('more');
    expect(seen[0]?.agent).toContain('drover/test');
  });

  it('reads the overrides of a mixed instances policy with all that they say', async () => {
    const policy = `<MixedInstancesPolicy><LaunchTemplate><LaunchTemplateSpecification>
      <LaunchTemplateId>lt-1</LaunchTemplateId><Version>3</Version></LaunchTemplateSpecification>
      <Overrides><member><InstanceType>m5.large</InstanceType>
      <WeightedCapacity>2</WeightedCapacity></member><member><InstanceType>c5.large</InstanceType>
      </member></Overrides></LaunchTemplate></MixedInstancesPolicy>`;
    const { cloud } = await cloudAt(xml(groups(['a']).replace('<Tags>', `${policy}<Tags>`)));
    const [found] = await cloud.describeGroups();
    expect(found?.launchTemplate).toMatchObject({ id: 'lt-1', version: '3' });
    expect(found?.overrides).toEqual([
      { InstanceType: 'm5.large', WeightedCapacity: '2' },
      { InstanceType: 'c5.large' },
    ]);
  });

  it('asks for no group when it is given no name, and for 50 at most at once', async () => {
    const { cloud, seen } = await cloudAt(xml(groups([])));
    expect(await cloud.describeGroups([])).toEqual([]);
    expect(seen).toHaveLength(0);
    await cloud.describeGroups(Array.from({ length: 51 }, (_, at) => `g${at}`));
    expect(seen).toHaveLength(2);
    const asked = new URLSearchParams(seen[1]?.body);
    expect(asked.get('AutoScalingGroupNames.member.1')).toBe('g50');
  });

  it('tells the cloud’s time by the Date header of an answer', async () => {
    const { cloud, seen } = await cloudAt((response) => {
      response.setHeader('date', 'Sat, 28 Dec 2024 14:06:13 GMT');
      xml(groups(['a']))(response);
    });
    expect(await cloud.time()).toBe(Date.parse('2024-12-28T14:06:13Z'));
    expect(seen[0]?.body).toContain('MaxRecords=1');
  });

  it('finds instances by filter, so that an unknown id is only missing', async () => {
    const { cloud, seen } = await cloudAt(
      xml(`<DescribeInstancesResponse><reservationSet><item><instancesSet><item>
        <instanceId>i-1</instanceId><instanceState><name>running</name></instanceState>
        <privateDnsName>n1</privateDnsName><instanceType>m5.large</instanceType>
        <imageId>ami-1</imageId><placement><availabilityZone>eu-west-1a</availabilityZone>
        </placement></item></instancesSet></item></reservationSet></DescribeInstancesResponse>`),
    );
    expect(await cloud.describeInstances(['i-1', 'i-2'])).toEqual([
      {
        instanceId: 'i-1',
        state: 'running',
        privateDnsName: 'n1',
        instanceType: 'm5.large',
        isSpot: false,
        imageId: 'ami-1',
        availabilityZone: 'eu-west-1a',
      },
    ]);
    const asked = new URLSearchParams(seen[0]?.body);
    expect(asked.get('Filter.1.Name')).toBe('instance-id');
    expect(asked.get('Filter.1.Value.2')).toBe('i-2');
    expect(asked.has('InstanceId.1')).toBe(false);
  });

  it('tells a hook that is no longer open, or gone with its group, from a bad request, after one attempt', async () => {
    const refused = (message: string) =>
      xml(
        `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>${message}
        </Message></Error></ErrorResponse>`,
        400,
      );
    const { cloud, seen } = await cloudAt(
      refused('No active Lifecycle Action found with instance ID i-1'),
      refused('AutoScalingGroup name not found - AutoScalingGroup: g not found'),
      refused('no such hook'),
    );
    const hook = { autoScalingGroupName: 'g', hookName: 'h', instanceId: 'i-1' };
    await expect(cloud.completeHook({ ...hook, result: 'CONTINUE' })).rejects.toMatchObject({
      name: 'CloudError',
      code: 'NoActiveLifecycleAction',
    });
    const gone = { code: 'NoActiveLifecycleAction' };
    await expect(cloud.heartbeatHook(hook)).rejects.toMatchObject(gone);
    await expect(cloud.heartbeatHook(hook)).rejects.toMatchObject({ code: 'InvalidRequest' });
    expect(seen).toHaveLength(3);
    expect(new URLSearchParams(seen[0]?.body).get('InstanceId')).toBe('i-1');
  });

  it('never sends a termination twice by itself', async () => {
    const { cloud, seen } = await cloudAt((response) => response.destroy());
    const failed = cloud.terminateInGroup('i-1', { decrementDesired: true });
    await expect(failed).rejects.toMatchObject({ code: 'Unreachable' });
    expect(seen).toHaveLength(1);
  });

  it('reads when SQS took a message in, and how often SQS has handed it out', async () => {
    const { cloud, seen } = await cloudAt((response, { body }) => {
      const wanted = JSON.parse(body).MessageSystemAttributeNames as readonly string[];
      const MD5OfBody = '92eb5ffee6ae2fec3ad71c777531578f';
      const known = { SentTimestamp: '1735394773000', ApproximateReceiveCount: '2' };
      const Attributes = Object.fromEntries(
        Object.entries(known).filter(([name]) => wanted.includes(name)),
      );
      const Messages = [{ MessageId: 'm', ReceiptHandle: 'r', Body: 'b', MD5OfBody, Attributes }];
      response
        .writeHead(200, { 'content-type': 'application/x-amz-json-1.0' })
        .end(JSON.stringify({ Messages }));
    });
    const options = { waitSeconds: 20, visibilitySeconds: 60 };
    const messages = await cloud.receiveMessages('http://queue/1/q', options);
    expect(seen).toHaveLength(1);
    expect(messages).toEqual([
      { id: 'm', receiptHandle: 'r', body: 'b', receiveCount: 2, sentAt: 1735394773000 },
    ]);
  });

  it('gives up waiting for messages when aborted', async () => {
    const { cloud, seen } = await cloudAt(() => undefined);
    const controller = new AbortController();
    const receiving = cloud.receiveMessages('http://queue/1/q', {
      waitSeconds: 20,
      visibilitySeconds: 60,
      signal: controller.signal,
    });
    await expect.poll(() => seen.length).toBe(1);
    expect(seen[0]?.target).toBe('AmazonSQS.ReceiveMessage');
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
      WaitTimeSeconds: 20,
      VisibilityTimeout: 60,
      MaxNumberOfMessages: 10,
    });
    controller.abort(new Error('shutting down'));
    await expect(receiving).rejects.toThrow('shutting down');
  });

  it('reports an answer that is not AWS as the server’s fault', async () => {
    const { cloud } = await cloudAt(xml('<html>not implemented</html>', 500));
    await expect(cloud.describeHooks('g')).rejects.toMatchObject({ code: 'ServerError' });
  });

  it('lists stacks of groups: by the group’s tag, else by asking the stack', async () => {
    const stack = (name: string, tag: string): string =>
      `<member><StackName>${name}</StackName><StackStatus>CREATE_COMPLETE</StackStatus>
      <CreationTime>2024-12-28T14:06:13Z</CreationTime><Tags><member><Key>${tag}</Key>
      <Value>x</Value></member></Tags></member>`;
    const tagged = groups(['asg-1']).replace('<Key>k</Key><Value>v</Value>', () => {
      return '<Key>aws:cloudformation:stack-name</Key><Value>tagged</Value>';
    });
    const { cloud } = await cloudAt((response, { body }) => {
      const action = new URLSearchParams(body).get('Action');
      if (action === 'DescribeAutoScalingGroups') return xml(tagged)(response);
      if (action === 'DescribeStacks') {
        const mark = 'alpha.eksctl.io/nodegroup-name';
        const all = [stack('tagged', 'a'), stack('asked', mark), stack('other', 'b')].join('');
        const result = `<DescribeStacksResult><Stacks>${all}</Stacks></DescribeStacksResult>`;
        return xml(`<DescribeStacksResponse>${result}</DescribeStacksResponse>`)(response);
      }
      xml(`<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries><member>
        <ResourceType>AWS::AutoScaling::AutoScalingGroup</ResourceType>
        <PhysicalResourceId>asg-2</PhysicalResourceId></member></StackResourceSummaries>
        </ListStackResourcesResult></ListStackResourcesResponse>`)(response);
    });
    const found = await cloud.listStacks();
    expect(found.map((item) => [item.name, item.autoScalingGroupName])).toEqual([
      ['tagged', 'asg-1'],
      ['asked', 'asg-2'],
    ]);
  });

  it('makes an instance profile with its role, and only what is missing of it', async () => {
    const profile = (inner: string): string =>
      `<R><GetInstanceProfileResult><InstanceProfile>${inner}</InstanceProfile></GetInstanceProfileResult></R>`;
    const none = '<ErrorResponse><Error><Code>NoSuchEntity</Code></Error></ErrorResponse>';
    const actions = (seen: readonly Seen[]) =>
      seen.map(({ body }) => new URLSearchParams(body).get('Action'));
    const asked = { name: 'eks-1', roleName: 'r', tags: { k: 'v' } };

    const fresh = await cloudAt(xml(none, 404), xml('<R/>'));
    await fresh.cloud.ensureInstanceProfile(asked);
    expect(actions(fresh.seen)).toEqual([
      'GetInstanceProfile',
      'CreateInstanceProfile',
      'AddRoleToInstanceProfile',
    ]);
    expect(new URLSearchParams(fresh.seen[1]?.body).get('Tags.member.1.Key')).toBe('k');

    const half = await cloudAt(xml(profile('<Roles/>')), xml('<R/>'));
    await half.cloud.ensureInstanceProfile(asked);
    expect(actions(half.seen)).toEqual(['GetInstanceProfile', 'AddRoleToInstanceProfile']);

    const roles = '<Roles><member><RoleName>r</RoleName></member></Roles>';
    const whole = await cloudAt(xml(profile(roles)), xml('<R/>'));
    expect(await whole.cloud.deleteInstanceProfile('eks-1')).toBe(true);
    expect(actions(whole.seen)).toEqual([
      'GetInstanceProfile',
      'RemoveRoleFromInstanceProfile',
      'DeleteInstanceProfile',
    ]);
    const gone = await cloudAt(xml(none, 404));
    expect(await gone.cloud.deleteInstanceProfile('eks-1')).toBe(false);
  });
});
