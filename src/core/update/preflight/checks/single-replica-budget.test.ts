// Tests of the check single-replica-budget: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  aBudget,
  aPod,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { singleReplicaBudget } from './single-replica-budget.ts';

const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  [
    'minAvailable 1 of one',
    { budgets: [aBudget('b', 1, { spec: { minAvailable: 1 } })] },
    ['blocker PodDisruptionBudget demo/b'],
  ],
  [
    'minAvailable 50% of one, which is one',
    { budgets: [aBudget('b', 1, { spec: { minAvailable: '50%' } })] },
    ['blocker PodDisruptionBudget demo/b'],
  ],
  ['maxUnavailable 1 of one', { budgets: [aBudget('b', 1)] }, []],
  ['minAvailable 1 of two', { budgets: [aBudget('b', 2, { spec: { minAvailable: 1 } })] }, []],
];

describe('single-replica-budget', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(singleReplicaBudget, { pods: [aPod('p1')], ...more }))).toEqual(
      expected,
    );
  });

  it('offers a second replica where the owner can have one', () => {
    const budgets = [aBudget('b', 1, { spec: { minAvailable: 1 } })];
    const remedy = (owner: string) =>
      findingsOf(singleReplicaBudget, { pods: [aPod('p1', { owner })], budgets })[0]?.remedy;
    expect(remedy('StatefulSet/db')).toBe('kubectl -n demo scale statefulset/db --replicas=2');
    expect(remedy('Job/once')).toContain('delete pdb b');
  });

  it.each([{ maxUnavailable: 0 }, { minAvailable: 2 }, { minAvailable: '100%' }])(
    'offers none where two are held as one is: %o',
    (rule) => {
      const [found] = findingsOf(singleReplicaBudget, {
        pods: [aPod('p1', { owner: 'Deployment/web' })],
        budgets: [aBudget('b', 1, { spec: rule })],
      });
      expect(found?.remedy).toContain('delete pdb b');
    },
  );
});
