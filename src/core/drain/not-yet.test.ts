import { describe, expect, it } from 'vitest';
import {
  aBudget,
  aDrain,
  aPod,
  aWindow,
  kinds,
  kubeTimePlus,
  names,
  type PodOverrides,
  run,
  timePlus,
  tPlus,
} from '../../../test/builders/core-drain.ts';
import type { DrainTier } from '../../api/drain-policy.ts';
import type { Drain } from './candidates.ts';
import { protectionOf } from './do-not-evict.ts';
import { criticalPriority } from './pods.ts';

const karpenter = 'karpenter.sh/do-not-disrupt';
const autoscaler = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
const ours = 'drover.dev/do-not-evict';
const job: PodOverrides = { owner: 'Job/work' };

describe('protectionOf', () => {
  const rows: readonly [string, Readonly<Record<string, string>>, string | undefined][] = [
    ['no annotation', {}, undefined],
    ['Karpenter’s', { [karpenter]: 'true' }, karpenter],
    ['Karpenter’s for a time', { [karpenter]: '1h30m' }, karpenter],
    ['Karpenter’s switched off', { [karpenter]: 'false' }, undefined],
    ['Karpenter’s without a meaning', { [karpenter]: 'yes please' }, undefined],
    ['cluster-autoscaler’s', { [autoscaler]: 'false' }, autoscaler],
    ['cluster-autoscaler’s switched off', { [autoscaler]: 'true' }, undefined],
    ['ours, before all others', { [karpenter]: 'true', [ours]: '5m' }, ours],
  ];
  it.each(rows)('%s', (_name, annotations, expected) => {
    expect(protectionOf(aPod('p1', { annotations }))?.annotation).toBe(expected);
  });
});

describe('allocate: pods whose turn has not come', () => {
  const waits = {
    startedAt: tPlus(0),
    tiers: [],
    doNotEvictUntil: tPlus(300),
    jobsUntil: tPlus(200),
  };
  const guarded: PodOverrides = { annotations: { [karpenter]: 'true' } };
  const at = (pod: PodOverrides, seconds: number, more: Partial<Drain> = {}) =>
    run({ drains: [aDrain([aPod('p1', pod)], { waits, ...more })], at: seconds });

  it('waits for a pod that must not be evicted, names the annotation, then evicts it', () => {
    const before = at(guarded, 299);
    expect(before.grants).toEqual([]);
    expect(before.nextCheckAt).toBe(tPlus(300));
    expect(before.blockers.get('i-1')).toEqual([
      {
        kind: 'doNotEvict',
        pod: 'demo/p1',
        owner: 'ReplicaSet/web',
        annotation: `${karpenter}=true`,
        until: timePlus(300),
      },
    ]);
    expect(names(at(guarded, 300))).toEqual(['p1']);
  });
  it('ends the wait with the time that the annotation states, from the start of the pod', () => {
    const short = { annotations: { [ours]: '10m' }, createdAt: kubeTimePlus(-550) };
    expect(kinds(at(short, 49))).toEqual(['doNotEvict']);
    expect(names(at(short, 50))).toEqual(['p1']);
  });
  it('waits for a pod of a Job, by its own bound, and not for other pods', () => {
    const before = at(job, 199);
    expect(before.blockers.get('i-1')).toMatchObject([{ kind: 'job', until: timePlus(200) }]);
    expect(before.nextCheckAt).toBe(tPlus(200));
    expect(names(at(job, 200))).toEqual(['p1']);
    expect(names(at({}, 0))).toEqual(['p1']);
  });
  it('waits for the annotation of a Job’s pod after the wait for Jobs', () => {
    expect(kinds(at({ ...guarded, ...job }, 250))).toEqual(['doNotEvict']);
    expect(names(at({ ...guarded, ...job }, 300))).toEqual(['p1']);
  });
  it('forces such pods when their time has come, whatever they wait for', () => {
    const late = { window: aWindow(100), forcing: true };
    expect(kinds(at(guarded, 59, late))).toEqual(['doNotEvict']);
    expect(names(at(guarded, 60, late))).toEqual(['delete p1']);
    expect(names(at(job, 60, late))).toEqual(['delete p1']);
  });
  it('waits for nothing where no wait is set', () => {
    const none = { waits: { startedAt: tPlus(0), tiers: [] } };
    expect(names(at({ ...guarded, ...job }, 0, none))).toEqual(['p1']);
  });
});

describe('allocate: tiers', () => {
  const tiers: readonly DrainTier[] = [
    { priority: 0, waitSeconds: 120 },
    { priority: 1000, waitSeconds: 60 },
    { priority: criticalPriority },
  ];
  const batch = aPod('batch', { priority: -10 });
  const web = aPod('web', { priority: 500 });
  const api = aPod('api', { priority: 1000 });
  const dns = aPod('dns', { priorityClassName: 'system-cluster-critical' });
  const at = (pods: readonly ReturnType<typeof aPod>[], seconds: number, some = tiers) =>
    run({
      drains: [aDrain(pods, { waits: { startedAt: tPlus(0), tiers: some } })],
      budgets: [aBudget('shut', { allowed: 0, selector: { matchLabels: { app: 'shut' } } })],
      at: seconds,
    });

  it('begin with the lowest; pods below the first tier belong to it', () => {
    const first = at([dns, api, web, batch], 0);
    expect(names(first).toSorted()).toEqual(['batch', 'web']);
    expect(first.blockers.get('i-1')).toEqual([
      {
        kind: 'tier',
        pod: 'demo/dns',
        podsBefore: 3,
        priority: criticalPriority,
        until: timePlus(180),
      },
      { kind: 'tier', pod: 'demo/api', podsBefore: 2, priority: 1000, until: timePlus(120) },
    ]);
    expect(first.nextCheckAt).toBe(tPlus(120));
  });
  it('begin when no pod of the tiers before is left', () => {
    expect(names(at([dns, api], 5))).toEqual(['api']);
    expect(names(at([dns], 6))).toEqual(['dns']);
  });
  it('begin after the waits of the tiers before, although pods of those remain', () => {
    const stuck = aPod('web', { priority: 500, labels: { app: 'shut' } });
    const names0 = (seconds: number) => names(at([dns, api, stuck], seconds));
    expect(names0(119)).toEqual([]);
    expect(names0(120)).toEqual(['api']);
    expect(names(at([dns, stuck], 179))).toEqual([]);
    expect(names(at([dns, stuck], 180))).toEqual(['dns']);
  });
  it('begin after half of the time to the deadline at the latest', () => {
    const stuck = aPod('web', { priority: 500, labels: { app: 'shut' } });
    const waits = { startedAt: tPlus(0), tiers, tiersUntil: tPlus(90) };
    const budgets = [aBudget('shut', { allowed: 0, selector: { matchLabels: { app: 'shut' } } })];
    const drains = [aDrain([dns, stuck], { waits })];
    expect(names(run({ drains, budgets, at: 89 }))).toEqual([]);
    expect(names(run({ drains, budgets, at: 90 }))).toEqual(['dns']);
  });
  it('without a wait begin after half of the time to the deadline, too', () => {
    const endless = [{ priority: 0 }, { priority: 1000 }];
    const stuck = aPod('web', { labels: { app: 'shut' } });
    const waits = { startedAt: tPlus(0), tiers: endless, tiersUntil: tPlus(90) };
    const budgets = [aBudget('shut', { allowed: 0, selector: { matchLabels: { app: 'shut' } } })];
    const drains = [aDrain([api, stuck], { waits })];
    expect(names(run({ drains, budgets, at: 89 }))).toEqual([]);
    expect(names(run({ drains, budgets, at: 90 }))).toEqual(['api']);
  });
  it('without a wait and a deadline begin only when the tiers before are empty', () => {
    const endless = [{ priority: 0 }, { priority: 1000 }];
    const stuck = aPod('web', { labels: { app: 'shut' } });
    const late = at([api, stuck], 100_000, endless);
    expect(names(late)).toEqual([]);
    expect(late.blockers.get('i-1')?.[0]).not.toHaveProperty('until');
  });
  it('are no order where there is one or none', () => {
    expect(names(at([dns, web], 0, [])).toSorted()).toEqual(['dns', 'web']);
    expect(names(at([dns, web], 0, [{ priority: 5 }])).toSorted()).toEqual(['dns', 'web']);
  });
});
