// Waves, batches and unmeasured hooks in runs of an update: what waits for what, and which
// durations all nodes of a run share.

import { describe, expect, it } from 'vitest';
import { anInput } from '../../../../test/builders/core-update-plan.ts';
import { defined } from '../../../api/defined.ts';
import { quantileOf } from '../../quantile.ts';
import { asRun } from './blue-green.ts';
import { hookSpreads } from './hooks.ts';
import type { ModelInput } from './model.ts';
import { simulate } from './simulate.ts';

const runOf = (input: ModelInput) => simulate(asRun(input), 1, { medians: true, inTurns: true });

describe('waves in a run', () => {
  const input = anInput(4, [{}], { strategy: 'SURGE', maxUnavailable: 2 });
  const waves = [
    { percent: 100, soakSeconds: 30 },
    { percent: 25, soakSeconds: 600 },
  ];

  it('begin no node of the next before all of the last is settled and has rested', () => {
    const { drains, seconds } = runOf({ ...input, waves });
    const [first, ...others] = drains;
    // Its replacement boots, and no other drain starts meanwhile.
    const settled = (first?.endSeconds ?? 0) - 45 + 120;
    for (const { startSeconds } of others) expect(startSeconds).toBeGreaterThan(settled + 599);
    const last = Math.max(...others.map(({ endSeconds }) => endSeconds));
    expect(seconds).toBeGreaterThanOrEqual(last + 30);
    expect(seconds).toBeLessThan(last + 30 + 125);
  });

  it('take longer than the same nodes without, by more than they rest', () => {
    const longer = runOf({ ...input, waves }).seconds - runOf(input).seconds;
    expect(longer).toBeGreaterThan(630);
  });
});

describe('batches of blue/green in a run', () => {
  const blueGreen = { strategy: 'BLUE_GREEN', maxUnavailable: 1 } as const;
  const of = (allowed: number | undefined, batchSoakSeconds: number): number => {
    const app = { replace: 200, ...defined({ allowed }) };
    return runOf({ ...anInput(4, [app], blueGreen), batchSoakSeconds }).seconds;
  };

  it.each([
    ['rest one after another', undefined, 3 * 100],
    // A pod takes 200 s, which pass during the batch soak, so the batch itself waits that much
    // less.
    ['rest while budgets recover', 1, 0],
  ])('%s', (_, allowed, longer) => {
    expect(of(allowed, 100) - of(allowed, 0)).toBeCloseTo(longer, 0);
  });

  it('rest not behind the last one, where all of them soak', () => {
    const input = anInput(4, [{}], { ...blueGreen, maxUnavailable: 4 });
    expect(runOf({ ...input, batchSoakSeconds: 600 }).seconds).toBe(runOf(input).seconds);
    expect(runOf({ ...input, soakSeconds: 600 }).seconds - runOf(input).seconds).toBe(600);
  });
});

it('a hook that never ran is slow for all nodes of a run or for none, and no slower than it may be', () => {
  const hooks = { preDrain: { job: { namespace: 'ops', cronJob: 'work' }, timeoutSeconds: 150 } };
  const spreadOf = (seconds: readonly number[]) => {
    const input = anInput(20, [], { strategy: 'SURGE', maxUnavailable: 1 });
    const spreads = hookSpreads(
      hooks,
      seconds.map((took) => ({ hook: 'preDrain', seconds: took })),
    );
    const times = { ...input.times, hooks: spreads };
    const runs = Array.from({ length: 60 }, (_, i) => simulate({ ...input, times }, i).seconds);
    return { width: quantileOf(runs, 0.9) - quantileOf(runs, 0.5), most: Math.max(...runs) };
  };
  const plain = simulate(anInput(20, [], { strategy: 'SURGE', maxUnavailable: 1 }), 1).seconds;
  const guessed = spreadOf([]);
  // 20 nodes, each 90 s slower in one of ten runs; drawn per node, the spread would be a tenth of
  // that.
  expect(guessed.width).toBeGreaterThan(20 * 40);
  expect(guessed.most).toBeLessThanOrEqual(plain + 20 * 150 + 1);
  expect(spreadOf([30, 31, 30, 29, 30]).width).toBeLessThan(20 * 5);
});
