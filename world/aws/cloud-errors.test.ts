import { describe, expect, it } from 'vitest';
import { AwsError } from '../../src/aws-wire/index.ts';
import { aGroup, aTestWorld } from '../../test/builders/world-aws.ts';

describe('the fault cloud-errors', () => {
  it('makes about one call in five fail, some of them after they took effect', () => {
    const world = aTestWorld();
    aGroup(world, { desired: 0 });
    world.faults.inject('cloud-errors', {});
    const codes: string[] = [];
    let effectsOfFailures = 0;
    for (let i = 0; i < 500; i++) {
      const before = world.parts.store.group('g')?.desired;
      const input = { AutoScalingGroupName: 'g', DesiredCapacity: (i % 9) + 1 };
      try {
        world.call('autoscaling', 'SetDesiredCapacity', input);
      } catch (error) {
        if (!(error instanceof AwsError)) throw error;
        codes.push(error.code);
        if (world.parts.store.group('g')?.desired !== before) effectsOfFailures++;
      }
    }
    expect(codes.length).toBeGreaterThan(60);
    expect(codes.length).toBeLessThan(140);
    expect(new Set(codes)).toEqual(new Set(['Throttling', 'ServiceUnavailable']));
    expect(effectsOfFailures).toBeGreaterThan(5);
  });
});
