// Tests of the check budget-never-allows: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  aBudget,
  aGroup,
  aNode,
  aPod,
  aSnapshot,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import { policiesOf } from '../../policy.ts';
import type { Snapshot } from '../snapshot.ts';
import { budgetNeverAllows } from './budget-never-allows.ts';

const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  [
    'maxUnavailable 0',
    { budgets: [aBudget('b', 3, { spec: { maxUnavailable: 0 } })] },
    ['blocker PodDisruptionBudget demo/b'],
  ],
  [
    'maxUnavailable 0%',
    { budgets: [aBudget('b', 3, { spec: { maxUnavailable: '0%' } })] },
    ['blocker PodDisruptionBudget demo/b'],
  ],
  [
    'minAvailable 100%',
    { budgets: [aBudget('b', 3, { spec: { minAvailable: '100%' } })] },
    ['blocker PodDisruptionBudget demo/b'],
  ],
  [
    'minAvailable of all',
    { budgets: [aBudget('b', 3, { spec: { minAvailable: 3 } })] },
    ['blocker PodDisruptionBudget demo/b'],
  ],
  [
    'minAvailable 90% of 3, which is 3',
    { budgets: [aBudget('b', 3, { spec: { minAvailable: '90%' } })] },
    ['blocker PodDisruptionBudget demo/b'],
  ],
  [
    'minAvailable 90% of 10, which is 9',
    { budgets: [aBudget('b', 10, { spec: { minAvailable: '90%' } })] },
    [],
  ],
  [
    'maxUnavailable 1% of 3, which is 1',
    { budgets: [aBudget('b', 3, { spec: { maxUnavailable: '1%' } })] },
    [],
  ],
  [
    'one replica, which another check tells',
    { budgets: [aBudget('b', 1, { spec: { minAvailable: 1 } })] },
    [],
  ],
];

describe('budget-never-allows', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(budgetNeverAllows, { pods: [aPod('p1')], ...more }))).toEqual(
      expected,
    );
  });

  it('is reported although the pods are unhealthy now: it never opens', () => {
    const budgets = [
      aBudget('b', 3, { spec: { maxUnavailable: 0 }, status: { currentHealthy: 1 } }),
    ];
    expect(findingsOf(budgetNeverAllows, { pods: [aPod('p1')], budgets })).toHaveLength(1);
  });

  describe('of nodes that an earlier update could not take back', () => {
    const nodes = ['n1', 'n2', 'n3'].map((name) => aNode(name, { old: false, ofGroup: true }));
    const budgets = [aBudget('b', 3, { spec: { maxUnavailable: 0 } })];
    const told = (keptNodes: readonly string[], leftover: number, force = false) =>
      findingsOf(budgetNeverAllows, {
        nodes,
        budgets,
        pods: keptNodes.map((node, i) => aPod(`p${i}`, { node })),
        group: { ...aSnapshot().group, leftover, force },
      });
    it('blocks where too few of them can be emptied, and says what ends it', () => {
      const [found] = told(['n1', 'n2'], 2);
      expect(found).toMatchObject({
        severity: 'blocker',
        evidence: { leftover: 2, nodes: 3, kept: 2 },
        consequence: { node: 'n1', pod: 'demo/p0', minute: 15 },
      });
      expect(found?.consequence.text).toContain('PodEvictionFailure after 15 minutes');
      expect(told(['n1', 'n2'], 2, true)[0]?.severity).toBe('warning');
    });
    it('says nothing where others can go, or none has to', () => {
      expect(told(['n1', 'n2'], 1)).toEqual([]);
      expect(told(['n1', 'n2'], 0)).toEqual([]);
    });
  });
});

describe('the minute at which it is told to bite', () => {
  it.each([
    [{ onTimeout: 'Fail' } as const, 0],
    [{ onTimeout: 'Force', forceAfterSeconds: 600 } as const, 10],
  ])('with %j is when its drain is over', (drain, later) => {
    const found = (more: Partial<Snapshot>) =>
      findingsOf(budgetNeverAllows, {
        ...more,
        pods: [aPod('p1')],
        budgets: [aBudget('b', 3, { spec: { maxUnavailable: 0 } })],
      })[0]?.consequence.minute ?? -99;
    const policies = policiesOf({}, { policies: { drain } }, 'SURGE');
    const group = aGroup({ strategy: 'SURGE' });
    expect(found({ group: { ...group, policies } })).toBe(18 + later);
  });
});
