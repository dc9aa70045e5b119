import { describe, expect, it } from 'vitest';
import {
  aBudget,
  aDrain,
  aPod,
  aWindow,
  type BudgetOverrides,
  kinds,
  kubeTimePlus,
  names,
  type PodOverrides,
  pods,
  run,
  timePlus,
  tPlus,
} from '../../../test/builders/core-drain.ts';
import type { Drain } from './candidates.ts';
import { Ledger } from './ledger.ts';

const none = { allowed: 0, healthy: 3, desired: 3 };
const terminating: PodOverrides = { deletionTimestamp: kubeTimePlus(30) };

describe('allocate: two budgets on one pod', () => {
  const budgets = [aBudget('a'), aBudget('b')];
  const limits = { multiBudget: 'emulate' as const };
  const drains = [aDrain(pods(2))];

  it('deletes with uid and resourceVersion, one at a time, when both allow', () => {
    const [grant, ...others] = run({ drains, budgets, limits }).grants;
    expect(others).toEqual([]);
    expect(grant).toMatchObject({
      kind: 'delete',
      why: 'emulate',
      resourceVersion: '1',
      budgets: ['demo/a', 'demo/b'],
      pod: { uid: 'uid-p1' },
    });
    expect(grant).not.toHaveProperty('graceSeconds');
  });
  it.each([
    ['one allows nothing', [aBudget('a'), aBudget('b', none)]],
    ['one is not current', [aBudget('a'), aBudget('b', { generation: 2, observed: 1 })]],
  ])('waits while %s', (_name, some) => {
    const allocation = run({ drains, budgets: some, limits });
    expect(names(allocation)).toEqual([]);
    expect(kinds(allocation)).toEqual(['multiplePdbs', 'multiplePdbs']);
  });
  it('waits until both statuses moved after the pod was seen leaving', () => {
    const ledger = new Ledger();
    const rich = [aBudget('a', { allowed: 5 }), aBudget('b', { allowed: 5 })];
    for (const grant of run({ drains, budgets: rich, limits }).grants) {
      ledger.sent({ ...grant, how: 'delete', emulated: true }, tPlus(0));
    }
    ledger.succeeded('uid-p1', tPlus(0), 'done');
    const [, b] = rich;
    if (b === undefined) throw new Error('no budget');
    const dying = [aDrain([aPod('p1', terminating), aPod('p2')])];
    const next = () => names(run({ drains: dying, budgets: rich, limits, ledger }));
    ledger.observeBudget(aBudget('a'));
    expect(next()).toEqual([]);
    ledger.observePod(aPod('p1', terminating), false);
    ledger.observeBudget(aBudget('a'));
    expect(next()).toEqual([]);
    ledger.observeBudget(b);
    expect(next()).toEqual(['delete p2']);
  });
});

describe('allocate: last replicas without a budget', () => {
  const limits = { holdLastReplicas: true };
  it('go one at a time until a replacement is Ready', () => {
    const drains = [aDrain(pods(3))];
    const first = run({ drains, limits, readyElsewhere: 0 });
    expect(names(first)).toEqual(['p1']);
    expect(kinds(first)).toEqual(['replacement', 'replacement']);
    const dying = [aDrain([aPod('p1', terminating), aPod('p2')])];
    expect(names(run({ drains: dying, limits, readyElsewhere: 0 }))).toEqual([]);
    expect(names(run({ drains: dying, limits, readyElsewhere: 1 }))).toEqual(['p2']);
  });
  it('go together by default', () => {
    expect(run({ drains: [aDrain(pods(3))], readyElsewhere: 0 }).grants).toHaveLength(3);
  });
});

describe('allocate: force', () => {
  const blocked = [aBudget('web', none)];
  const forced = (at: number, more: Partial<Drain> = {}) =>
    run({
      drains: [aDrain(pods(1), { window: aWindow(900), forcing: true, ...more })],
      budgets: blocked,
      at,
    });

  it('deletes a blocked pod at its forced time and not before', () => {
    expect(names(forced(859.999))).toEqual([]);
    expect(forced(859.999).nextCheckAt).toBe(tPlus(860));
    expect(forced(860).grants[0]).toMatchObject({
      kind: 'delete',
      why: 'deadline',
      graceSeconds: 30,
      budgets: [],
    });
  });
  it('says in every blocker when it is forced', () => {
    expect(forced(1).blockers.get('i-1')?.[0]).toMatchObject({ forceAt: timePlus(860) });
  });
  it('forces nothing before the intent stands in the status', () => {
    expect(names(forced(870, { forcing: false }))).toEqual([]);
  });
  it('forces nothing when the drain fails at its deadline instead', () => {
    expect(names(forced(2000, { window: aWindow(900, { onDeadline: 'fail' }) }))).toEqual([]);
  });
  it('forces a pod under two budgets too', () => {
    const drains = [aDrain(pods(1), { window: aWindow(900), forcing: true })];
    const budgets = [aBudget('a'), aBudget('b')];
    expect(names(run({ drains, budgets, at: 860 }))).toEqual(['delete p1']);
  });
  type Row = readonly [string, 'evict' | 'delete', boolean, PodOverrides, readonly string[]];
  const late = { graceSeconds: 3600, deletionTimestamp: kubeTimePlus(3600) };
  const held: readonly Row[] = [
    ['a failed eviction does not hold up the first deletion', 'evict', false, {}, ['delete p1']],
    ['nor does an emulated one', 'delete', true, {}, ['delete p1']],
    ['nor does it hold up a shorter grace', 'evict', false, late, ['delete p1']],
    ['a failed deletion waits', 'delete', false, {}, []],
    ['and so does a failed shortening', 'delete', false, late, []],
  ];
  it.each(held)('%s', (_name, how, emulated, pod, expected) => {
    const ledger = new Ledger();
    const drain = aDrain([aPod('p1', pod)], { window: aWindow(900), forcing: true });
    const ref = { namespace: 'demo', name: 'p1', uid: 'uid-p1' };
    const sent = { drain: 'i-1', pod: ref, how, budgets: [], emulated, budgetVersions: {} };
    ledger.sent(sent, tPlus(869));
    ledger.failed('uid-p1', tPlus(869), {
      code: 'TooManyRequests',
      message: 'later',
      retryAfterMs: 30_000,
    });
    expect(names(run({ drains: [drain], budgets: blocked, ledger, at: 870 }))).toEqual(expected);
  });
  it('shortens the grace of a pod that would outlive the deadline', () => {
    const dying = aPod('p1', { graceSeconds: 3600, deletionTimestamp: kubeTimePlus(3600) });
    const drains = [aDrain([dying], { window: aWindow(900), forcing: true })];
    expect(names(run({ drains, at: 439 }))).toEqual([]);
    expect(run({ drains, at: 440 }).grants[0]).toMatchObject({ why: 'shorten', graceSeconds: 450 });
  });
});

describe('allocate: why a pod is still there', () => {
  const why = (pod: PodOverrides, at: number) =>
    run({ drains: [aDrain([aPod('p1', pod)])], at }).blockers.get('i-1')?.[0];
  const dying = { deletionTimestamp: kubeTimePlus(30), deletionGracePeriodSeconds: 30 };

  it.each([
    ['within its grace', dying, 20, 'grace'],
    ['late, but not stuck yet', dying, 90, 'grace'],
    ['its kubelet does not answer', dying, 91, 'kubelet'],
    ['finalizers hold it', { ...dying, finalizers: ['x/y'] }, 91, 'finalizers'],
  ])('%s', (_name, pod, at, expected) => {
    expect(why(pod, at)).toMatchObject({ kind: 'termination', why: expected, since: timePlus(0) });
  });

  const message = (budget: BudgetOverrides) =>
    run({ drains: [aDrain(pods(1))], budgets: [aBudget('web', budget)] }).blockers.get('i-1')?.[0];
  it('uses the server’s words for a budget that needs more healthy pods', () => {
    expect(message({ allowed: 0, healthy: 2, desired: 2, expected: 2, minAvailable: 2 })).toEqual({
      kind: 'pdb',
      pod: 'demo/p1',
      budgets: ['demo/web'],
      owner: 'ReplicaSet/web',
      message: 'The disruption budget web needs 2 healthy pods and has 2 currently',
      neverAllows: false,
      freedBy: 'scaleUp',
    });
  });
  it('names a pod whose eviction was granted and not carried out: the budget counts it as gone', () => {
    const granted = { allowed: 0, healthy: 1, desired: 1, expected: 2, disrupted: ['p1'] };
    expect(message({ ...granted, maxUnavailable: 1 })).toMatchObject({
      message:
        'The disruption budget web needs 1 healthy pods and has 1 currently; for two minutes at ' +
        `most it counts as gone, with an eviction granted: p1 (granted at ${timePlus(0)})`,
      neverAllows: false,
    });
  });
  it('tells a budget that never allows from one that is busy or lagging', () => {
    expect(message({ ...none, maxUnavailable: 0 })).toMatchObject({ neverAllows: true });
    expect(message({ allowed: 0, healthy: 4, desired: 3 })).toMatchObject({
      message: 'The disruption budget web has given its evictions to other pods for now',
    });
    expect(message({ generation: 2, observed: 1 })).toMatchObject({
      message: 'The disruption budget web is still being processed',
    });
  });
});
