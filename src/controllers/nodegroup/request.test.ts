// What of a group's size is noted as an update's, where people state another size while it runs.
import { describe, expect, it } from 'vitest';
import { aGroupSpec } from '../testing.ts';
import { seeSizes, sizesNow } from './request.ts';

const nobodyLeft = { sure: 0, most: 0 };

/** Of the six that there were, one was taken from outside; then people state `desired`. */
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
  const around = { surge: { desired: 1, maxSize: 1 }, isUpdating: true, retiring: 1 };
  return sizesNow(group as unknown as Args[0], sizes, around);
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
