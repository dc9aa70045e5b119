// The hooks of an update in its plan: where their time counts, and how long they are assumed to
// take.
import { describe, expect, it } from 'vitest';
import { anInput, exactly } from '../../../../test/builders/core-update-plan.ts';
import type { UpdateHooks } from '../../../api/update-hooks.ts';
import { boundsOf } from './bounds.ts';
import { hookSpreads } from './hooks.ts';
import { simulate } from './simulate.ts';
import type { HookSpreads } from './spread.ts';

const job = { namespace: 'ops', cronJob: 'work' };

describe('how long a hook takes', () => {
  const of = (preDrain: UpdateHooks['preDrain'], ...seconds: readonly number[]) =>
    hookSpreads(
      preDrain === undefined ? {} : { preDrain },
      seconds.map((took) => ({ hook: 'preDrain', seconds: took })),
    ).preDrain;

  it.each([
    ['is guessed where none has run', of({ job }), { p50: 30, p90: 120, source: 'default' }],
    [
      'is what it took in earlier updates',
      of({ job }, 200, 300, 240),
      { p50: 240, p90: 312, source: 'measured on 3 runs' },
    ],
    ['is at most what it may', of({ job, timeoutSeconds: 60 }, 90), { p50: 60, p90: 60 }],
    ['is nothing where there is none', of(undefined, 90), undefined],
  ])('%s', (_, spread, expected) => {
    if (expected === undefined) expect(spread).toBeUndefined();
    else expect(spread).toMatchObject(expected);
  });

  it('is told of each hook apart', () => {
    const hooks = { preDrain: { job }, postReady: { job } };
    const spreads = hookSpreads(hooks, [{ hook: 'postReady', seconds: 500 }]);
    expect([spreads.preDrain?.p50, spreads.postReady?.p50]).toEqual([30, 500]);
  });
});

describe('an update with hooks', () => {
  const took = (hooks: HookSpreads): { readonly seconds: number; readonly bound: number } => {
    const input = anInput(3, [{}], { strategy: 'SURGE' });
    const times = { ...input.times, hooks };
    const { drains } = simulate({ ...input, times }, 1, { medians: true });
    const seconds = Math.max(...drains.map(({ endSeconds }) => endSeconds));
    return { seconds, bound: boundsOf({ ...input, times }).lowerBound };
  };
  const plain = took({});

  /**
   * Part of a hook's time passes while the next new node boots, for which the update waits anyway.
   */
  const besideBoots = 10;

  it.each<[string, HookSpreads, number]>([
    // One at a time: three nodes in sequence.
    ['preDrain', { preDrain: exactly(100) }, 300],
    ['preTerminate', { preTerminate: exactly(100) }, 300],
    ['postDrain beside the cooldown of 60 s', { postDrain: exactly(100) }, 120],
    ['postDrain that is over before', { postDrain: exactly(50) }, 0],
    ['postReady of the first new node', { postReady: exactly(10) }, 10],
  ])('takes longer by %s', (_, hooks, more) => {
    const { seconds, bound } = took(hooks);
    const longer = seconds - plain.seconds;
    expect(Math.abs(longer - more)).toBeLessThanOrEqual(more === 0 ? 0 : besideBoots);
    expect(longer > 0).toBe(more > 0);
    expect(bound).toBeGreaterThanOrEqual(plain.bound);
    expect(bound).toBeLessThanOrEqual(seconds);
  });
});
