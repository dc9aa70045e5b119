// Tests of the check drain-too-slow: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  aBudget,
  aGroup,
  aNode,
  aPod,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { drainTooSlow } from './drain-too-slow.ts';

const pods = (count: number, node = 'n1') =>
  Array.from({ length: count }, (_, i) => aPod(`${node}-p${i + 1}`, { node }));
const budgets = [aBudget('b', 30)];
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['one pod', { pods: pods(1), budgets }, []],
  ['three pods of 300 s: the last need not be replaced', { pods: pods(3), budgets }, []],
  [
    'four pods: 910 s at the least',
    { pods: pods(4), budgets },
    ['blocker PodDisruptionBudget demo/b'],
  ],
  [
    'four pods, two at a time',
    { pods: pods(4), budgets: [aBudget('b', 30, { spec: { maxUnavailable: 2 } })] },
    [],
  ],
  [
    'two nodes of EKS at once',
    {
      pods: [...pods(2), ...pods(2, 'n2')],
      budgets,
      nodes: [aNode('n1'), aNode('n2')],
      group: aGroup({ maxUnavailable: 2 }),
    },
    ['warning PodDisruptionBudget demo/b'],
  ],
  [
    "the same with Drover's gate",
    {
      pods: [...pods(2), ...pods(2, 'n2')],
      budgets,
      nodes: [aNode('n1'), aNode('n2')],
      group: aGroup({ maxUnavailable: 2, strategy: 'SURGE' }),
    },
    [],
  ],
  [
    'a budget that allows none, which another check tells',
    { pods: pods(4), budgets: [aBudget('b', 4, { spec: { maxUnavailable: 0 } })] },
    [],
  ],
];

describe('drain-too-slow', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(drainTooSlow, more, { replacementSeconds: () => 300 }))).toEqual(
      expected,
    );
  });

  it('is a warning where only the replacement of the last pod is late', () => {
    const [found] = findingsOf(
      drainTooSlow,
      { pods: pods(4), budgets },
      { replacementSeconds: () => 240 },
    );
    expect(found).toMatchObject({ severity: 'warning', evidence: { drainSeconds: 960, nodes: 1 } });
  });
});
