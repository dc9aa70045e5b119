// Tests of the check bare-pod: each case is a snapshot and the findings that the check reports.
import { describe, expect, it } from 'vitest';
import {
  aGroup,
  aPod,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { barePod } from './bare-pod.ts';

const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['a pod without a controller', { pods: [aPod('p1', { owner: '' })] }, ['blocker Pod demo/p1']],
  [
    'the same with force',
    { pods: [aPod('p1', { owner: '' })], group: aGroup({ force: true }) },
    ['warning Pod demo/p1'],
  ],
  ['a pod with one', { pods: [aPod('p1')] }, []],
  [
    'a static pod, which stays',
    { pods: [aPod('p1', { owner: '', annotations: { 'kubernetes.io/config.mirror': 'x' } })] },
    [],
  ],
  ['a finished pod', { pods: [aPod('p1', { owner: '', phase: 'Succeeded' })] }, []],
];

describe('bare-pod', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(barePod, more))).toEqual(expected);
  });
});
