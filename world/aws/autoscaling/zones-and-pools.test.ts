import { describe, expect, it } from 'vitest';
import {
  type Answer,
  aGroup,
  aHook,
  aTestWorld,
  type TestWorld,
} from '../../../test/builders/world-aws.ts';

const name = { AutoScalingGroupName: 'g' };
const scaling = (world: TestWorld, operation: string, input: object = {}): Answer =>
  world.call('autoscaling', operation, { ...name, ...input });
const ids = (world: TestWorld): string[] => Object.keys(world.states('g'));
const first = (world: TestWorld): string => ids(world)[0] ?? '';
const zones = (world: TestWorld): string =>
  world.parts.store
    .counted('g')
    .map((one) => one.zone.at(-1))
    .sort()
    .join('');
const types = (world: TestWorld): string[] =>
  world.parts.store
    .counted('g')
    .map((one) => one.instanceType)
    .sort();
const desired = (world: TestWorld): number => world.parts.store.needGroup('g').desired;
/** Newest first. */
const activities = (world: TestWorld): readonly Answer[] =>
  scaling(world, 'DescribeScalingActivities').Activities as readonly Answer[];

describe('AZRebalance', () => {
  /** Four instances in a and c; b has just got capacity again. */
  const drifted = (): TestWorld => {
    const world = aTestWorld();
    world.faults.inject('no-capacity', { zone: 'eu-west-1b' });
    aGroup(world, { desired: 4 });
    world.advance(20);
    world.faults.clear();
    expect(zones(world)).toBe('aacc');
    return world;
  };

  it('launches in the emptiest zone before it ends one in the fullest', () => {
    const world = drifted();
    scaling(world, 'SetDesiredCapacity', { DesiredCapacity: 4 });
    let most = 0;
    for (let i = 0; i < 200; i++) {
      world.advance(1);
      most = Math.max(most, world.parts.store.counted('g').length);
      expect(world.parts.store.counted('g').length).toBeGreaterThanOrEqual(4);
    }
    expect(most).toBe(5);
    expect(['aabc', 'abcc']).toContain(zones(world));
    expect(desired(world)).toBe(4);
    const causes = activities(world).map((one) => String(one.Cause));
    expect(causes.join('\n')).toContain(
      "availability zones eu-west-1a eu-west-1b eu-west-1c had 2 0 2 instances respectively. An instance was launched to aid in balancing the group's zones.",
    );
    expect(causes.find((cause) => cause.includes('was selected for termination'))).toMatch(
      /instances were launched to balance instances in zones eu-west-1[ac] with other zones .* shrinking the capacity from 5 to 4\./,
    );
  });

  it('ends one nevertheless when the newcomer is terminated with decrement before it serves', () => {
    const world = drifted();
    scaling(world, 'SetDesiredCapacity', { DesiredCapacity: 4 });
    const known = new Set(ids(world));
    let newcomer: string | undefined;
    for (let i = 0; i < 200 && newcomer === undefined; i++) {
      world.advance(1);
      newcomer = ids(world).find((id) => !known.has(id));
    }
    world.call('autoscaling', 'TerminateInstanceInAutoScalingGroup', {
      InstanceId: newcomer,
      ShouldDecrementDesiredCapacity: true,
    });
    world.advance(60);
    expect(desired(world)).toBe(3);
    expect(world.parts.store.counted('g')).toHaveLength(3);
  });

  it('does nothing while it is suspended, and continues when resumed', () => {
    const world = drifted();
    scaling(world, 'SuspendProcesses', { ScalingProcesses: ['AZRebalance'] });
    world.advance(400);
    expect(zones(world)).toBe('aacc');
    scaling(world, 'ResumeProcesses', { ScalingProcesses: ['AZRebalance'] });
    world.advance(200);
    expect(zones(world)).toMatch(/b/);
  });

  it('waits longer after each failure in a zone that stays without capacity', () => {
    const world = aTestWorld();
    world.faults.inject('no-capacity', { zone: 'eu-west-1b' });
    aGroup(world, { desired: 4 });
    world.advance(3600);
    const failed = activities(world).filter((one) => String(one.StatusCode) === 'Failed');
    expect(failed.length).toBeLessThan(12);
    expect(zones(world)).toBe('aacc');
  });
});

describe('a mixed instances policy', () => {
  const aMixedGroup = (world: TestWorld, distribution: object = {}): void => {
    const image = world.parts.images.releases('AL2_x86_64', '1.32')[0];
    world.call('ec2', 'CreateLaunchTemplate', {
      LaunchTemplateName: 't',
      LaunchTemplateData: { ImageId: image?.imageId },
    });
    scaling(world, 'CreateAutoScalingGroup', {
      MinSize: 0,
      MaxSize: 10,
      DesiredCapacity: 4,
      VPCZoneIdentifier: world.foundation.publicSubnets.map((one) => one.subnetId).join(','),
      MixedInstancesPolicy: {
        LaunchTemplate: {
          LaunchTemplateSpecification: { LaunchTemplateName: 't' },
          Overrides: [{ InstanceType: 'm5.large' }, { InstanceType: 'c5.large' }],
        },
        InstancesDistribution: distribution,
      },
    });
  };

  it('takes the first type that has capacity, per zone', () => {
    const world = aTestWorld();
    world.faults.inject('no-capacity', { zone: 'eu-west-1a', type: 'm5.large' });
    aMixedGroup(world);
    world.advance(20);
    expect(zones(world)).toMatch(/^a/);
    const inA = world.parts.store.counted('g').filter((one) => one.zone.endsWith('a'));
    expect(inA.every((one) => one.instanceType === 'c5.large')).toBe(true);
    expect(types(world)).toContain('m5.large');
  });

  it('has on-demand instances up to base and share, spot beyond', () => {
    const world = aTestWorld();
    const OnDemandPercentageAboveBaseCapacity = 34;
    aMixedGroup(world, { OnDemandBaseCapacity: 1, OnDemandPercentageAboveBaseCapacity });
    world.advance(20);
    const markets = ids(world).map((id) => world.parts.instances.get(id)?.capacityType);
    expect(markets.sort()).toEqual(['ON_DEMAND', 'ON_DEMAND', 'ON_DEMAND', 'SPOT'].sort());
  });

  it('keeps its distribution when only its template and types are changed', () => {
    const world = aTestWorld();
    aMixedGroup(world, { OnDemandPercentageAboveBaseCapacity: 0 });
    scaling(world, 'UpdateAutoScalingGroup', {
      DesiredCapacity: 5,
      MixedInstancesPolicy: {
        LaunchTemplate: {
          LaunchTemplateSpecification: { LaunchTemplateName: 't' },
          Overrides: [{ InstanceType: 'm5.large' }],
        },
      },
    });
    world.advance(20);
    const markets = ids(world).map((id) => world.parts.instances.get(id)?.capacityType);
    expect(markets).toEqual(Array.from({ length: 5 }, () => 'SPOT'));
  });
});

describe('standby', () => {
  it('takes an instance aside and back, with the sentences of the service', () => {
    const world = aTestWorld();
    aGroup(world, { desired: 2 });
    world.advance(10);
    const id = first(world);
    const entered = scaling(world, 'EnterStandby', {
      InstanceIds: [id],
      ShouldDecrementDesiredCapacity: true,
    }).Activities?.[0];
    expect(entered).toMatchObject({
      Description: `Moving EC2 instance to Standby: ${id}`,
      StatusCode: 'InProgress',
      Progress: 50,
      Cause: expect.stringMatching(
        /was moved to standby in response to a user request, shrinking the capacity from 2 to 1\.$/,
      ),
    });
    world.advance(30);
    expect(world.states('g')[id]).toBe('Standby');
    expect(ids(world)).toHaveLength(2);
    expect(desired(world)).toBe(1);
    const left = scaling(world, 'ExitStandby', { InstanceIds: [id] }).Activities?.[0];
    expect(String(left?.Cause)).toMatch(/increasing the capacity from 1 to 2\.$/);
    world.advance(5);
    expect(world.states('g')[id]).toBe('InService');
    expect(desired(world)).toBe(2);
    expect(world.host.log.filter((line) => line.includes(id))).toEqual([`on ${id}`]);
  });

  it('is replaced when capacity stays, and refused where it does not fit', () => {
    const world = aTestWorld();
    aGroup(world, { desired: 2, min: 2, max: 2 });
    world.advance(10);
    const InstanceIds = [first(world)];
    const refused = { ...name, InstanceIds, ShouldDecrementDesiredCapacity: true };
    expect(world.refusal('autoscaling', 'EnterStandby', refused)).toBe(
      'ValidationError: AutoScalingGroup g has min-size=2, max-size=2, and desired-size=2. To place into standby 1 instance, please update the AutoScalingGroup sizes appropriately.',
    );
    scaling(world, 'EnterStandby', { InstanceIds, ShouldDecrementDesiredCapacity: false });
    world.advance(20);
    expect(ids(world)).toHaveLength(3);
    expect(world.refusal('autoscaling', 'ExitStandby', { ...name, InstanceIds })).toMatch(
      /To exit standby 1 instance/,
    );
  });
});

describe('a warm pool', () => {
  const withPool = (pool: object = {}): TestWorld => {
    const world = aTestWorld();
    aGroup(world, { desired: 1, max: 3 });
    scaling(world, 'PutWarmPool', pool);
    world.advance(30);
    return world;
  };
  const pool = (world: TestWorld): Answer => scaling(world, 'DescribeWarmPool');
  const poolStates = (world: TestWorld): unknown[] =>
    (pool(world).Instances ?? []).map((one) => one.LifecycleState);

  it('keeps stopped instances up to the maximum, none of which boots a node', () => {
    const world = withPool();
    expect(poolStates(world)).toEqual(['Warmed:Stopped', 'Warmed:Stopped']);
    const [group] = scaling(world, 'DescribeAutoScalingGroups').AutoScalingGroups ?? [];
    expect(group).toMatchObject({ WarmPoolSize: 2, WarmPoolConfiguration: { MinSize: 0 } });
    expect(group?.Instances).toHaveLength(1);
    expect(world.host.on.size).toBe(1);
  });

  it('serves a scale-out before new instances are launched, and is filled again', () => {
    const world = withPool({ MinSize: 1 });
    const warm = pool(world).Instances?.map((one) => String(one.InstanceId)) ?? [];
    scaling(world, 'SetDesiredCapacity', { DesiredCapacity: 3 });
    world.advance(30);
    expect(ids(world)).toEqual(expect.arrayContaining(warm));
    expect(new Set(Object.values(world.states('g')))).toEqual(new Set(['InService']));
    expect(world.host.on.size).toBe(3);
    expect(poolStates(world)).toEqual(['Warmed:Stopped']);
    expect(activities(world).map((one) => String(one.Description))).toContain(
      `Launching a new EC2 instance from warm pool: ${warm[0]}`,
    );
  });

  it('asks the launch hooks on the way in and on the way out', () => {
    const world = aTestWorld();
    const hook = aHook({ LifecycleTransition: 'autoscaling:EC2_INSTANCE_LAUNCHING' });
    aGroup(world, { desired: 0, max: 1, hooks: [hook] });
    scaling(world, 'PutWarmPool', { PoolState: 'Running' });
    world.advance(10);
    expect(poolStates(world)).toEqual(['Warmed:Pending:Wait']);
    const InstanceId = String(pool(world).Instances?.[0]?.InstanceId);
    const complete = () =>
      scaling(world, 'CompleteLifecycleAction', {
        LifecycleHookName: 'drain',
        InstanceId,
        LifecycleActionResult: 'CONTINUE',
      });
    complete();
    world.advance(5);
    expect(poolStates(world)).toEqual(['Warmed:Running']);
    scaling(world, 'SetDesiredCapacity', { DesiredCapacity: 1 });
    world.advance(5);
    expect(world.states('g')[InstanceId]).toBe('Pending:Wait');
    complete();
    world.advance(5);
    expect(world.states('g')[InstanceId]).toBe('InService');
  });

  it('goes with its instances', () => {
    const world = withPool();
    scaling(world, 'DeleteWarmPool');
    expect(pool(world).WarmPoolConfiguration?.Status).toBe('PendingDelete');
    world.advance(30);
    expect(pool(world).WarmPoolConfiguration).toBeUndefined();
    expect(
      [...world.parts.instances.all()].filter((one) => one.state !== 'terminated').length,
    ).toBe(1);
  });
});

describe('target groups of a group', () => {
  const aTargetGroup = (world: TestWorld): string => {
    const made = world.call('elbv2', 'CreateTargetGroup', {
      Name: 'tg',
      Protocol: 'TCP',
      Port: 30080,
      VpcId: world.foundation.vpc.vpcId,
      HealthCheckIntervalSeconds: 10,
    });
    return String(made.TargetGroups?.[0]?.TargetGroupArn);
  };
  const health = (world: TestWorld, arn: string): Record<string, unknown> =>
    Object.fromEntries(
      (
        world.call('elbv2', 'DescribeTargetHealth', { TargetGroupArn: arn })
          .TargetHealthDescriptions ?? []
      ).map((one) => [String(one.Target?.Id), one.TargetHealth?.State]),
    );

  it('get its instances when they are in service, and drain them when they leave', () => {
    const world = aTestWorld();
    const arn = aTargetGroup(world);
    world.call('elbv2', 'ModifyTargetGroupAttributes', {
      TargetGroupArn: arn,
      Attributes: [{ Key: 'deregistration_delay.timeout_seconds', Value: '60' }],
    });
    aGroup(world, { desired: 1 });
    world.advance(10);
    scaling(world, 'AttachLoadBalancerTargetGroups', { TargetGroupARNs: [arn] });
    const [old = ''] = ids(world);
    expect(health(world, arn)).toEqual({ [old]: 'initial' });
    world.advance(15);
    expect(health(world, arn)).toEqual({ [old]: 'healthy' });
    world.call('autoscaling', 'TerminateInstanceInAutoScalingGroup', {
      InstanceId: old,
      ShouldDecrementDesiredCapacity: false,
    });
    world.advance(30);
    const now = health(world, arn);
    expect(now[old]).toBe('draining');
    expect(Object.values(now).sort()).toEqual(['draining', 'healthy']);
    world.advance(40);
    expect(Object.values(health(world, arn))).toEqual(['healthy']);
  });

  it('are refused when they do not exist or are in use', () => {
    const world = aTestWorld();
    const arn = aTargetGroup(world);
    aGroup(world, { desired: 0 });
    expect(
      world.refusal('autoscaling', 'AttachLoadBalancerTargetGroups', {
        ...name,
        TargetGroupARNs: ['arn:x'],
      }),
    ).toMatch(/^TargetGroupNotFound/);
    scaling(world, 'AttachLoadBalancerTargetGroups', { TargetGroupARNs: [arn] });
    expect(world.refusal('elbv2', 'DeleteTargetGroup', { TargetGroupArn: arn })).toMatch(
      /^ResourceInUse/,
    );
    scaling(world, 'DetachLoadBalancerTargetGroups', { TargetGroupARNs: [arn] });
    world.call('elbv2', 'DeleteTargetGroup', { TargetGroupArn: arn });
    expect(world.call('elbv2', 'DescribeTargetGroups').TargetGroups).toEqual([]);
  });
});
