// Instances that leave with decrement, which is not a request for a smaller group. Cases: a queued
// update, and a size that an earlier leader's call set late.
import { describe, expect, it } from 'vitest';
import { aGroupSpec } from '../../../../test/builders/controllers.ts';
import { epochMs } from '../../../api/brand.ts';
import { readSizes, seeSizes } from '../../../core/group-plan/index.ts';
import { leftSince } from '../../../core/nodegroup/index.ts';
import { leftOf } from './left.ts';

type Args = Parameters<typeof leftOf>;
const signal = new AbortController().signal;

describe('an instance of an update that has ended', () => {
  /** The update ended with one surplus new node, and one old node is being scaled in. */
  const surge = { desired: 1, maxSize: 1, carried: 2, left: 0 };
  const leftBeside = (updating: string | undefined) => {
    const status = { surge, ...(updating === undefined ? {} : { updating: { name: updating } }) };
    const group = { metadata: { name: 'ng' }, status };
    const cloud = { describeActivities: async () => [] };
    const deps = { disruptions: { list: () => [] }, cloud, clock: { now: () => epochMs(0) } };
    const around = { update: { metadata: { name: 'u2' } }, memory: new Map<string, boolean>() };
    const [a, b, c, d] = [deps, group, { instances: [] }, around] as unknown[];
    return leftOf(a as Args[0], b as Args[1], c as Args[2], d as Args[3], signal);
  };

  it('may go while the next update waits', async () => {
    expect(await leftBeside(undefined)).toEqual(leftSince(surge));
    expect(leftSince(surge)).toEqual({ sure: 0, most: 1 });
  });

  it('is a user’s wish once the next one has begun, of which none has left', async () => {
    expect(await leftBeside('u2')).toMatchObject({ sure: 0, most: 0 });
  });
});

describe('a node that an update ends beside a late call', () => {
  /**
   * Six instances, which a late call made eight. A user sets `desired`, and Drover's call
   * terminated one instance with decrement.
   */
  const followed = (desired: number, actual: number) => {
    const call = { maxSize: 11, desired: 8, epoch: 1, at: '2026-01-01T00:00:00.000Z' };
    const scaling = { minSize: 0, maxSize: 9, desired };
    const group = {
      metadata: { name: 'ng', generation: 4 },
      spec: { ...aGroupSpec(), scaling },
      status: {
        desired: 8,
        minSize: 0,
        maxSize: 10,
        requested: scaling,
        surge: { desired: 1, maxSize: 1, carried: 0, retiring: 1, left: 0 },
        sizeCalls: [{ ...call, instead: { maxSize: 10, desired: 6 } }],
      },
    };
    const deps = { epoch: 2, clock: { now: () => epochMs(Date.parse(call.at) + 60_000) } };
    const seen = { minSize: 0, maxSize: 10, desiredCapacity: actual, instances: [] };
    const left = { sure: 1, most: 1 };
    const [a, b, c] = [deps, group, seen] as unknown[];
    const read = readSizes(
      a as Parameters<typeof readSizes>[0],
      b as Parameters<typeof readSizes>[1],
      c as Parameters<typeof readSizes>[2],
      left,
    );
    return seeSizes(read.group, read.scaling, left).followed.desired;
  };

  it.each([
    ['leaves what people state as it is', 0, 7, 0],
    ['leaves it where that is what is there', 5, 7, 5],
    ['hides nothing that people add meanwhile', 0, 9, 9],
  ])('%s', (_, desired, actual, expected) => {
    expect(followed(desired, actual)).toBe(expected);
  });
});
