import { describe, expect, it } from 'vitest';
import {
  aBudget,
  aDrain,
  aPod,
  aWindow,
  kinds,
  names,
  type PodOverrides,
  pods,
  run,
  timePlus,
  tPlus,
} from '../../../test/builders/core-drain.ts';
import { durationMs } from '../../api/brand.ts';
import type { Grant } from './allocate.ts';
import { Ledger } from './ledger.ts';
import { denialOf, movesItself } from './self-moving.ts';

const every = durationMs(60_000);
const kafka: PodOverrides = { labels: { app: 'web', 'strimzi.io/kind': 'Kafka' } };
const shut = { allowed: 0, healthy: 3, desired: 3, maxUnavailable: 0 };
const denies = 'evict pod demo/p1: admission webhook "movers.example.com" denied the request';
const denial = { code: 'TooManyRequests', message: `${denies}: it moves`, retryAfterMs: 0 };
const refusal = { code: 'DisruptionBudget', message: 'needs 3 healthy pods', retryAfterMs: 0 };

describe('movesItself', () => {
  const selector = { podSelector: { matchLabels: { team: 'db' } }, requestEveryMs: every };
  const on = { annotations: { 'drover.dev/moves-itself': 'true' } };
  const off = { 'drover.dev/moves-itself': 'false' };
  const rows: readonly [string, PodOverrides, boolean][] = [
    ['any pod', {}, false],
    ['a broker of Strimzi', kafka, true],
    ['a virtual machine of KubeVirt', { labels: { 'kubevirt.io': 'virt-launcher' } }, true],
    ['a pod of the selector', { labels: { team: 'db' } }, true],
    ['an annotated pod', on, true],
    ['a pod of the selector that is excepted', { labels: { team: 'db' }, annotations: off }, false],
    ['a broker that is excepted', { ...kafka, annotations: off }, false],
  ];
  it.each(rows)('%s', (_name, pod, expected) => {
    expect(movesItself(aPod('p1', pod), selector)).toBe(expected);
  });
});

describe('denialOf', () => {
  const rows: readonly [string, string, ReturnType<typeof denialOf>][] = [
    ['with words', denial.message, { webhook: 'movers.example.com', message: 'it moves' }],
    ['none', `${denies} without explanation`, { webhook: 'movers.example.com', message: '' }],
    ['an outage', 'failed calling webhook "movers.example.com": no endpoints', undefined],
    ['a budget', refusal.message, undefined],
  ];
  it.each(rows)('%s', (_name, message, expected) => {
    expect(denialOf({ message })).toEqual(expected);
  });
});

/** Sends what is granted at `at` and records the answer. */
const answer = (ledger: Ledger, grants: readonly Grant[], at: number, how: typeof denial): void => {
  for (const grant of grants) {
    ledger.sent({ ...grant, how: grant.kind, emulated: false }, tPlus(at));
    ledger.failed(grant.pod.uid, tPlus(at), how);
  }
};

describe('allocate: applications that move themselves', () => {
  it('are asked once at the start, behind a budget of 0, and then once per minute', () => {
    const ledger = new Ledger();
    const at = (seconds: number, version = '1') =>
      run({
        drains: [aDrain([aPod('p1', kafka)])],
        budgets: [aBudget('web', { ...shut, resourceVersion: version })],
        ledger,
        at: seconds,
      });
    const first = at(0);
    expect(first.grants).toMatchObject([{ kind: 'evict', isSignal: true, budgets: ['demo/web'] }]);
    answer(ledger, first.grants, 0, refusal);
    // Another version of the budget, as other pods cause it, is no reason to ask again.
    const waiting = at(59, '7');
    expect(names(waiting)).toEqual([]);
    expect(waiting.nextCheckAt).toBe(tPlus(60));
    expect(waiting.blockers.get('i-1')).toEqual([
      {
        kind: 'selfMoving',
        pod: 'demo/p1',
        budgets: ['demo/web'],
        owner: 'ReplicaSet/web',
        message: 'needs 3 healthy pods',
        requests: 1,
        since: timePlus(0),
        requestAgainAt: timePlus(60),
      },
    ]);
    const second = at(60);
    expect(names(second)).toEqual(['p1']);
    const {
      grants: [again],
    } = second;
    if (again !== undefined) ledger.sent({ ...again, how: 'evict', emulated: false }, tPlus(60));
    expect(kinds(at(60))).toEqual(['selfMoving']);
    answer(ledger, second.grants, 60, refusal);
    expect(at(61).blockers.get('i-1')).toMatchObject([{ requests: 2, since: timePlus(0) }]);
  });

  it('take no token of another pod, and are evicted when their budget opens', () => {
    const ledger = new Ledger();
    const drains = [aDrain([aPod('p1', kafka), aPod('p2')])];
    const first = run({ drains, budgets: [aBudget('web', shut)], ledger });
    expect(names(first)).toEqual(['p1']);
    expect(kinds(first)).toEqual(['pdb']);
    answer(ledger, first.grants, 0, refusal);
    const open = run({ drains, budgets: [aBudget('web', { allowed: 1 })], ledger, at: 5 });
    expect(open.grants).toMatchObject([{ pod: { name: 'p1' }, isSignal: false }]);
  });

  it('are learned from the denial of a webhook, and asked at the pace of the policy', () => {
    const ledger = new Ledger();
    const selfMoving = { requestEveryMs: durationMs(20_000) };
    const drains = [aDrain([aPod('p1')], { selfMoving })];
    const first = run({ drains, ledger });
    expect(first.grants).toMatchObject([{ isSignal: false }]);
    answer(ledger, first.grants, 0, denial);
    const waiting = run({ drains, ledger, at: 19 });
    expect(names(waiting)).toEqual([]);
    const named = { webhook: 'movers.example.com', message: 'it moves', requests: 1 };
    expect(waiting.blockers.get('i-1')).toMatchObject([{ kind: 'selfMoving', ...named }]);
    expect(run({ drains, ledger, at: 20 }).grants).toMatchObject([{ isSignal: true }]);
  });

  it('are asked under two budgets, and forced like any pod at the deadline', () => {
    const two = [aBudget('a', shut), aBudget('b', shut)];
    const ledger = new Ledger();
    const drain = (forcing: boolean) =>
      aDrain([aPod('p1', kafka)], { window: aWindow(900), forcing });
    const first = run({ drains: [drain(false)], budgets: two, ledger });
    expect(first.grants).toMatchObject([{ kind: 'evict', isSignal: true }]);
    answer(ledger, first.grants, 0, { ...refusal, code: 'MultipleBudgets' });
    expect(kinds(run({ drains: [drain(false)], budgets: two, ledger, at: 1 }))).toEqual([
      'selfMoving',
    ]);
    expect(names(run({ drains: [drain(true)], budgets: two, ledger, at: 870 }))).toEqual([
      'delete p1',
    ]);
  });

  it('have places of their own: a slow webhook holds up no eviction', () => {
    const ledger = new Ledger();
    const movers = Array.from({ length: 20 }, (_, i) =>
      aPod(`m${i}`, { labels: { app: `m${i}`, 'strimzi.io/kind': 'Kafka' } }),
    );
    const budgets = movers.map(({ metadata: { name } }) =>
      aBudget(name, { ...shut, selector: { matchLabels: { app: name } } }),
    );
    const drains = [aDrain([...movers, ...pods(3, { labels: { app: 'other' } })])];
    const first = run({ drains, budgets, ledger, limits: { clusterInFlight: 2 } });
    const signals = first.grants.filter((grant) => grant.kind === 'evict' && grant.isSignal);
    expect([signals.length, first.grants.length]).toEqual([16, 18]);
    for (const grant of first.grants) {
      ledger.sent({ ...grant, how: grant.kind, emulated: false }, tPlus(0));
    }
    const second = run({ drains, budgets, ledger, limits: { clusterInFlight: 3 }, at: 1 });
    expect(second.grants).toMatchObject([{ isSignal: false }]);
  });

  it('are retried as usual when the request did not reach them', () => {
    const ledger = new Ledger();
    const drains = [aDrain([aPod('p1', kafka)])];
    const budgets = [aBudget('web', shut)];
    const outage = { code: 'ServerError', message: 'failed calling webhook', retryAfterMs: 0 };
    answer(ledger, run({ drains, budgets, ledger }).grants, 0, outage);
    expect(kinds(run({ drains, budgets, ledger, at: 0.5 }))).toEqual(['evictionError']);
    expect(names(run({ drains, budgets, ledger, at: 2 }))).toEqual(['p1']);
  });
});
