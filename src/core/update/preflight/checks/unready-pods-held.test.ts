// Tests of the check unready-pods-held: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  aBudget,
  aPod,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { unreadyPodsHeld } from './unready-pods-held.ts';

const down = { currentHealthy: 1, desiredHealthy: 2, disruptionsAllowed: 0 };
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  [
    'an unready pod and too few healthy ones',
    { budgets: [aBudget('b', 3, { status: down })] },
    ['warning PodDisruptionBudget demo/b'],
  ],
  [
    'a budget that lets unready pods go',
    {
      budgets: [
        aBudget('b', 3, { status: down, spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } }),
      ],
    },
    [],
  ],
  [
    'enough healthy ones: the server lets it go',
    { budgets: [aBudget('b', 3, { status: { ...down, currentHealthy: 2 } })] },
    [],
  ],
  [
    'pods that are all Ready',
    { pods: [aPod('p1')], budgets: [aBudget('b', 3, { status: down })] },
    [],
  ],
];

describe('unready-pods-held', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(
      briefOf(findingsOf(unreadyPodsHeld, { pods: [aPod('p1', { ready: false })], ...more })),
    ).toEqual(expected);
  });
});
