// Scenarios of rolling updates from other tools' tests, as single decisions: each row of
// scripts/conformance-updates.ts by its id. updates-scenarios-courses.test.ts has those that run
// complete updates.

import { describe, expect, it } from 'vitest';
import { defined } from '../../src/api/defined.ts';
import type { UpdateStep } from '../../src/api/plan.ts';
import type { UpdatePacing } from '../../src/api/update-pacing.ts';
import {
  type BudgetLoad,
  decideUpdate,
  maxUnavailableOf,
  ownSurge,
  stepHolds,
} from '../../src/core/update/index.ts';
import { accountQuota } from '../../src/core/update/preflight/checks/account-quota.ts';
import { budgetMisconfigured } from '../../src/core/update/preflight/checks/budget-misconfigured.ts';
import { budgetNeverAllows } from '../../src/core/update/preflight/checks/budget-never-allows.ts';
import { severalBudgets } from '../../src/core/update/preflight/checks/several-budgets.ts';
import { aBudget, aNode, aPod, briefOf, findingsOf } from '../builders/core-update-preflight.ts';
import {
  aMember,
  draining,
  fresh,
  held,
  members,
  now,
  observe,
} from '../support/update-observations.ts';

const begun = (steps: readonly UpdateStep[]): readonly string[] =>
  steps.flatMap((step) =>
    step.kind === 'Lift' || step.kind === 'Replace' || step.kind === 'Retire'
      ? [step.instanceId]
      : [],
  );
const rolling = { strategy: 'SURGE', phase: 'Rolling' } as const;
const asEks = { strategy: 'DEFAULT', phase: 'Rolling' } as const;

describe('H3', () => {
  it('H3: of three nodes of which two are old, a surge of ten makes two', () => {
    expect(ownSurge(2, 1, 10)).toBe(2);
    expect(ownSurge(2, 3, 1)).toBe(2);
  });
});

describe('H5', () => {
  it.each([
    ['one', 1],
    ['all', 3],
  ])(
    'H5: begun again with %s of its new nodes made, it makes no more than it wanted',
    (_, made) => {
      const instances = [...members(3, 'old'), ...members(made, 'new', fresh)];
      const status = {
        strategy: 'SURGE',
        phase: 'ScalingUp',
        surge: 3,
        maxUnavailable: 3,
      } as const;
      const surge = { desired: 3, maxSize: 3 };
      const seen = observe(status, instances, { desired: 3, surge, actualDesired: 6 });
      const decided = decideUpdate(seen);
      expect(decided.surge).toEqual(surge);
      expect(begun(decided.steps)).toEqual([]);
      expect(decided.change?.phase).toBe(made === 3 ? 'Rolling' : undefined);
    },
  );
});

describe('H7', () => {
  const pass = (isReady: boolean): readonly string[] => {
    const instances = [...members(2, 'old'), aMember('new1', { ...fresh, isReady })];
    const seen = observe(rolling, instances, { desired: 3 });
    return begun(decideUpdate(seen).steps);
  };
  it('H7: after the first node no second one goes in any pass in which its replacement is not Ready', () => {
    const taken = [false, true, false, true, false].map((isReady) => pass(isReady).length);
    expect(taken).toEqual([0, 1, 0, 1, 0]);
  });
});

describe('H11', () => {
  it('H11: while a node that was asked before still leaves, no further one is taken', () => {
    const leaving = aMember('old3', { isCounted: false });
    // EKS' strategies mark all old nodes first; Drover's own marks each one just before its drain.
    for (const [status, marks] of [
      [rolling, {}],
      [asEks, held],
    ] as const) {
      const instances = [...members(2, 'old', marks), leaving, aMember('new1', fresh)];
      const seen = observe(status, instances, { desired: 3, actualDesired: 3 });
      expect(begun(decideUpdate(seen).steps)).toEqual([]);
    }
  });
});

describe('H13', () => {
  const groupNodes = (newReady: number) => [
    ...members(newReady, 'new', fresh),
    ...members(5 - newReady, 'late', { ...fresh, isReady: false }),
    ...members(3, 'old', held),
    ...members(2, 'gone', { ...held, isReady: false }),
  ];
  it('H13: with all new nodes Ready, one that serves no one goes first', () => {
    // The group's name seeds the random choice.
    for (const groupName of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const more = { desired: 5, actualDesired: 10, groupName };
      const decided = decideUpdate(observe(asEks, groupNodes(5), more));
      expect(begun(decided.steps)).toHaveLength(1);
      expect(begun(decided.steps)[0]).toMatch(/^i-gone/);
    }
  });
  it('H13: with new nodes missing, none that serves goes', () => {
    const decided = decideUpdate(observe(asEks, groupNodes(1), { desired: 5, actualDesired: 10 }));
    expect(begun(decided.steps).filter((id) => id.startsWith('i-old'))).toEqual([]);
  });
});

describe('H15', () => {
  it('H15: of ten old nodes thirty per cent are three at once', () => {
    expect(maxUnavailableOf({ maxUnavailablePercentage: 30 }, 10)).toBe(3);
    const instances = [...members(10, 'old', held), ...members(3, 'new', fresh)];
    const seen = observe({ ...asEks, maxUnavailable: 3 }, instances, { desired: 10 });
    expect(begun(decideUpdate(seen).steps)).toHaveLength(3);
  });
  it('H15: those that are under way count', () => {
    const instances = [
      ...members(7, 'old', held),
      ...members(3, 'out', draining),
      ...members(3, 'new', fresh),
    ];
    const seen = observe({ ...asEks, maxUnavailable: 3 }, instances, { desired: 10 });
    expect(begun(decideUpdate(seen).steps)).toEqual([]);
  });
});

describe('H17', () => {
  const load = (allowed: number): readonly BudgetLoad[] => [
    { budget: `default/allows-${allowed}`, pods: 1, allowed, recoveryMs: 1000 },
  ];
  it('H17: a node whose pods cannot go is left to the end, and the other goes', () => {
    // Its zone has more nodes, which alone would put it first.
    const stuck = aMember('stuck', { pods: 1, loads: load(0), zone: 'b' });
    for (const other of ['a', 'b', 'c', 'd']) {
      const free = aMember(other, { pods: 1, loads: load(1) });
      const instances = [stuck, free, aMember('new1', { ...fresh, zone: 'b' })];
      expect(begun(decideUpdate(observe(rolling, instances, { desired: 2 })).steps)).toEqual([
        `i-${other}`,
      ]);
    }
  });
});

describe('H19', () => {
  const two = [aBudget('b1', 3), aBudget('b2', 3)];
  const never = [aBudget('b', 3, { spec: { maxUnavailable: 0 } })];
  it('H19: a pod under two budgets, or under one that never allows, is a blocker', () => {
    const pods = [aPod('p1')];
    expect(briefOf(findingsOf(severalBudgets, { pods, budgets: two }))).toEqual([
      'blocker Pod demo/p1',
    ]);
    expect(briefOf(findingsOf(budgetNeverAllows, { pods, budgets: never }))).toEqual([
      'blocker PodDisruptionBudget demo/b',
    ]);
  });
  it.each([
    ['finished', aPod('p1', { phase: 'Succeeded' })],
    ['a mirror', aPod('p1', { annotations: { 'kubernetes.io/config.mirror': 'x' } })],
    ['of a DaemonSet', aPod('p1', { owner: 'DaemonSet/agent' })],
  ])('H19: a pod that is %s holds up nothing', (_, pod) => {
    expect(findingsOf(severalBudgets, { pods: [pod], budgets: two })).toEqual([]);
    expect(findingsOf(budgetNeverAllows, { pods: [pod], budgets: never })).toEqual([]);
  });
});

describe('H21', () => {
  const window = (cron: string, hours: number, timeZone?: string) => ({
    cron,
    durationSeconds: hours * 3600,
    ...defined({ timeZone }),
  });
  const open = window('0 11 * * *', 2);
  const over = window('0 9 * * *', 2);
  const year = { from: '2025-12-24T00:00:00Z', until: '2026-01-06T00:00:00Z' };
  // The time is noon, UTC, and a node can be drained.
  it.each<[string, UpdatePacing, number]>([
    ['a window that is hit in its middle', { windows: [open] }, 1],
    ['a window that is over', { windows: [over] }, 0],
    ['one that is longer than its recurrence', { windows: [window('0 22 * * *', 25)] }, 1],
    ['one by the clocks of Athens', { windows: [window('0 14 * * *', 1, 'Europe/Athens')] }, 1],
    ['the same by UTC', { windows: [window('0 14 * * *', 1)] }, 0],
    ['one that cannot be read', { windows: [window('0 25 * * *', 24)] }, 0],
    ['several of which one is open', { windows: [over, open] }, 1],
    ['a freeze beside one that is open', { windows: [open], freezes: [year] }, 0],
  ])('H21: with %s as many go as then may', (_, pacing, going) => {
    const instances = [...members(2, 'old'), aMember('new1', fresh)];
    const seen = observe(rolling, instances, { desired: 2 });
    const holds = stepHolds({ update: seen.update, pacing, now });
    expect(begun(decideUpdate({ ...seen, holds }).steps)).toHaveLength(going);
  });
});

describe('H23', () => {
  const cases = [
    { why: 'one may go', status: {}, found: [] },
    {
      why: 'one that went is the reason',
      status: { disruptionsAllowed: 0, disruptedPods: { a: '2026-01-01T00:00:00Z' } },
      found: [],
    },
    {
      why: 'one is missing',
      status: { disruptionsAllowed: 0, currentHealthy: 2 },
      found: ['warning PodDisruptionBudget demo/b'],
    },
    {
      why: 'all are healthy and none may go',
      status: { disruptionsAllowed: 0 },
      found: ['blocker PodDisruptionBudget demo/b'],
    },
  ] as const;
  it.each(cases)('H23: a budget of which $why', ({ status, found }) => {
    const budgets = [aBudget('b', 3, { status })];
    expect(briefOf(findingsOf(budgetMisconfigured, { pods: [aPod('p1')], budgets }))).toEqual(
      found,
    );
  });
  it('H23: a budget whose own rule never allows is reported as that', () => {
    const budgets = [aBudget('b', 3, { spec: { maxUnavailable: 0 } })];
    expect(findingsOf(budgetMisconfigured, { pods: [aPod('p1')], budgets })).toEqual([]);
    expect(findingsOf(budgetNeverAllows, { pods: [aPod('p1')], budgets })).toHaveLength(1);
  });
});

describe('H25', () => {
  const node = aNode('n1');
  const capacity = { ...node.node.status, capacity: { cpu: '1' } };
  const nodes = [{ ...node, node: { ...node.node, status: capacity } }];
  const quota = (used: number) => [
    {
      name: 'Running On-Demand Standard instances',
      code: 'L-1216C47A',
      unit: 'vCPU' as const,
      limit: 500,
      used,
    },
  ];
  it.each([
    [500, ['blocker Quota Running On-Demand Standard instances']],
    [100, []],
  ])('H25: with %i of 500 in use what the surge lacks is reported before', (used, found) => {
    expect(briefOf(findingsOf(accountQuota, { nodes, accountQuotas: quota(used) }))).toEqual(found);
  });
  it('H25: what an update makes first is never more than what it replaces', () => {
    expect(ownSurge(3, 3, 100)).toBe(3);
  });
});
