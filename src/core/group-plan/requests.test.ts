// How much of a group's size is recorded as the update's when a user changes the desired size while
// it runs.
import { describe, expect, it } from 'vitest';
import { aGroupSpec } from '../../../test/builders/controllers.ts';
import { leftSince } from '../nodegroup/index.ts';
import { seeSizes, sizesNow } from './requests.ts';

const nobodyLeft = { sure: 0, most: 0 };

/** One of six instances was removed from outside; then a user sets `desired`. */
const seen = (desired: number) => {
  const group = {
    metadata: { name: 'ng', uid: 'uid-ng', resourceVersion: '1', generation: 3 },
    spec: { ...aGroupSpec(), scaling: { minSize: 0, maxSize: 6, desired } },
    status: {
      desired: 5,
      minSize: 0,
      maxSize: 9,
      requested: { minSize: 0, maxSize: 6, desired: 2 },
      surge: { desired: 1, maxSize: 1, carried: 3, retiring: 1, left: 0 },
    },
  };
  const scaling = { name: 'asg', minSize: 0, maxSize: 9, desiredCapacity: 5 };
  type Args = Parameters<typeof seeSizes>;
  const sizes = seeSizes(group as unknown as Args[0], scaling as Args[1], nobodyLeft);
  const part = { surge: { desired: 1, maxSize: 1 }, isUpdating: true, retiring: 1 };
  return sizesNow(group as unknown as Args[0], sizes, part);
};

describe('an update’s part of a group’s size', () => {
  it.each([
    ['stays where fewer are asked for', 2, 4, 3],
    ['is people’s where as many are asked for as there are', 3, 5, undefined],
    ['stays until the call where more are asked for', 4, 6, 3],
  ])('%s', (_, desired, target, carried) => {
    const { target: found, surge } = seen(desired);
    expect([found, surge.carried]).toEqual([target, carried]);
  });
});

describe('the surplus of an update that has ended', () => {
  const surge = { desired: 1, maxSize: 1, carried: 2, left: 0 };
  /** Desired size four; one surplus instance stays, and another one is being scaled in. */
  const after = (desiredCapacity: number) => {
    const group = {
      metadata: { name: 'ng', uid: 'uid-ng', resourceVersion: '1', generation: 3 },
      spec: { ...aGroupSpec(), scaling: { minSize: 0, maxSize: 7, desired: 4 } },
      status: {
        desired: 6,
        minSize: 0,
        maxSize: 9,
        requested: { minSize: 0, maxSize: 7, desired: 4 },
        surge,
      },
    };
    const scaling = { name: 'asg', minSize: 0, maxSize: 9, desiredCapacity };
    type Args = Parameters<typeof seeSizes>;
    const left = leftSince(surge);
    const sizes = seeSizes(group as unknown as Args[0], scaling as Args[1], left);
    const part = { surge: { desired: 1, maxSize: 1 }, isUpdating: false, retiring: 0 };
    const now = sizesNow(group as unknown as Args[0], sizes, part);
    return [sizes.followed.desired, now.target, now.surge.carried];
  };

  it.each([
    ['is there', 6, [4, 5, 2]],
    ['takes its place along when it goes, which is no wish for fewer', 5, [4, 5, undefined]],
    ['is not what somebody takes beyond it', 4, [3, 4, undefined]],
    ['is not what somebody adds', 7, [5, 6, 2]],
  ])('%s', (_, desired, expected) => {
    expect(after(desired)).toEqual(expected);
  });

  it('is nothing where as many are there as are noted', () => {
    expect(leftSince({ desired: 2, maxSize: 2, left: 1 })).toEqual({ sure: 0, most: 0 });
    expect(leftSince(undefined)).toEqual({ sure: 0, most: 0 });
  });
});
