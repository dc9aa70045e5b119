// Classic Load Balancers: instances of Auto Scaling groups are registered and deregistered, and
// health follows time.
import { describe, expect, it } from 'vitest';
import {
  type Answer,
  aGroup,
  aTestWorld,
  type TestWorld,
} from '../../../test/builders/world-aws.ts';

const listener = { Protocol: 'tcp', LoadBalancerPort: 80, InstancePort: 8080 };

const begin = (): TestWorld => {
  const world = aTestWorld();
  const Subnets = world.foundation.publicSubnets.slice(0, 2).map((one) => one.subnetId);
  const Tags = [{ Key: 'team', Value: 'red' }];
  const input = { LoadBalancerName: 'web', Listeners: [listener], Subnets, Tags };
  world.call('elb', 'CreateLoadBalancer', input);
  return world;
};
const balancer = (world: TestWorld): Answer =>
  world.call('elb', 'DescribeLoadBalancers', { LoadBalancerNames: ['web'] })
    .LoadBalancerDescriptions?.[0] as Answer;
const registered = (world: TestWorld): readonly string[] =>
  (balancer(world).Instances ?? []).map((one) => String(one.InstanceId)).toSorted();
const health = (world: TestWorld): readonly unknown[] =>
  (
    world.call('elb', 'DescribeInstanceHealth', { LoadBalancerName: 'web' }).InstanceStates ?? []
  ).map((one) => `${one.State} ${one.ReasonCode}`);
const members = (world: TestWorld, group = 'g'): readonly string[] =>
  Object.keys(world.states(group)).toSorted();
const names = { AutoScalingGroupName: 'g', LoadBalancerNames: ['web'] };

describe('a classic load balancer', () => {
  it('is described with its listeners, subnets, health check and tags', () => {
    const world = begin();
    expect(balancer(world)).toMatchObject({
      LoadBalancerName: 'web',
      Scheme: 'internet-facing',
      ListenerDescriptions: [{ Listener: { Protocol: 'TCP', LoadBalancerPort: 80 } }],
      HealthCheck: { Target: 'TCP:8080', Interval: 30, HealthyThreshold: 10 },
      VPCId: world.foundation.vpc.vpcId,
      Instances: [],
    });
    expect(String(balancer(world).DNSName)).toMatch(/^web-[0-9a-f]{10}\.eu-west-1\.elb\./);
    const tags = (operation: string, Tags: unknown) =>
      world.call('elb', operation, { LoadBalancerNames: ['web'], Tags });
    tags('AddTags', [{ Key: 'cost', Value: '1' }]);
    tags('RemoveTags', [{ Key: 'team' }]);
    const [described] = tags('DescribeTags', undefined).TagDescriptions ?? [];
    expect(described?.Tags).toEqual([{ Key: 'cost', Value: '1' }]);
  });

  it('has the instances of a group that is made with it, and loses those that leave', () => {
    const world = begin();
    aGroup(world, { desired: 2, balancers: ['web'] });
    world.advance(30);
    expect(registered(world)).toEqual(members(world));
    const [gone = ''] = members(world);
    const leaving = { InstanceId: gone, ShouldDecrementDesiredCapacity: true };
    world.call('autoscaling', 'TerminateInstanceInAutoScalingGroup', leaving);
    world.advance(60);
    expect(registered(world)).toEqual(members(world));
    expect(registered(world)).not.toContain(gone);
  });

  it('is attached and detached, with everything that is in service', () => {
    const world = begin();
    aGroup(world, { desired: 2 });
    world.advance(30);
    expect(registered(world)).toEqual([]);
    world.call('autoscaling', 'AttachLoadBalancers', names);
    expect(registered(world)).toEqual(members(world));
    const described = world.call('autoscaling', 'DescribeLoadBalancers', names);
    expect(described.LoadBalancers).toEqual([{ LoadBalancerName: 'web', State: 'InService' }]);
    const group = world.call('autoscaling', 'DescribeAutoScalingGroups', {}).AutoScalingGroups?.[0];
    expect(group).toMatchObject({
      LoadBalancerNames: ['web'],
      TrafficSources: [{ Identifier: 'web', Type: 'elb' }],
    });
    world.call('autoscaling', 'DetachLoadBalancers', names);
    expect(registered(world)).toEqual([]);
    expect(world.refusal('autoscaling', 'DetachLoadBalancers', names)).toBe(
      'ValidationError: Trying to remove Load Balancers that are not part of the group: web',
    );
  });

  it('takes a member aside out of service and back', () => {
    const world = begin();
    aGroup(world, { desired: 1, balancers: ['web'] });
    world.advance(30);
    const InstanceIds = members(world);
    const input = { AutoScalingGroupName: 'g', InstanceIds };
    world.call('autoscaling', 'EnterStandby', { ...input, ShouldDecrementDesiredCapacity: true });
    world.advance(10);
    expect(registered(world)).toEqual([]);
    world.call('autoscaling', 'ExitStandby', input);
    world.advance(10);
    expect(registered(world)).toEqual(InstanceIds);
  });

  it('says that an instance is healthy once it has passed its checks, and what else it is', () => {
    const world = begin();
    aGroup(world, { desired: 1 });
    world.advance(30);
    const [InstanceId = ''] = members(world);
    const input = { LoadBalancerName: 'web', Instances: [{ InstanceId }] };
    const HealthCheck = {
      ...{ Target: 'TCP:80', Interval: 10, Timeout: 5 },
      ...{ UnhealthyThreshold: 2, HealthyThreshold: 2 },
    };
    world.call('elb', 'ConfigureHealthCheck', { LoadBalancerName: 'web', HealthCheck });
    world.call('elb', 'RegisterInstancesWithLoadBalancer', input);
    expect(health(world)).toEqual(['OutOfService ELB']);
    world.advance(20);
    expect(health(world)).toEqual(['InService N/A']);
    world.call('ec2', 'StopInstances', { InstanceIds: [InstanceId] });
    expect(health(world)).toEqual(['OutOfService Instance']);
    world.call('elb', 'DeregisterInstancesFromLoadBalancer', input);
    expect(health(world)).toEqual([]);
  });

  it('is refused in the service’s words', () => {
    const world = begin();
    const Subnets = [world.foundation.publicSubnets[0]?.subnetId];
    const create = (more: object) =>
      world.refusal('elb', 'CreateLoadBalancer', {
        ...{ LoadBalancerName: 'other', Listeners: [listener], Subnets },
        ...more,
      });
    expect(create({ LoadBalancerName: 'web' })).toMatch(/^DuplicateLoadBalancerName: /);
    expect(create({ LoadBalancerName: 'x'.repeat(33) })).toBe(
      'ValidationError: LoadBalancer name cannot be longer than 32 characters',
    );
    expect(create({ Subnets: ['subnet-0'] })).toMatch(/^SubnetNotFound: /);
    expect(create({ AvailabilityZones: ['eu-west-1a'] })).toBe(
      'ValidationError: Either AvailabilityZones or SubnetIds must be specified',
    );
    const unknown = { LoadBalancerName: 'none', LoadBalancerNames: ['none'] };
    for (const operation of ['DescribeLoadBalancers', 'DescribeInstanceHealth']) {
      expect(world.refusal('elb', operation, unknown)).toBe(
        "LoadBalancerNotFound: There is no ACTIVE Load Balancer named 'none'",
      );
    }
    expect(world.call('elb', 'DeleteLoadBalancer', unknown)).toEqual({});
    aGroup(world);
    const attached = { AutoScalingGroupName: 'g', LoadBalancerNames: ['none'] };
    expect(world.refusal('autoscaling', 'AttachLoadBalancers', attached)).toBe(
      'ValidationError: Provided Load Balancers may not be valid. Please ensure they exist and try again.',
    );
    const foreign = { LoadBalancerName: 'web', Instances: [{ InstanceId: 'i-0' }] };
    for (const operation of ['RegisterInstances', 'DeregisterInstances']) {
      const suffix = operation.startsWith('R') ? 'WithLoadBalancer' : 'FromLoadBalancer';
      expect(world.refusal('elb', operation + suffix, foreign)).toMatch(/^InvalidInstance: /);
    }
  });
});
