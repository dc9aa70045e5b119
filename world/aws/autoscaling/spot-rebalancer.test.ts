import { describe, expect, it } from 'vitest';
import {
  type Answer,
  aGroup,
  aHook,
  aTestWorld,
  type TestWorld,
} from '../../../test/builders/world-aws.ts';

const ids = (world: TestWorld): string[] => Object.keys(world.states('g'));
const first = (world: TestWorld): string => ids(world)[0] ?? '';
const causes = (world: TestWorld): string => {
  const input = { AutoScalingGroupName: 'g' };
  const answer = world.call('autoscaling', 'DescribeScalingActivities', input);
  return (answer.Activities as readonly Answer[]).map((one) => String(one.Cause)).join('\n');
};
/** Two spot instances in service at the maximum of two. */
const spot = (isOn = true, hooks: readonly ReturnType<typeof aHook>[] = []): TestWorld => {
  const world = aTestWorld();
  aGroup(world, { desired: 0, max: 2, hooks });
  const LaunchTemplateSpecification = { LaunchTemplateName: 'g-template', Version: '$Latest' };
  world.call('autoscaling', 'UpdateAutoScalingGroup', {
    AutoScalingGroupName: 'g',
    DesiredCapacity: 2,
    CapacityRebalance: isOn,
    MixedInstancesPolicy: {
      LaunchTemplate: {
        LaunchTemplateSpecification,
        Overrides: [{ InstanceType: 'm5.large' }, { InstanceType: 'm5.xlarge' }],
      },
      InstancesDistribution: { OnDemandPercentageAboveBaseCapacity: 0 },
    },
  });
  world.advance(20);
  expect(Object.values(world.states('g'))).toEqual(['InService', 'InService']);
  return world;
};

describe('Capacity Rebalancing', () => {
  it('launches a replacement beyond the maximum size, then terminates the old instance', () => {
    const world = spot();
    const old = first(world);
    world.aws.recommendRebalance(old);
    let least = 9;
    for (let i = 0; i < 60; i++) {
      world.advance(1);
      const states = Object.values(world.states('g'));
      least = Math.min(least, states.filter((state) => state === 'InService').length);
    }
    expect(least).toBe(2);
    expect(ids(world)).toHaveLength(2);
    expect(ids(world)).not.toContain(old);
    expect(causes(world)).toContain(
      'taken out of service in response to an EC2 instance rebalance',
    );
    expect(world.parts.store.needGroup('g').desired).toBe(2);
  });

  it('runs the termination hooks of the old instance', () => {
    const world = spot(true, [aHook()]);
    const old = first(world);
    world.aws.recommendRebalance(old);
    world.advance(30);
    expect(world.states('g')[old]).toBe('Terminating:Wait');
  });

  it('tries again where the replacement cannot be launched, and keeps the old one', () => {
    const world = spot();
    const old = first(world);
    world.faults.inject('no-capacity', { group: 'g' });
    world.aws.recommendRebalance(old);
    world.advance(300);
    expect(world.states('g')[old]).toBe('InService');
    world.faults.clear();
    world.advance(300);
    expect(ids(world)).not.toContain(old);
    expect(ids(world)).toHaveLength(2);
  });

  it.each([
    ['the group does not rebalance', (): TestWorld => spot(false)],
    [
      'the instance is on demand',
      (): TestWorld => {
        const world = aTestWorld();
        aGroup(world, { desired: 2 });
        world.call('autoscaling', 'UpdateAutoScalingGroup', {
          AutoScalingGroupName: 'g',
          CapacityRebalance: true,
        });
        world.advance(20);
        return world;
      },
    ],
  ])('does nothing where %s', (_why, begin) => {
    const world = begin();
    const before = ids(world);
    world.aws.recommendRebalance(first(world));
    world.advance(600);
    expect(ids(world)).toEqual(before);
  });
});
