// The real aws CLI against the demo world: the articles' commands and further commands of users.
// The tests cover an instance's lifecycle by hand, access to the cluster, the CloudTrail of all
// calls, and every kind of error once.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { refusedCodes } from '../support/aws-client.ts';
import { eventually, missing, run, type ServedWorld } from '../support/demo-world.ts';
import { rowsOf, type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot =
  (await missing('aws', ['--version'])) ?? (await missing('kubectl', ['version', '--client']));
const cluster = 'ironman-2022';
const hex = (digits: number): string => `[0-9a-f]{${digits}}`;

interface Group {
  readonly DesiredCapacity: number;
  readonly Instances: readonly { readonly InstanceId: string; readonly LifecycleState: string }[];
}

describe('the aws CLI', {
  skip: skipWhen('stories of the aws CLI', whyNot),
  timeout: 600_000,
}, () => {
  let world: ServedWorld;
  let aws: Steps;
  let group = '';
  let instance = '';

  const suite = suiteWorld({ args: ['--demo', '--no-controller', '--port', '0'] });
  before(async () => {
    world = suite.world;
    aws = stepsOf('aws', (args) => world.aws(...args));
    assert.equal((await world.drover('world', 'advance', '40s')).code, 0);
    const query = '--query nodegroup.resources.autoScalingGroups[0].name';
    const nodegroup = `--cluster=${cluster} --nodegroup-name=demo-ng`;
    group = JSON.parse(await aws.ok(`eks describe-nodegroup ${nodegroup} ${query}`)) as string;
    instance = (await describeGroup()).Instances[0]?.InstanceId ?? '';
  });

  const json = async <T>(line: string, ...more: readonly string[]): Promise<T> =>
    JSON.parse(await aws.ok(line, ...more)) as T;
  const describeGroup = async (): Promise<Group> => {
    const line = `autoscaling describe-auto-scaling-groups --auto-scaling-group-names ${group}`;
    const { AutoScalingGroups } = await json<{ AutoScalingGroups: readonly Group[] }>(line);
    assert.ok(AutoScalingGroups[0] !== undefined);
    return AutoScalingGroups[0];
  };
  const stateOf = async (id: string): Promise<string | undefined> =>
    (await describeGroup()).Instances.find((one) => one.InstanceId === id)?.LifecycleState;

  // Each sends many requests and changes nothing that another one reads.
  describe('reads', { concurrency: 3 }, () => {
    it('answers the reading commands of article 001', async () => {
      assert.match(
        group,
        new RegExp(`^eks-demo-ng-${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}$`),
      );
      const [hooks, resources] = await Promise.all([
        json<{ LifecycleHooks: readonly Record<string, unknown>[] }>(
          `autoscaling describe-lifecycle-hooks --auto-scaling-group-name ${group}`,
        ),
        json<{ StackResourceSummaries: readonly Record<string, unknown>[] }>(
          `cloudformation list-stack-resources --stack-name eksctl-${cluster}-nodegroup-demo-self-ng`,
        ),
      ]);
      assert.deepEqual(
        hooks.LifecycleHooks.map((hook) => [hook.LifecycleHookName, hook.HeartbeatTimeout]),
        [
          ['Launch-LC-Hook', 1800],
          ['Terminate-LC-Hook', 1800],
        ],
      );
      assert.ok(hooks.LifecycleHooks.every((hook) => !('RoleARN' in hook)));
      const own = resources.StackResourceSummaries.find(
        (one) => one.LogicalResourceId === 'NodeGroup',
      );
      assert.equal(own?.ResourceType, 'AWS::AutoScaling::AutoScalingGroup');
      const none = await json<{ LifecycleHooks: readonly unknown[] }>(
        `autoscaling describe-lifecycle-hooks --auto-scaling-group-name ${own?.PhysicalResourceId}`,
      );
      assert.deepEqual(none, { LifecycleHooks: [] });
    });

    it('describes Auto Scaling groups, their instances, activities, hook types and tags', async () => {
      const of = `--auto-scaling-group-name ${group}`;
      const [described, instances, activities, types, tags] = await Promise.all([
        describeGroup(),
        aws.ok(`autoscaling describe-auto-scaling-instances --instance-ids ${instance}`),
        aws.ok(`autoscaling describe-scaling-activities ${of}`),
        aws.ok('autoscaling describe-lifecycle-hook-types'),
        aws.ok(`autoscaling describe-tags --filters Name=auto-scaling-group,Values=${group}`),
      ]);
      assert.equal(described.DesiredCapacity, 1);
      assert.deepEqual(
        described.Instances.map((one) => one.LifecycleState),
        ['InService'],
      );
      assert.match(instances, /"HealthStatus": "HEALTHY"/);
      assert.match(activities, /"Description": "Launching a new EC2 instance: i-[0-9a-f]{17}"/);
      assert.match(activities, /"StatusCode": "Successful",\n +"Progress": 100/);
      assert.match(types, /"autoscaling:EC2_INSTANCE_TERMINATING"/);
      assert.match(tags, /"Key": "eks:nodegroup-name",\n +"Value": "demo-ng"/);
    });

    it('describes instances, their console, subnets, templates and images', async () => {
      const [described, status, output, subnets, templates, versions, types, zones] =
        await Promise.all([
          aws.ok(`ec2 describe-instances --instance-ids ${instance}`),
          aws.ok(`ec2 describe-instance-status --instance-ids ${instance}`),
          aws.ok(`ec2 get-console-output --instance-id ${instance} --output text`),
          aws.ok('ec2 describe-subnets --query Subnets[].CidrBlock --output text'),
          aws.ok('ec2 describe-launch-templates --query LaunchTemplates[].LaunchTemplateName'),
          aws.ok(
            `ec2 describe-launch-template-versions --launch-template-name eksctl-${cluster}-nodegroup-demo-ng`,
          ),
          aws.ok('ec2 describe-instance-types --instance-types m5.large'),
          aws.ok('ec2 describe-availability-zones --query AvailabilityZones[].ZoneName'),
        ]);
      assert.match(described, /"InstanceType": "m5\.large"/);
      assert.match(described, /"Arn": "arn:aws:iam::111111111111:instance-profile\/eks-/);
      assert.match(
        described,
        /"PrivateDnsName": "ip-192-168-\d+-\d+\.eu-west-1\.compute\.internal"/,
      );
      assert.match(status, /"Name": "running"/);
      assert.match(output, /kubelet: registered node ip-192-168-/);
      assert.equal(subnets.trim().split(/\s+/).length, 6);
      assert.match(templates, new RegExp(`"eks-${hex(8)}-`));
      assert.match(versions, /"VersionNumber": 1/);
      assert.match(types, /"DefaultVCpus": 2/);
      assert.deepEqual(JSON.parse(zones), ['eu-west-1a', 'eu-west-1b', 'eu-west-1c']);
    });

    it('describes clusters, node groups, add-ons, stacks, the caller, parameters and roles', async () => {
      const image = '/aws/service/eks/optimized-ami/1.32/amazon-linux-2023/x86_64/standard';
      const [clusters, described, groups, addons, stacks, caller, parameter, role] =
        await Promise.all([
          json<unknown>('eks list-clusters'),
          aws.ok(`eks describe-cluster --name ${cluster}`),
          json<unknown>(`eks list-nodegroups --cluster-name ${cluster}`),
          json<unknown>(`eks list-addons --cluster-name ${cluster}`),
          aws.ok('cloudformation describe-stacks --query Stacks[].StackName --output text'),
          json<unknown>('sts get-caller-identity'),
          aws.ok(`ssm get-parameter --name ${image}/recommended/image_id`),
          aws.ok('iam get-role --role-name AWSServiceRoleForAmazonEKSNodegroup'),
        ]);
      assert.deepEqual(clusters, { clusters: [cluster] });
      assert.match(described, /"status": "ACTIVE"/);
      assert.match(described, /"endpoint": "https:\/\/127\.0\.0\.1:\d+"/);
      // The self-managed group is not an EKS node group.
      assert.deepEqual(groups, { nodegroups: ['demo-ng', 'ng1-public-ssh'] });
      assert.deepEqual(addons, { addons: ['coredns', 'kube-proxy', 'vpc-cni'] });
      assert.match(stacks, /eksctl-ironman-2022-nodegroup-demo-self-ng/);
      assert.deepEqual(caller, {
        UserId: 'AIDAYFMQSNSE7DQH72FL7',
        Account: '111111111111',
        Arn: 'arn:aws:iam::111111111111:user/cli',
      });
      assert.match(parameter, new RegExp(`"Value": "ami-${hex(17)}"`));
      assert.match(role, /eks-nodegroup\.amazonaws\.com/);
    });

    it('keeps messages in queues, and tells topics and rules', async () => {
      const url = (await json<{ QueueUrl: string }>('sqs create-queue --queue-name q1')).QueueUrl;
      await aws.ok(`sqs send-message --queue-url ${url} --message-body hello`);
      const { Messages } = await json<{ Messages: { Body: string; ReceiptHandle: string }[] }>(
        `sqs receive-message --queue-url ${url} --wait-time-seconds 1`,
      );
      assert.equal(Messages[0]?.Body, 'hello');
      const handle = Messages[0]?.ReceiptHandle ?? '';
      await aws.ok(`sqs delete-message --queue-url ${url} --receipt-handle`, handle);
      const left = await aws.ok(
        `sqs get-queue-attributes --queue-url ${url} --attribute-names All`,
      );
      assert.match(left, /"ApproximateNumberOfMessages": "0"/);
      assert.match(await aws.ok('sqs list-queues'), /drover-notices/);
      await aws.ok(`sqs delete-queue --queue-url ${url}`);
      const topic = (await json<{ TopicArn: string }>('sns create-topic --name t1')).TopicArn;
      assert.match(await aws.ok(`sns publish --topic-arn ${topic} --message hi`), /"MessageId"/);
      assert.match(await aws.ok('sns list-topics'), new RegExp(topic));
      assert.match(await aws.ok('events list-rules'), /drover-lifecycle-actions/);
    });
  });

  it('takes an instance through a hook by hand: wait, heartbeat, completion', async () => {
    const of = `--auto-scaling-group-name ${group}`;
    await aws.ok(`autoscaling set-desired-capacity ${of} --desired-capacity 2`);
    const added = await eventually('a second instance', async () => {
      const { Instances } = await describeGroup();
      return Instances.find((one) => one.InstanceId !== instance)?.InstanceId;
    });
    assert.match((await stateOf(added)) ?? '', /^Pending/);
    assert.equal((await world.drover('world', 'advance', '35m')).code, 0);
    assert.equal(await stateOf(added), 'InService', 'the launch hook ends with CONTINUE');
    const mine =
      `autoscaling put-lifecycle-hook ${of} --lifecycle-hook-name mine --default-result CONTINUE ` +
      '--lifecycle-transition autoscaling:EC2_INSTANCE_TERMINATING --heartbeat-timeout 300';
    await aws.ok(mine);
    const ended = await json<{ Activity: { StatusCode: string; Cause: string } }>(
      `autoscaling terminate-instance-in-auto-scaling-group --instance-id ${added} ` +
        '--should-decrement-desired-capacity',
    );
    assert.match(ended.Activity.Cause, /was taken out of service in response to a user request/);
    assert.equal((await describeGroup()).DesiredCapacity, 1);
    await eventually('it waits in its hooks', async () =>
      (await stateOf(added)) === 'Terminating:Wait' ? true : undefined,
    );
    const at = `${of} --instance-id ${added}`;
    await aws.ok(
      `autoscaling record-lifecycle-action-heartbeat ${at} --lifecycle-hook-name Terminate-LC-Hook`,
    );
    assert.equal(await stateOf(added), 'Terminating:Wait');
    for (const hook of ['Terminate-LC-Hook', 'mine']) {
      await aws.ok(
        `autoscaling complete-lifecycle-action ${at} --lifecycle-hook-name ${hook} ` +
          '--lifecycle-action-result CONTINUE',
      );
    }
    await aws.ok(`autoscaling delete-lifecycle-hook ${of} --lifecycle-hook-name mine`);
    assert.equal((await world.drover('world', 'advance', '5m')).code, 0);
    assert.equal(await stateOf(added), undefined, 'it left the group');
    const gone = await aws.ok(
      `ec2 describe-instances --instance-ids ${added} --query Reservations[].Instances[].State.Name`,
    );
    assert.deepEqual(JSON.parse(gone), ['terminated']);
  });

  it('lets kubectl in with update-kubeconfig and get-token', async () => {
    const file = join(world.dataDir, 'eks-kubeconfig');
    await aws.ok(`eks update-kubeconfig --name ${cluster} --kubeconfig ${file}`);
    assert.match(readFileSync(file, 'utf8'), /command: aws\n/);
    const env = { ...world.env, KUBECONFIG: file };
    const nodes = await run('kubectl', ['get', 'nodes', '--no-headers'], { env });
    assert.equal(nodes.code, 0, nodes.stderr);
    assert.match(nodes.stdout, / Ready /);
    const who = await run('kubectl', ['auth', 'whoami'], { env });
    assert.match(who.stdout, /Username +kubernetes-admin\n/);
    const forged = { ...env, AWS_SECRET_ACCESS_KEY: 'forged' };
    const refused = await run('kubectl', ['get', 'nodes'], { env: forged });
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /Unauthorized|must be logged in to the server/);
  });

  it('lets a role in as aws-auth maps it, and not before', async () => {
    const file = join(world.dataDir, 'role-kubeconfig');
    await aws.ok(`eks update-kubeconfig --name ${cluster} --kubeconfig ${file}`);
    const trust = '{"Version":"2012-10-17","Statement":[]}';
    const { Role } = await json<{ Role: { Arn: string } }>(
      'iam create-role --role-name readonly --assume-role-policy-document',
      trust,
    );
    const { Credentials } = await json<{ Credentials: Record<string, string> }>(
      `sts assume-role --role-arn ${Role.Arn} --role-session-name me@home`,
    );
    const env = {
      ...world.env,
      KUBECONFIG: file,
      AWS_ACCESS_KEY_ID: Credentials.AccessKeyId,
      AWS_SECRET_ACCESS_KEY: Credentials.SecretAccessKey,
      AWS_SESSION_TOKEN: Credentials.SessionToken,
    };
    const refused = await run('kubectl', ['get', 'nodes'], { env });
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /Unauthorized|must be logged in to the server/);

    const where = ['configmap', 'aws-auth', '-n', 'kube-system'];
    const before = await world.kubectl('get', ...where, '-o', 'jsonpath={.data.mapRoles}');
    const entry = `- {rolearn: '${Role.Arn}', username: 'ro:{{SessionName}}', groups: [readers]}\n`;
    const patch = JSON.stringify({ data: { mapRoles: before.stdout + entry } });
    const patched = await world.kubectl('patch', ...where, '--type=merge', '-p', patch);
    assert.equal(patched.code, 0, patched.stderr);
    // Twice: the first request signs a new token; the second one reuses it.
    for (let ask = 0; ask < 2; ask++) {
      const who = await run('kubectl', ['auth', 'whoami'], { env });
      assert.match(who.stdout, /Username +ro:me-home\n/, who.stderr);
      assert.match(who.stdout, /Groups +\[readers system:authenticated\]\n/);
      assert.doesNotMatch(who.stdout, /masters/);
    }
    const nodes = await run('kubectl', ['get', 'nodes'], { env });
    assert.match(nodes.stderr, /User "ro:me-home" cannot list resource "nodes"/);
  });

  it('finds calls in the trail by attribute and page by page', async () => {
    const by = (key: string, value: string): string =>
      `cloudtrail lookup-events --lookup-attributes AttributeKey=${key},AttributeValue=${value}`;
    const name = 'TerminateInstanceInAutoScalingGroup';
    const { Events } = await json<{ Events: { EventName: string; CloudTrailEvent: string }[] }>(
      by('EventName', name),
    );
    assert.deepEqual(
      Events.map((event) => event.EventName),
      [name],
    );
    const record = JSON.parse(Events[0]?.CloudTrailEvent ?? '{}') as {
      eventVersion: string;
      eventSource: string;
      requestParameters: object;
      responseElements: { activity: Record<string, unknown> };
    };
    assert.equal(record.eventVersion, '1.08');
    assert.equal(record.eventSource, 'autoscaling.amazonaws.com');
    assert.deepEqual(Object.keys(record.requestParameters), [
      'instanceId',
      'shouldDecrementDesiredCapacity',
    ]);
    assert.equal(record.responseElements.activity.statusCode, 'InProgress');
    assert.match(
      String(record.responseElements.activity.startTime),
      /^\w{3} \d+, \d{4}, .* [AP]M$/,
    );
    const sources = await aws.ok(
      `${by('EventSource', 'sts.amazonaws.com')} --query Events[].EventName --output text`,
    );
    assert.match(sources, /^GetCallerIdentity/);
    const paged = 'cloudtrail lookup-events --page-size 2 --max-items 5 --query Events[].EventId';
    const ids = await json<readonly string[]>(paged);
    assert.equal(new Set(ids).size, 5);
  });

  it('refuses in the words of AWS, once, with the exit code of the CLI', async () => {
    const no = 'i-00000000000000000';
    const of = `--auto-scaling-group-name ${group}`;
    const refusals: readonly (readonly [string, RegExp])[] = [
      [
        `autoscaling terminate-instance-in-auto-scaling-group --instance-id ${no} --should-decrement-desired-capacity`,
        /ValidationError.*No managed instance found for instance ID: i-00000000000000000/,
      ],
      [
        'autoscaling describe-lifecycle-hooks --auto-scaling-group-name nope',
        /ValidationError.*AutoScalingGroup: nope not found/,
      ],
      [
        `autoscaling set-desired-capacity ${of} --desired-capacity 11`,
        /value 11 is above max value 10/,
      ],
      [`autoscaling set-desired-capacity ${of} --desired-capacity many`, /invalid literal for int/],
      [
        `autoscaling complete-lifecycle-action ${of} --lifecycle-hook-name x --lifecycle-action-result CONTINUE --instance-id ${no}`,
        /No active Lifecycle Action found with instance ID/,
      ],
      [`ec2 describe-instances --instance-ids ${no}`, /InvalidInstanceID\.NotFound/],
      [
        `ec2 terminate-instances --instance-ids ${no} --dry-run`,
        /DryRunOperation.*Request would have succeeded, but DryRun flag is set/,
      ],
      ['ec2 describe-instances --instance-ids nonsense', /InvalidInstanceID\.Malformed/],
      ['ec2 describe-instances --filters Name=nope,Values=1', /The filter 'nope' is invalid/],
      [
        'eks describe-cluster --name nope',
        /ResourceNotFoundException.*No cluster found for name: nope/,
      ],
      [
        `eks describe-nodegroup --cluster-name ${cluster} --nodegroup-name nope`,
        /ResourceNotFoundException.*No node group found for name: nope/,
      ],
      [
        'eks create-cluster --name x --role-arn arn:aws:iam::111111111111:role/x --resources-vpc-config subnetIds=a',
        /ResourceLimitExceededException.*one Kubernetes API.*Start another world/,
      ],
      ['cloudformation describe-stacks --stack-name nope', /Stack with id nope does not exist/],
      ['sqs get-queue-url --queue-name nope', /NonExistentQueue/],
      ['ssm get-parameter --name /nope', /ParameterNotFound/],
      ['iam get-role --role-name nope', /NoSuchEntity/],
      [
        'cloudtrail lookup-events --lookup-attributes AttributeKey=Nope,AttributeValue=x',
        /Member must satisfy enum value set: \[EventId, EventName/,
      ],
      ['ec2 describe-volumes', /NotImplemented.*ec2:DescribeVolumes is not implemented/],
      ['autoscaling describe-metric-collection-types', /NotImplemented.*DescribeMetricColl/],
      ['s3 ls', /NotImplemented.*The service s3 is not part of Drover's world, which has: eks, /],
    ];
    for (let at = 0; at < refusals.length; at += 4) {
      await Promise.all(
        refusals.slice(at, at + 4).map(async ([line, words]) => {
          const ran = await world.aws(...line.split(' '));
          assert.ok(refusedCodes.includes(ran.code), `${line}: ${ran.code}`);
          assert.match(ran.stderr, words);
          assert.equal(ran.stdout, '', line);
          assert.ok(rowsOf(ran.stderr).length <= 1, `one sentence: ${ran.stderr}`);
        }),
      );
    }
    assert.equal((await describeGroup()).DesiredCapacity, 1, 'nothing was changed');
  });

  it('asks for valid credentials', async () => {
    const endpoint = ['--endpoint-url', String(world.env.AWS_ENDPOINT_URL)];
    const call = async (line: string, more: NodeJS.ProcessEnv): Promise<string> => {
      const args = [...line.split(' '), ...endpoint];
      const ran = await run('aws', args, { env: { ...world.env, ...more } });
      assert.ok(refusedCodes.includes(ran.code), line);
      return ran.stderr;
    };
    const [secret, key, ec2] = await Promise.all([
      call('sts get-caller-identity', { AWS_SECRET_ACCESS_KEY: 'wrong' }),
      call('eks list-clusters', { AWS_ACCESS_KEY_ID: 'AKIAWRONG' }),
      call('ec2 describe-vpcs', { AWS_ACCESS_KEY_ID: 'AKIAWRONG' }),
    ]);
    assert.match(secret, /SignatureDoesNotMatch/);
    assert.match(key, /UnrecognizedClientException/);
    assert.match(ec2, /AuthFailure/);
  });
});
