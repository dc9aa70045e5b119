// How long pods take to stop in a plan: measured, known or guessed, within their grace period; and
// what a run draws.
import { describe, expect, it } from 'vitest';
import { anInput, withSpread } from '../../../../test/builders/core-update-plan.ts';
import { aPod, type PodOverrides } from '../../../../test/builders/core-update-preflight.ts';
import { boundsOf } from './bounds.ts';
import type { ModelInput } from './model.ts';
import { simulate } from './simulate.ts';
import type { StopSpread } from './spread.ts';
import { type KnownStops, seenStops, stopSpread } from './stops.ts';

const podWith = (grace: number, preStop?: object): ReturnType<typeof aPod> => {
  const containers = [
    { name: 'app', ...(preStop === undefined ? {} : { lifecycle: { preStop } }) },
  ];
  const spec: PodOverrides['spec'] = { terminationGracePeriodSeconds: grace, containers };
  return aPod('p1', { spec });
};
const exec = (...command: readonly string[]) => ({ exec: { command } });
const told = { p50: 2, p90: 4, source: 'told' };
const nothing: KnownStops = { seen: [], told: undefined };

describe('how long a pod takes to stop', () => {
  it.each<readonly [string, number, object | undefined, Partial<KnownStops>, Partial<StopSpread>]>([
    [
      'is a guess within its grace',
      120,
      undefined,
      {},
      { p50: 3, p90: 15, most: 120, graceShare: 0.1 },
    ],
    ['is its grace at most', 5, undefined, {}, { p50: 3, p90: 5, most: 5 }],
    [
      'is what preStop sleeps at least',
      60,
      { sleep: { seconds: 20 } },
      {},
      { p50: 23, p90: 35, least: 20 },
    ],
    ['counts a sleep that is run', 60, exec('sleep', '15'), {}, { p50: 18, least: 15 }],
    [
      'counts a sleep that a shell runs',
      60,
      exec('/bin/sh', '-c', 'sleep 10 && nginx -s quit'),
      {},
      { p50: 13, least: 10 },
    ],
    ['knows nothing of another command', 60, exec('nginx', '-s', 'quit'), {}, { p50: 3 }],
    [
      'has no sleep beyond the grace',
      10,
      { sleep: { seconds: 20 } },
      {},
      { p50: 10, p90: 10, least: 10 },
    ],
    ['is what is told', 60, undefined, { told }, { p50: 2, p90: 4, most: 60, source: 'told' }],
    [
      'is what is told at most',
      60,
      undefined,
      { told: { ...told, most: 3 } },
      { p50: 2, p90: 3, most: 3 },
    ],
    [
      'is what was seen, whatever is told',
      120,
      undefined,
      { seen: [90, 100, 80], told },
      { p50: 90, p90: 117, source: 'measured on 3 stops', isSeen: true },
    ],
    [
      'has the spread of many that were seen',
      120,
      undefined,
      { seen: [1, 1, 1, 1, 1, 100] },
      { p50: 1, p90: 100 },
    ],
    [
      'is the grace where more was seen',
      60,
      undefined,
      { seen: [90] },
      { p50: 60, p90: 60, most: 60 },
    ],
  ])('%s', (_, grace, preStop, known, expected) => {
    expect(stopSpread([podWith(grace, preStop)], { ...nothing, ...known })).toMatchObject(expected);
  });

  it('has no share of whole graces where it was told or seen', () => {
    for (const known of [
      { ...nothing, told },
      { ...nothing, seen: [3] },
    ]) {
      expect(stopSpread([podWith(60)], known)).not.toHaveProperty('graceShare');
    }
  });

  it('is bounded by the longest grace of its pods', () => {
    expect(stopSpread([podWith(30), podWith(300)], nothing).most).toBe(300);
  });
});

it('what was seen of a ReplicaSet is of what scales it, and the last of it counts', () => {
  const owner = (kind: string, name: string) => [
    { apiVersion: 'apps/v1', kind, name, uid: name, controller: true },
  ];
  const metadata = { namespace: 'demo', resourceVersion: '1', creationTimestamp: '' };
  const sets = ['web-1', 'web-2'].map((name) => ({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { ...metadata, name, uid: name, ownerReferences: owner('Deployment', 'web') },
    spec: {},
  }));
  const seen = seenStops(
    [
      { owner: 'ReplicaSet/demo/web-1', seconds: Array.from({ length: 39 }, () => 1) },
      { owner: 'ReplicaSet/demo/web-2', seconds: [7, 8] },
      { owner: 'StatefulSet/demo/db', seconds: [9] },
    ],
    sets,
  );
  expect(seen.get('Deployment/demo/web')).toHaveLength(40);
  expect(seen.get('Deployment/demo/web')?.slice(-2)).toEqual([7, 8]);
  expect(seen.get('StatefulSet/demo/db')).toEqual([9]);
});

describe('runs', () => {
  const seeds = Array.from({ length: 200 }, (_, i) => i + 1);
  const withStop = (stop: StopSpread, more: Partial<ModelInput> = {}): ModelInput => {
    const lone = { strategy: 'MINIMAL', cooldownSeconds: 0 } as const;
    const input = anInput(1, [{ perNode: 3 }], { ...lone, ...more });
    return { ...input, apps: input.apps.map((app) => ({ ...app, stop })) };
  };
  const rest = 120;
  const stopsOf = (input: ModelInput): readonly number[] =>
    seeds.map((seed) => simulate(input, seed).seconds - rest);
  const guess = stopSpread([podWith(300)], nothing);

  it('use the whole grace of an owner in as many of them as the guess says', () => {
    const whole = stopsOf(withStop(guess)).filter((seconds) => seconds > 299);
    expect(whole.length).toBeGreaterThan(10);
    expect(whole.length).toBeLessThan(32);
    expect(simulate(withStop(guess), 1, { medians: true }).seconds - rest).toBe(guess.p50);
  });

  it('draw nothing else again for that', () => {
    const { graceShare: _none, ...sure } = guess;
    const of = (stop: StopSpread) => {
      const input = withSpread(anInput(4, [{ allowed: 1 }, {}], { strategy: 'SURGE' }));
      const apps = input.apps.map((app, at) => (at === 0 ? app : { ...app, stop }));
      return seeds.map((seed) => simulate({ ...input, apps }, seed).drains[0]?.startSeconds);
    };
    expect(of(guess)).toEqual(of(sure));
  });

  it('wait for the slowest of the pods that were seen, one by one, and never beyond the grace', () => {
    const seen = stopSpread([podWith(120)], { ...nothing, seen: [2, 2, 2, 2, 2, 2, 2, 2, 110] });
    const all = stopsOf(withStop(seen, { appSpread: 0.3 })).toSorted((a, b) => a - b);
    // One of three pods is slow more often than a single one.
    expect(all[Math.floor(0.5 * all.length)]).toBeGreaterThan(2 * seen.p50);
    expect(all.at(-1)).toBeLessThanOrEqual(120);
  });

  it('count pods of a dead kubelet as gone after 30 s, however long they would take', () => {
    const slow = { p50: 400, p90: 400, most: 400, source: 'test' };
    const input = withStop(slow);
    const nodes = input.nodes.map((node) => ({ ...node, isReady: false, isUnreachable: true }));
    expect(simulate(input, 1).seconds - rest).toBe(400);
    expect(simulate({ ...input, nodes }, 1).seconds - rest).toBe(30);
    const quick = withStop({ ...slow, p50: 1, p90: 1 });
    expect(simulate({ ...quick, nodes }, 1).seconds - rest).toBe(30);
    expect(boundsOf({ ...quick, nodes }).nodeBound - boundsOf(quick).nodeBound).toBe(29);
  });
});
