// Instance refreshes: how many instances are replaced at a time, and when a refresh ends.
import { describe, expect, it } from 'vitest';
import type { AwsInput } from '../../../src/aws-wire/index.ts';
import { aGroup, aTestWorld, type TestWorld } from '../../../test/builders/world-aws.ts';

const withGroup = (desired: number): TestWorld => {
  const world = aTestWorld();
  aGroup(world, { desired });
  world.advance(60);
  return world;
};

const start = (world: TestWorld, preferences: AwsInput = {}): void => {
  world.call('autoscaling', 'StartInstanceRefresh', {
    AutoScalingGroupName: 'g',
    Preferences: { InstanceWarmup: 10, ...preferences },
  });
};

const latest = (world: TestWorld) =>
  world.call('autoscaling', 'DescribeInstanceRefreshes', { AutoScalingGroupName: 'g' })
    .InstanceRefreshes?.[0];

/** The lowest number of instances in service during the refresh, and its duration. */
const follow = (world: TestWorld): { readonly least: number; readonly seconds: number } => {
  let least = Number.POSITIVE_INFINITY;
  for (let seconds = 1; seconds < 3600; seconds++) {
    world.advance(1);
    const inService = Object.values(world.states('g')).filter((state) => state === 'InService');
    least = Math.min(least, inService.length);
    if (String(latest(world)?.Status) === 'Successful') return { least, seconds };
  }
  throw new Error('the refresh does not end');
};

describe('an instance refresh', () => {
  it('replaces all instances, as many at a time as may be missing', () => {
    const world = withGroup(4);
    const before = Object.keys(world.states('g'));
    start(world, { MinHealthyPercentage: 50 });
    expect(latest(world)).toMatchObject({ Status: 'Pending', PercentageComplete: 0 });
    expect(follow(world).least).toBe(2);
    const after = Object.keys(world.states('g'));
    expect(after.filter((id) => before.includes(id))).toEqual([]);
    expect(after).toHaveLength(4);
    expect(latest(world)).toMatchObject({ PercentageComplete: 100, InstancesToUpdate: 0 });
  });

  it('takes one at a time where none may be missing', () => {
    const world = withGroup(3);
    start(world, { MinHealthyPercentage: 100 });
    expect(follow(world).least).toBe(2);
  });

  it('leaves alone what has the wanted version already, if asked to', () => {
    const world = withGroup(2);
    const before = world.states('g');
    world.call('autoscaling', 'UpdateAutoScalingGroup', {
      AutoScalingGroupName: 'g',
      LaunchTemplate: { LaunchTemplateName: 'g-template', Version: '1' },
    });
    start(world, { SkipMatching: true });
    world.advance(10);
    expect(latest(world)).toMatchObject({ Status: 'Successful' });
    expect(world.states('g')).toEqual(before);
  });

  it('is one at a time, can be called off, and knows what it cannot do', () => {
    const world = withGroup(3);
    start(world);
    const again = { AutoScalingGroupName: 'g' };
    expect(world.refusal('autoscaling', 'StartInstanceRefresh', again)).toMatch(
      /^InstanceRefreshInProgress: An Instance Refresh is already in progress/,
    );
    world.advance(3);
    world.call('autoscaling', 'CancelInstanceRefresh', again);
    expect(latest(world)).toMatchObject({ Status: 'Cancelling' });
    world.advance(120);
    expect(latest(world)).toMatchObject({ Status: 'Cancelled', InstancesToUpdate: 2 });
    expect(world.refusal('autoscaling', 'CancelInstanceRefresh', again)).toMatch(
      /^ActiveInstanceRefreshNotFound/,
    );
    const bake = { ...again, Preferences: { BakeTime: 60 } };
    expect(world.refusal('autoscaling', 'StartInstanceRefresh', bake)).toMatch(
      /BakeTime: not supp/,
    );
  });
});
