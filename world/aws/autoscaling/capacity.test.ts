import { describe, expect, it } from 'vitest';
import {
  type Answer,
  aGroup,
  aHook,
  aTestWorld,
  type TestWorld,
} from '../../../test/builders/world-aws.ts';

const zonesOf = (world: TestWorld, group = 'g'): string =>
  world.parts.store
    .members(group)
    .map((one) => one.zone.slice(-1))
    .sort()
    .join('');

const activities = (world: TestWorld): readonly Answer[] => [
  ...(world.call('autoscaling', 'DescribeScalingActivities', { AutoScalingGroupName: 'g' })
    .Activities ?? []),
];

const setDesired = (world: TestWorld, DesiredCapacity: number) =>
  world.call('autoscaling', 'SetDesiredCapacity', { AutoScalingGroupName: 'g', DesiredCapacity });

const update = (world: TestWorld, change: object) =>
  world.call('autoscaling', 'UpdateAutoScalingGroup', { AutoScalingGroupName: 'g', ...change });

const group = (world: TestWorld): Answer | undefined =>
  world.call('autoscaling', 'DescribeAutoScalingGroups', { AutoScalingGroupNames: ['g'] })
    .AutoScalingGroups?.[0];

const first = (world: TestWorld): string => Object.keys(world.states('g'))[0] ?? '';

describe('desired capacity', () => {
  it('is spread over the zones and kept in balance when lowered', () => {
    const world = aTestWorld();
    aGroup(world, { desired: 7 });
    world.advance(10);
    expect(zonesOf(world)).toBe('aaabbcc');
    setDesired(world, 4);
    world.advance(20);
    expect(['aabc', 'abbc', 'abcc']).toContain(zonesOf(world));
  });

  it.each([
    [
      'SetDesiredCapacity',
      { DesiredCapacity: 11 },
      'New SetDesiredCapacity value 11 is above max value 10 for the AutoScalingGroup.',
    ],
    [
      'SetDesiredCapacity',
      { DesiredCapacity: 0 },
      'New SetDesiredCapacity value 0 is below min value 1 for the AutoScalingGroup.',
    ],
    [
      'UpdateAutoScalingGroup',
      { MaxSize: 0 },
      'Max bound, 0, must be greater than or equal to min bound, 1',
    ],
    [
      'UpdateAutoScalingGroup',
      { DesiredCapacity: 20 },
      'Desired capacity:20 must be between the specified min size:1 and max size:10',
    ],
  ])('is refused outside its bounds: %s %j', (operation, input, message) => {
    const world = aTestWorld();
    aGroup(world, { min: 1 });
    const request = { AutoScalingGroupName: 'g', ...input };
    expect(world.refusal('autoscaling', operation, request)).toBe(`ValidationError: ${message}`);
  });

  it.each([
    [{ MinSize: 4 }, 4],
    [{ MaxSize: 1 }, 1],
    [{ MinSize: 1, MaxSize: 3 }, 2],
  ])('moves with its bounds: %j makes it %i', (change, desired) => {
    const world = aTestWorld();
    aGroup(world, { desired: 2 });
    update(world, change);
    expect(group(world)?.DesiredCapacity).toBe(desired);
    world.advance(20);
    expect(group(world)?.Instances).toHaveLength(desired);
  });

  it('tells in the activities who changed it and what followed', () => {
    const world = aTestWorld();
    aGroup(world, { desired: 1 });
    world.advance(5);
    setDesired(world, 2);
    world.advance(5);
    const [launch] = activities(world);
    expect(launch?.Cause).toBe(
      [
        'At 2026-09-25T13:00:05Z a user request explicitly set group desired capacity',
        'changing the desired capacity from 1 to 2.  At 2026-09-25T13:00:06Z an instance',
        'was started in response to a difference between desired and actual capacity,',
        'increasing the capacity from 1 to 2.',
      ].join(' '),
    );
    expect(JSON.parse(String(launch?.Details))).toEqual({
      'Subnet ID': world.foundation.publicSubnets[1]?.subnetId,
      'Availability Zone': 'eu-west-1c',
    });
  });

  it('spares protected instances at scale-in', () => {
    const world = aTestWorld();
    aGroup(world, { desired: 2 });
    world.advance(5);
    const [kept = ''] = Object.keys(world.states('g'));
    world.call('autoscaling', 'SetInstanceProtection', {
      AutoScalingGroupName: 'g',
      InstanceIds: [kept],
      ProtectedFromScaleIn: true,
    });
    setDesired(world, 0);
    world.advance(20);
    expect(world.states('g')).toEqual({ [kept]: 'InService' });
  });
});

describe('TerminateInstanceInAutoScalingGroup', () => {
  const call = (world: TestWorld, InstanceId: string, ShouldDecrementDesiredCapacity: boolean) =>
    world.call('autoscaling', 'TerminateInstanceInAutoScalingGroup', {
      InstanceId,
      ShouldDecrementDesiredCapacity,
    }).Activity;

  it('lowers desired capacity when asked to, and the group stays there', () => {
    const world = aTestWorld();
    aGroup(world);
    world.advance(5);
    const id = first(world);
    const activity = call(world, id, true);
    expect(activity).toMatchObject({
      Description: `Terminating EC2 instance: ${id}`,
      Cause: [
        `At 2026-09-25T13:00:05Z instance ${id} was taken out of service in response to a`,
        'user request, shrinking the capacity from 1 to 0.',
      ].join(' '),
      StatusCode: 'InProgress',
      Progress: 0,
    });
    world.advance(60);
    expect(group(world)).toMatchObject({ DesiredCapacity: 0, Instances: [] });
  });

  it('has the instance replaced when not', () => {
    const world = aTestWorld();
    aGroup(world, { hooks: [aHook()] });
    world.advance(5);
    const id = first(world);
    expect(call(world, id, false)?.Cause).toBe(
      [
        `At 2026-09-25T13:00:05Z instance ${id} was taken out of service in response to a`,
        'user request.',
      ].join(' '),
    );
    world.advance(5);
    expect(Object.values(world.states('g'))).toEqual(['Terminating:Wait', 'InService']);
  });

  it('is refused below the minimum size', () => {
    const world = aTestWorld();
    aGroup(world, { min: 1, max: 1 });
    world.advance(5);
    const input = { InstanceId: first(world), ShouldDecrementDesiredCapacity: true };
    expect(world.refusal('autoscaling', 'TerminateInstanceInAutoScalingGroup', input)).toBe(
      [
        'ValidationError: Currently, desiredSize equals minSize (1). Terminating instance',
        "without replacement will violate group's min size constraint. Either set",
        "shouldDecrementDesiredCapacity flag to false or lower group's min size.",
      ].join(' '),
    );
    expect(Object.values(world.states('g'))).toEqual(['InService']);
  });

  it('is refused for an instance of no group', () => {
    const world = aTestWorld();
    const input = { InstanceId: 'i-07e9ea9eb19a67337', ShouldDecrementDesiredCapacity: true };
    expect(world.refusal('autoscaling', 'TerminateInstanceInAutoScalingGroup', input)).toBe(
      [
        'ValidationError: Instance Id not found - No managed instance found for instance',
        'ID: i-07e9ea9eb19a67337',
      ].join(' '),
    );
  });

  it('answers with the running termination the second time and lowers capacity once', () => {
    const world = aTestWorld();
    aGroup(world, { desired: 2, hooks: [aHook()] });
    world.advance(5);
    const id = first(world);
    const activity = call(world, id, true);
    world.advance(1);
    expect(call(world, id, true)?.ActivityId).toBe(activity?.ActivityId);
    expect(group(world)?.DesiredCapacity).toBe(1);
  });
});

describe('launch failures', () => {
  it('moves to another zone when one has no capacity', () => {
    const world = aTestWorld();
    world.faults.inject('no-capacity', { zone: 'eu-west-1a' });
    aGroup(world, { desired: 2 });
    world.advance(10);
    expect(zonesOf(world)).toBe('bc');
    const failed = activities(world).filter((one) => String(one.StatusCode) === 'Failed');
    expect(failed[0]?.StatusMessage).toBe(
      [
        'Could not launch On-Demand Instances. InsufficientInstanceCapacity - We',
        'currently do not have sufficient m5.large capacity in the Availability Zone you',
        'requested (eu-west-1a). Our system will be working on provisioning additional',
        'capacity. You can currently get m5.large capacity by not specifying an',
        'Availability Zone in your request or choosing eu-west-1b, eu-west-1c. Launching',
        'EC2 instance failed.',
      ].join(' '),
    );
  });

  it('tries again until there is capacity, ever more seldom', () => {
    const world = aTestWorld();
    world.faults.inject('no-capacity', { group: 'g' });
    aGroup(world);
    world.advance(200);
    const tries = activities(world).length / 3;
    expect(tries).toBe(4);
    world.faults.clear();
    world.advance(300);
    expect(Object.values(world.states('g'))).toEqual(['InService']);
  });

  it('says so when a subnet has no addresses', () => {
    const world = aTestWorld();
    const subnet = world.foundation.publicSubnets[0]?.subnetId ?? '';
    world.faults.inject('no-addresses', { subnet });
    aGroup(world, { zones: 1 });
    world.advance(5);
    expect(activities(world)[0]?.StatusMessage).toBe(
      [
        'Could not launch On-Demand Instances. InsufficientFreeAddressesInSubnet - There',
        `are not enough free addresses in subnet '${subnet}' to satisfy the requested`,
        'number of instances. Launching EC2 instance failed.',
      ].join(' '),
    );
  });
});

describe('an instance that dies outside the group', () => {
  it('is replaced after a health check, its termination hook asked', () => {
    const world = aTestWorld();
    aGroup(world, { hooks: [aHook()] });
    world.advance(5);
    const dead = first(world);
    world.call('ec2', 'TerminateInstances', { InstanceIds: [dead] });
    world.advance(30);
    expect(Object.values(world.states('g'))).toEqual(['Terminating:Wait', 'InService']);
    expect(activities(world).map((one) => String(one.Cause).slice(24))).toContain(
      'an instance was launched in response to an unhealthy instance needing to be replaced.',
    );
    world.call('autoscaling', 'CompleteLifecycleAction', {
      AutoScalingGroupName: 'g',
      LifecycleHookName: 'drain',
      LifecycleActionResult: 'CONTINUE',
      InstanceId: dead,
    });
    world.advance(2);
    expect(Object.values(world.states('g'))).toEqual(['InService']);
  });

  it(
    [
      'is left alone while ReplaceUnhealthy is suspended, and replaced by',
      'SetInstanceHealth later',
    ].join(' '),
    () => {
      const world = aTestWorld();
      aGroup(world);
      world.advance(5);
      const id = first(world);
      const processes = { AutoScalingGroupName: 'g', ScalingProcesses: ['ReplaceUnhealthy'] };
      const sick = { InstanceId: id, HealthStatus: 'Unhealthy' };
      world.call('autoscaling', 'SuspendProcesses', processes);
      world.call('autoscaling', 'SetInstanceHealth', sick);
      world.advance(60);
      expect(world.states('g')).toEqual({ [id]: 'InService' });
      world.call('autoscaling', 'ResumeProcesses', processes);
      world.call('autoscaling', 'SetInstanceHealth', sick);
      world.advance(60);
      expect(Object.keys(world.states('g'))).not.toContain(id);
      expect(Object.values(world.states('g'))).toEqual(['InService']);
    },
  );
});

describe('groups', () => {
  it('are deleted when empty, and by force with their instances', () => {
    const world = aTestWorld();
    aGroup(world, { hooks: [aHook()] });
    world.advance(5);
    const request = { AutoScalingGroupName: 'g' };
    expect(world.refusal('autoscaling', 'DeleteAutoScalingGroup', request)).toMatch(
      /^ResourceInUse: You cannot delete an AutoScalingGroup while there are instances/,
    );
    world.call('autoscaling', 'DeleteAutoScalingGroup', { ...request, ForceDelete: true });
    expect(group(world)?.Status).toBe('Delete in progress');
    world.advance(20);
    expect(group(world)).toBeUndefined();
  });

  it('pass their tags on and name themselves on the instance', () => {
    const world = aTestWorld();
    aGroup(world, { desired: 0 });
    world.call('autoscaling', 'CreateOrUpdateTags', {
      Tags: [
        {
          ResourceId: 'g',
          ResourceType: 'auto-scaling-group',
          Key: 'team',
          Value: 'red',
          PropagateAtLaunch: true,
        },
        {
          ResourceId: 'g',
          ResourceType: 'auto-scaling-group',
          Key: 'own',
          Value: 'x',
          PropagateAtLaunch: false,
        },
      ],
    });
    setDesired(world, 1);
    world.advance(5);
    const instance = world.parts.instances.get(first(world));
    expect(instance?.tags).toMatchObject({ team: 'red', 'aws:autoscaling:groupName': 'g' });
    expect(instance?.tags).not.toHaveProperty('own');
  });

  it('attach and detach running instances', () => {
    const world = aTestWorld();
    aGroup(world, { desired: 1 });
    aGroup(world, { name: 'h', desired: 0 });
    world.advance(5);
    const InstanceIds = [first(world)];
    world.call('autoscaling', 'DetachInstances', {
      AutoScalingGroupName: 'g',
      InstanceIds,
      ShouldDecrementDesiredCapacity: true,
    });
    world.call('autoscaling', 'AttachInstances', { AutoScalingGroupName: 'h', InstanceIds });
    world.advance(30);
    expect(world.states('g')).toEqual({});
    expect(Object.values(world.states('h'))).toEqual(['InService']);
  });
});

it('starts no instance from an image that has been deregistered, and says so in EC2 words', () => {
  const world = aTestWorld();
  aGroup(world, { desired: 1 });
  world.advance(60);
  const imageId = world.parts.images.releases('AL2_x86_64', '1.32')[0]?.imageId ?? '';
  world.kernel.tables.open('aws/ec2/images').delete(imageId);
  const named = { AutoScalingGroupName: 'g' };
  world.call('autoscaling', 'SetDesiredCapacity', { ...named, DesiredCapacity: 2 });
  world.advance(60);
  expect(Object.keys(world.states('g'))).toHaveLength(1);
  const { Activities } = world.call('autoscaling', 'DescribeScalingActivities', named);
  expect((Activities as readonly Answer[])[0]).toMatchObject({
    StatusCode: 'Failed',
    StatusMessage: `The image id '[${imageId}]' does not exist. Launching EC2 instance failed.`,
  });
});
