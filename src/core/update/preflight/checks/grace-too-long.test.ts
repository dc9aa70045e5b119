// Tests of the check grace-too-long: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  aGroup,
  aPod,
  briefOf,
  findingsOf,
  type PodOverrides,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { graceTooLong } from './grace-too-long.ts';

const grace = (seconds: number, more: PodOverrides = {}) =>
  aPod('p1', { ...more, spec: { terminationGracePeriodSeconds: seconds } });
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['an hour', { pods: [grace(3600)] }, ['blocker StatefulSet demo/web']],
  ['exactly the time of the drain', { pods: [grace(900)] }, []],
  ['the default', { pods: [aPod('p1')] }, []],
  ['a DaemonSet pod, which stays', { pods: [grace(3600, { owner: 'DaemonSet/agent' })] }, []],
  ['a longer drain', { pods: [grace(3600)], group: aGroup({ drainTimeoutSeconds: 7200 }) }, []],
];

describe('grace-too-long', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(graceTooLong, more))).toEqual(expected);
  });
});
