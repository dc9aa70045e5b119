// The real aws CLI on Auto Scaling features that the articles do not use. These are standby, warm
// pools, target groups, mixed types without capacity, launch template versions, suspended processes
// and instance protection.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { missing, ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen } from '../support/stories.ts';

const whyNot = await missing('aws', ['--version']);

interface Member {
  readonly InstanceId: string;
  readonly LifecycleState: string;
  readonly InstanceType: string;
}

describe('Auto Scaling of the aws CLI', {
  skip: skipWhen('Auto Scaling of the aws CLI', whyNot),
  timeout: 600_000,
}, () => {
  let world: ServedWorld;
  let aws: Steps;
  let subnets = '';
  let vpc = '';
  const asg = '--auto-scaling-group-name g';

  before(async () => {
    world = await ServedWorld.start({ args: ['--no-controller', '--port', '0'] });
    aws = stepsOf('aws', (args) => world.aws(...args));
    const network = await json<readonly { SubnetId: string; VpcId: string }[]>(
      'ec2 describe-subnets --query Subnets',
    );
    subnets = network.map((one) => one.SubnetId).join(',');
    vpc = network[0]?.VpcId ?? '';
  });
  after(async () => {
    await world?.stop();
  });

  const json = async <T>(line: string, ...more: readonly string[]): Promise<T> =>
    JSON.parse(await aws.ok(line, ...more)) as T;
  const advance = async (time: string): Promise<void> => {
    assert.equal((await world.drover('world', 'advance', time)).code, 0);
  };
  const members = async (): Promise<readonly Member[]> =>
    json(
      'autoscaling describe-auto-scaling-groups --query',
      "AutoScalingGroups[?AutoScalingGroupName=='g'].Instances[]",
    );

  it('launches other types where the first has no capacity', async () => {
    const image = await aws.ok(
      'ssm get-parameter --query Parameter.Value --output text --name',
      '/aws/service/eks/optimized-ami/1.32/amazon-linux-2023/x86_64/standard/recommended/image_id',
    );
    const data = JSON.stringify({ ImageId: image.trim(), InstanceType: 'm5.large' });
    await aws.ok(
      'ec2 create-launch-template --launch-template-name nodes --launch-template-data',
      data,
    );
    assert.equal(
      (await world.drover('world', 'inject', 'no-capacity', '--type', 'm5.large')).code,
      0,
    );
    const policy = JSON.stringify({
      LaunchTemplate: {
        LaunchTemplateSpecification: { LaunchTemplateName: 'nodes', Version: '$Latest' },
        Overrides: [{ InstanceType: 'm5.large' }, { InstanceType: 'c5.large' }],
      },
    });
    const sizes = '--min-size 0 --max-size 4 --desired-capacity 2';
    await aws.ok(
      `autoscaling create-auto-scaling-group ${asg} ${sizes} --vpc-zone-identifier ${subnets}`,
      '--mixed-instances-policy',
      policy,
    );
    await advance('20s');
    const types = (await members()).map((one) => `${one.InstanceType} ${one.LifecycleState}`);
    assert.deepEqual(types, ['c5.large InService', 'c5.large InService']);
    assert.equal((await world.drover('world', 'clear')).code, 0);
  });

  it('puts an instance into standby and back', async () => {
    const [member] = await members();
    const id = member?.InstanceId ?? '';
    const entered = await json<{ Activities: readonly { Cause: string; Progress: number }[] }>(
      `autoscaling enter-standby ${asg} --instance-ids ${id} --should-decrement-desired-capacity`,
    );
    assert.match(
      entered.Activities[0]?.Cause ?? '',
      /was moved to standby in response to a user request, shrinking the capacity from 2 to 1\./,
    );
    await advance('5s');
    const states = async () =>
      (await members()).find((one) => one.InstanceId === id)?.LifecycleState;
    assert.equal(await states(), 'Standby');
    await aws.ok(`autoscaling exit-standby ${asg} --instance-ids ${id}`);
    await advance('5s');
    assert.equal(await states(), 'InService');
    const told = await aws.fails(`autoscaling exit-standby ${asg} --instance-ids ${id}`);
    assert.match(told, new RegExp(`ValidationError.*The instance ${id} is not in Standby`));
  });

  it('registers instances with target groups and drains them', async () => {
    const made = await json<{ TargetGroups: readonly { TargetGroupArn: string }[] }>(
      `elbv2 create-target-group --name tg --protocol TCP --port 30080 --vpc-id ${vpc}`,
    );
    const arn = made.TargetGroups[0]?.TargetGroupArn ?? '';
    await aws.ok(
      `autoscaling attach-load-balancer-target-groups ${asg} --target-group-arns ${arn}`,
    );
    await advance('40s');
    await aws.ok(`elbv2 wait target-in-service --target-group-arn ${arn}`);
    const [member] = await members();
    await aws.ok(
      `autoscaling terminate-instance-in-auto-scaling-group --instance-id ${member?.InstanceId}`,
      '--should-decrement-desired-capacity',
    );
    const health = await json<readonly (readonly string[])[]>(
      `elbv2 describe-target-health --target-group-arn ${arn} --query`,
      'TargetHealthDescriptions[].[Target.Id,TargetHealth.State]',
    );
    assert.deepEqual(Object.fromEntries(health)[member?.InstanceId ?? ''], 'draining');
    const refused = await aws.fails(`elbv2 delete-target-group --target-group-arn ${arn}`);
    assert.match(refused, /ResourceInUse/);
  });

  it('refreshes its instances', async () => {
    const before = (await members()).map((one) => one.InstanceId);
    const preferences = 'MinHealthyPercentage=50,InstanceWarmup=5';
    await aws.ok(`autoscaling start-instance-refresh ${asg} --preferences ${preferences}`);
    const refused = await aws.fails(`autoscaling start-instance-refresh ${asg}`);
    assert.match(refused, /InstanceRefreshInProgress/);
    await advance('10m');
    const [refresh] = await json<readonly Record<string, unknown>[]>(
      `autoscaling describe-instance-refreshes ${asg} --query InstanceRefreshes`,
    );
    assert.equal(refresh?.Status, 'Successful');
    assert.equal(refresh?.PercentageComplete, 100);
    const after = (await members()).map((one) => one.InstanceId);
    assert.equal(after.filter((id) => before.includes(id)).length, 0);
  });

  it('keeps a warm pool, and scales out of it', async () => {
    await aws.ok(
      'autoscaling create-auto-scaling-group --auto-scaling-group-name w --min-size 0 --max-size 2',
      '--vpc-zone-identifier',
      subnets,
      '--launch-template',
      'LaunchTemplateName=nodes',
    );
    await aws.ok('autoscaling put-warm-pool --auto-scaling-group-name w --min-size 1');
    await advance('30s');
    const states = async (): Promise<readonly string[]> =>
      json(
        'autoscaling describe-warm-pool --auto-scaling-group-name w --query',
        'Instances[].LifecycleState',
      );
    assert.deepEqual(await states(), ['Warmed:Stopped', 'Warmed:Stopped']);
    await aws.ok(
      'autoscaling set-desired-capacity --auto-scaling-group-name w --desired-capacity 1',
    );
    await advance('20s');
    const activities = await aws.ok(
      'autoscaling describe-scaling-activities --auto-scaling-group-name w',
    );
    assert.match(activities, /Launching a new EC2 instance from warm pool: i-/);
    assert.deepEqual(await states(), ['Warmed:Stopped']);
  });
});
