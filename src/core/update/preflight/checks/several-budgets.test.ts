// Tests of the check several-budgets: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  aBudget,
  aPod,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { severalBudgets } from './several-budgets.ts';

const two = [aBudget('b1', 3), aBudget('b2', 3)];
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['a pod under two budgets', { budgets: two }, ['blocker Pod demo/p1']],
  ['a pod under one', { budgets: [aBudget('b1', 3)] }, []],
  [
    'budgets of another namespace',
    { budgets: [aBudget('b1', 3), aBudget('b2', 3, { namespace: 'x' })] },
    [],
  ],
  [
    'a pending pod, which the server lets go',
    { pods: [aPod('p1', { phase: 'Pending' })], budgets: two },
    [],
  ],
  [
    'pods of one owner, told once',
    { pods: [aPod('p1'), aPod('p2')], budgets: two },
    ['blocker Pod demo/p1'],
  ],
  [
    'bare pods, each its own',
    { pods: [aPod('p1', { owner: '' }), aPod('p2', { owner: '' })], budgets: two },
    ['blocker Pod demo/p1', 'blocker Pod demo/p2'],
  ],
];

describe('several-budgets', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(severalBudgets, { pods: [aPod('p1')], ...more }))).toEqual(expected);
  });

  it('names both budgets and how to be rid of one', () => {
    const [found] = findingsOf(severalBudgets, { pods: [aPod('p1')], budgets: two });
    expect(found?.evidence.budgets).toBe('demo/b1 demo/b2');
    expect(found?.remedy).toContain('kubectl -n demo delete pdb b2');
  });
});
