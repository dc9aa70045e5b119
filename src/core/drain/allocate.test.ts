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
import type { Allocation } from './allocate.ts';
import type { Drain } from './candidates.ts';
import { Ledger, retryAt } from './ledger.ts';
import { criticalLast } from './not-yet.ts';

/**
 * The outcome for one pod under its budgets: `token` or `bypass` when granted, else the blocker.
 */
const fate = (
  pod: PodOverrides,
  budgets: readonly BudgetOverrides[],
  more: Partial<Drain> = {},
): string => {
  const allocation = run({
    drains: [aDrain([aPod('p1', pod)], more)],
    budgets: budgets.map((budget, i) => aBudget(`b${i + 1}`, budget)),
    at: 1,
  });
  const [grant] = allocation.grants;
  if (grant?.kind === 'delete') return `delete ${grant.why}`;
  if (grant !== undefined) return grant.budgets.length > 0 ? 'token' : 'bypass';
  return kinds(allocation)[0] ?? 'nothing';
};

const none = { allowed: 0, healthy: 3, desired: 3 };
const pending: PodOverrides = { phase: 'Pending', ready: false };
const terminating: PodOverrides = { deletionTimestamp: kubeTimePlus(30) };

describe('allocate: what a real API server was seen to allow', () => {
  const rows: readonly [string, PodOverrides, readonly BudgetOverrides[], string][] = [
    ['no budget', {}, [], 'bypass'],
    ['a budget of another namespace', {}, [{ namespace: 'x', ...none }], 'bypass'],
    ['a budget that allows', {}, [{ allowed: 1 }], 'token'],
    ['a budget that is used up', {}, [none], 'pdb'],
    ['maxUnavailable 0', {}, [{ ...none, maxUnavailable: 0 }], 'pdb'],
    ['status of an older spec', {}, [{ allowed: 5, generation: 2, observed: 1 }], 'pdb'],
    ['pending, used up', pending, [none], 'bypass'],
    ['pending under two budgets', pending, [none, none], 'bypass'],
    ['terminating needs nothing', terminating, [none], 'termination'],
    ['terminating under two budgets', terminating, [none, none], 'termination'],
    ['ready while another is unready', {}, [{ ...none, healthy: 2, desired: 2 }], 'pdb'],
    [
      'unready, the rest is enough',
      { ready: false },
      [{ ...none, healthy: 2, desired: 2 }],
      'bypass',
    ],
    [
      'unready, the rest is not enough',
      { ready: false },
      [{ ...none, healthy: 0, desired: 1 }],
      'pdb',
    ],
    [
      'unready, AlwaysAllow',
      { ready: false },
      [{ ...none, healthy: 0, desired: 1, policy: 'AlwaysAllow' }],
      'bypass',
    ],
    ['ready, AlwaysAllow', {}, [{ ...none, policy: 'AlwaysAllow' }], 'pdb'],
    [
      'unready, AlwaysAllow and a second budget',
      { ready: false },
      [{ ...none, policy: 'AlwaysAllow' }, none],
      'multiplePdbs',
    ],
    ['two budgets that both allow', {}, [{ allowed: 1 }, { allowed: 1 }], 'multiplePdbs'],
    [
      'unready, healthy enough by a status that is not current',
      { ready: false },
      [{ ...none, generation: 2, observed: 1 }],
      'pdb',
    ],
  ];
  it.each(rows)('%s', (_name, pod, budgets, expected) => {
    expect(fate(pod, budgets)).toBe(expected);
  });
});

describe('allocate: tokens', () => {
  it('grants no more than the budget offers, over all drains that share it', () => {
    const a = aDrain([aPod('a1'), aPod('a2')], { id: 'i-a' });
    const b = aDrain([aPod('b1'), aPod('b2')], { id: 'i-b' });
    const allocation = run({ drains: [a, b], budgets: [aBudget('web', { allowed: 2 })] });
    expect(names(allocation)).toEqual(['a1', 'a2']);
    expect(kinds(allocation, 'i-b')).toEqual(['pdb', 'pdb']);
  });

  const sendAll = (ledger: Ledger, allocation: Allocation, at = 0): void => {
    for (const grant of allocation.grants) {
      const how = grant.kind;
      ledger.sent(
        { ...grant, how, emulated: how === 'delete' && grant.why === 'emulate' },
        tPlus(at),
      );
    }
  };

  it('holds the token until the watch shows the pod in disruptedPods', () => {
    const ledger = new Ledger();
    const drains = [aDrain(pods(3))];
    const before = aBudget('web', { allowed: 1 });
    const first = run({ drains, budgets: [before], ledger });
    expect(names(first)).toEqual(['p1']);
    sendAll(ledger, first);
    expect(names(run({ drains, budgets: [before], ledger }))).toEqual([]);
    ledger.succeeded('uid-p1', tPlus(0.02), 'done');
    // The answer alone frees nothing: the cached status is still the old one.
    expect(names(run({ drains, budgets: [before], ledger }))).toEqual([]);
    const shown = aBudget('web', { allowed: 0, disrupted: ['p1'], resourceVersion: '2' });
    ledger.observeBudget(shown);
    expect(names(run({ drains, budgets: [shown], ledger }))).toEqual([]);
    const free = aBudget('web', { allowed: 1, resourceVersion: '3' });
    expect(names(run({ drains, budgets: [free], ledger }))).toEqual(['p2']);
  });
  it('is not freed by the entry of an older pod of the same name', () => {
    const ledger = new Ledger();
    const older = aBudget('web', { allowed: 1, disrupted: ['p1'], disruptedAt: -2 });
    ledger.observeBudget(older);
    const drains = [aDrain(pods(2))];
    sendAll(ledger, run({ drains, budgets: [older], ledger }));
    // Another change moved the budget; it does not show the eviction of this p1 yet.
    const again = aBudget('web', { ...{ allowed: 1, disrupted: ['p1'], disruptedAt: -2 } });
    ledger.observeBudget(again);
    expect(names(run({ drains, budgets: [again], ledger }))).toEqual([]);
    const shown = aBudget('web', { allowed: 1, disrupted: ['p1'], disruptedAt: 0 });
    ledger.observeBudget(shown);
    expect(names(run({ drains, budgets: [shown], ledger }))).toEqual(['p2']);
  });
  it('frees the token at once when the eviction failed', () => {
    const ledger = new Ledger();
    const drains = [aDrain(pods(2))];
    const budgets = [aBudget('web', { allowed: 1 })];
    sendAll(ledger, run({ drains, budgets, ledger }));
    ledger.failed('uid-p1', tPlus(0), { code: 'ServerError', message: 'x', retryAfterMs: 0 });
    expect(names(run({ drains, budgets, ledger }))).toEqual(['p2']);
  });
  it('keeps the token of a call whose answer was lost, for five seconds', () => {
    const ledger = new Ledger();
    const drains = [aDrain(pods(2))];
    const budgets = [aBudget('web', { allowed: 1 })];
    sendAll(ledger, run({ drains, budgets, ledger }));
    ledger.failed('uid-p1', tPlus(0), { code: 'Unreachable', message: 'x', retryAfterMs: 0 });
    expect(names(run({ drains, budgets, ledger, at: 4 }))).toEqual([]);
    ledger.settle(tPlus(5));
    expect(names(run({ drains, budgets, ledger, at: 5 }))).toEqual(['p1']);
  });
  it('evicts a pod again that still looks alive half a minute later', () => {
    const ledger = new Ledger();
    const drains = [aDrain(pods(1))];
    sendAll(ledger, run({ drains, ledger }));
    ledger.succeeded('uid-p1', tPlus(0), 'done');
    ledger.settle(tPlus(29));
    expect(names(run({ drains, ledger, at: 29 }))).toEqual([]);
    ledger.settle(tPlus(30));
    expect(names(run({ drains, ledger, at: 30 }))).toEqual(['p1']);
  });
  it.each([
    ['2 of 10 tokens', 10, 2],
    ['4 of 45', 45, 4],
    ['8 of 200', 200, 8],
  ])('has %s on their way at a time', (_name, allowed, sent) => {
    const budgets = [aBudget('web', { allowed })];
    expect(run({ drains: [aDrain(pods(60))], budgets }).grants).toHaveLength(sent);
  });
  it('never has more than 16 on their way on one budget, nor 64 in the cluster', () => {
    const budgets = [aBudget('web', { allowed: 100 })];
    const limits = { perBudgetInFlight: 50 };
    expect(run({ drains: [aDrain(pods(60))], budgets, limits }).grants).toHaveLength(16);
    expect(run({ drains: [aDrain(pods(100))] }).grants).toHaveLength(64);
  });
  it('sends nothing for a drain whose marks are not visible yet', () => {
    expect(names(run({ drains: [aDrain(pods(3), { mayEvict: false })] }))).toEqual([]);
  });
  it('explains tokens that a refused eviction burnt until they come back', () => {
    const ledger = new Ledger();
    const drains = [aDrain(pods(2))];
    sendAll(ledger, run({ drains, budgets: [aBudget('web')], ledger }));
    const gone = { code: 'PreconditionFailed', message: 'uid', retryAfterMs: 0 };
    ledger.failed('uid-p1', tPlus(0), gone);
    const burnt = aBudget('web', { allowed: 0, disrupted: ['p1'], resourceVersion: '2' });
    const held = run({ drains: [aDrain([aPod('p2')])], budgets: [burnt], ledger, at: 1 });
    expect(held.blockers.get('i-1')).toEqual([
      { kind: 'budgetHeld', pod: 'demo/p2', budget: 'demo/web', until: timePlus(120) },
    ]);
    ledger.settle(tPlus(120));
    expect(kinds(run({ drains, budgets: [burnt], ledger, at: 121 }))).toEqual(['pdb', 'pdb']);
  });
});

describe('allocate: refusals and errors', () => {
  const refused = (code: string, retryAfterMs = 0): Ledger => {
    const ledger = new Ledger();
    const [pod] = pods(1);
    if (pod === undefined) throw new Error('no pod');
    const versions = { 'demo/web': '1' };
    const ref = { namespace: 'demo', name: 'p1', uid: 'uid-p1' };
    const sent = { drain: 'i-1', pod: ref, budgets: ['demo/web'], budgetVersions: versions };
    ledger.sent({ ...sent, how: 'evict', emulated: false }, tPlus(0));
    ledger.failed('uid-p1', tPlus(0), { code, message: 'said no', retryAfterMs });
    return ledger;
  };
  const drains = [aDrain(pods(1))];

  it('waits after a 429 until the budget moves, not for the clock', () => {
    const ledger = refused('DisruptionBudget');
    const same = run({ drains, budgets: [aBudget('web')], ledger });
    expect(same.blockers.get('i-1')?.[0]).toMatchObject({ kind: 'pdb', message: 'said no' });
    const moved = run({ drains, budgets: [aBudget('web', { resourceVersion: '2' })], ledger });
    expect(names(moved)).toEqual(['p1']);
  });
  it('tries again by the clock when nothing was seen to move but a token is there', () => {
    const ledger = refused('DisruptionBudget');
    expect(names(run({ drains, budgets: [aBudget('web')], ledger, at: 1.1 }))).toEqual(['p1']);
    const used = [aBudget('web', none)];
    expect(names(run({ drains, budgets: used, ledger, at: 100 }))).toEqual([]);
  });
  it('waits after a 429 of a pod that took no token too: the server saw it Ready, we do not yet', () => {
    const ledger = new Ledger();
    const unready = aPod('p1', { ready: false });
    const input = { drains: [aDrain([unready])], budgets: [aBudget('web', none)], ledger };
    const [grant] = run(input).grants;
    if (grant === undefined) throw new Error('an unready pod needs no token');
    ledger.sent({ ...grant, how: 'evict', emulated: false }, tPlus(0));
    const report = { code: 'DisruptionBudget', message: 'said no', retryAfterMs: 0 };
    ledger.failed('uid-p1', tPlus(0), report);
    expect(names(run({ ...input, at: 0.1 }))).toEqual([]);
    expect(names(run({ ...input, at: 1.1 }))).toEqual(['p1']);
  });
  it('waits out any other error whatever the budget does, and names it', () => {
    const ledger = refused('NamespaceTerminating');
    const budgets = [aBudget('web', { resourceVersion: '2' })];
    const waiting = run({ drains, budgets, ledger, at: 0.5 });
    expect(waiting.blockers.get('i-1')?.[0]).toMatchObject({
      kind: 'evictionError',
      code: 'NamespaceTerminating',
      since: timePlus(0),
    });
    expect(waiting.nextCheckAt).toBeLessThanOrEqual(tPlus(1));
    expect(names(run({ drains, budgets, ledger, at: 1 }))).toEqual(['p1']);
  });
  it('honours what the server asked to wait', () => {
    const ledger = refused('TooManyRequests', 10_000);
    const budgets = [aBudget('web', { resourceVersion: '2' })];
    expect(names(run({ drains, budgets, ledger, at: 9 }))).toEqual([]);
    expect(names(run({ drains, budgets, ledger, at: 10 }))).toEqual(['p1']);
  });
  it('doubles its wait from 1 s to 30 s, the same for the same pod and attempt', () => {
    const failure = refused('ServerError').failures.get('uid-p1');
    if (failure === undefined) throw new Error('no failure');
    const waits = [1, 2, 3, 4, 5, 6, 7, 20].map(
      (attempts) => retryAt({ ...failure, attempts }) - failure.at,
    );
    const full = [1, 2, 4, 8, 16, 30, 30, 30].map((seconds) => seconds * 1000);
    waits.forEach((wait, i) => {
      expect(wait).toBeLessThanOrEqual(full[i] ?? 0);
      expect(wait).toBeGreaterThanOrEqual((full[i] ?? 0) * 0.8);
    });
    expect(retryAt(failure)).toBe(retryAt({ ...failure }));
  });
});

describe('allocate: order', () => {
  it('sends what needs no token first, then singletons, then long graces', () => {
    const drain = aDrain([
      aPod('short'),
      aPod('long', { graceSeconds: 300 }),
      aPod('only', { labels: { app: 'one' } }),
      aPod('starting', { ...pending, labels: { app: 'none' } }),
    ]);
    const one = { matchLabels: { app: 'one' } };
    const budgets = [
      aBudget('one', { selector: one, expected: 1 }),
      aBudget('none', { selector: { matchLabels: { app: 'none' } }, ...none }),
    ];
    expect(names(run({ drains: [drain], budgets }))).toEqual(['starting', 'only', 'long', 'short']);
  });
  it('gives a token to the drain whose deadline is nearest', () => {
    const late = aDrain([aPod('p1')], { id: 'i-1', window: aWindow(900) });
    const spot = aDrain([aPod('p2')], { id: 'i-2', window: aWindow(120, { safetyMs: 5_000 }) });
    const manual = aDrain([aPod('p0')], { id: 'i-0' });
    expect(names(run({ drains: [manual, late, spot], budgets: [aBudget('web')] }))).toEqual(['p2']);
  });

  const critical: PodOverrides = { priorityClassName: 'system-cluster-critical' };
  const waits = { startedAt: tPlus(0), tiers: criticalLast };
  it('evicts workloads and critical pods together unless tiers are on', () => {
    const drains = [aDrain([aPod('dns', critical), aPod('web')])];
    expect(names(run({ drains }))).toEqual(['dns', 'web']);
    const tiered = run({ drains: [aDrain([aPod('dns', critical), aPod('web')], { waits })] });
    expect(names(tiered)).toEqual(['web']);
    expect(kinds(tiered)).toEqual(['tier']);
  });
  it('keeps the next tier waiting until the previous is fully gone', () => {
    const dying = aPod('web', terminating);
    const still = run({ drains: [aDrain([aPod('dns', critical), dying], { waits })] });
    expect(names(still)).toEqual([]);
    const alone = aDrain([aPod('dns', critical)], { waits });
    expect(names(run({ drains: [alone] }))).toEqual(['dns']);
  });
  it('lets a pod past its forced time jump its tier', () => {
    const drains = [
      aDrain([aPod('dns', critical), aPod('web', terminating)], {
        window: aWindow(900),
        forcing: true,
        waits,
      }),
    ];
    expect(names(run({ drains, at: 860 }))).toContain('delete dns');
  });
});
