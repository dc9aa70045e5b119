// Tests of the check budget-misconfigured: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  aBudget,
  aPod,
  briefOf,
  findingsOf,
  timeAgo,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { budgetMisconfigured } from './budget-misconfigured.ts';

const status = (healthy: number, allowed: number) => ({
  currentHealthy: healthy,
  disruptionsAllowed: allowed,
});
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  [
    'healthy pods and nothing allowed although the spec allows one',
    { budgets: [aBudget('b', 3, { status: status(3, 0) })] },
    ['blocker PodDisruptionBudget demo/b'],
  ],
  [
    'pods that are not healthy now',
    { budgets: [aBudget('b', 3, { status: status(2, 0) })] },
    ['warning PodDisruptionBudget demo/b'],
  ],
  ['an eviction that is allowed', { budgets: [aBudget('b', 3)] }, []],
  [
    'an eviction under way that took the token',
    {
      budgets: [
        aBudget('b', 3, { status: { ...status(3, 0), disruptedPods: { p9: timeAgo(1) } } }),
      ],
    },
    [],
  ],
  [
    'a status that is not of this spec yet',
    { budgets: [aBudget('b', 3, { status: { ...status(3, 0), observedGeneration: 0 } })] },
    [],
  ],
  [
    'a spec that never allows, which another check tells',
    { budgets: [aBudget('b', 3, { spec: { maxUnavailable: 0 }, status: status(3, 0) })] },
    [],
  ],
  [
    'a budget of pods that no old node has',
    { pods: [aPod('p1', { node: 'other' })], budgets: [aBudget('b', 3, { status: status(3, 0) })] },
    [],
  ],
];

describe('budget-misconfigured', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(budgetMisconfigured, { pods: [aPod('p1')], ...more }))).toEqual(
      expected,
    );
  });

  it('names node, pod and the minute at which the drain has failed', () => {
    const [found] = findingsOf(budgetMisconfigured, {
      pods: [aPod('p1')],
      budgets: [aBudget('b', 3, { status: status(3, 0) })],
    });
    expect(found?.consequence).toMatchObject({ node: 'n1', pod: 'demo/p1', minute: 18 });
  });
});
