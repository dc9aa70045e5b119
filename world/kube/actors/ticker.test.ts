import { describe, expect, it } from 'vitest';
import { Kernel, microsPerSecond, Tables } from '../../kernel/index.ts';
import { Ticker } from './worker.ts';

const start = (tables = new Tables()) => {
  const kernel = new Kernel({ seed: 1, startAt: 0, tables });
  const seen: number[] = [];
  const wish = { needed: false };
  const ticker = new Ticker({
    kernel,
    name: 'test',
    periodMicros: microsPerSecond,
    tick: () => seen.push(kernel.now() / microsPerSecond),
    isNeeded: () => wish.needed,
  });
  const runTo = (seconds: number): void => {
    const end = seconds * microsPerSecond;
    while ((kernel.nextAt() ?? end + 1) <= end) kernel.step();
    kernel.advanceTo(end);
  };
  return { kernel, seen, wish, ticker, runTo };
};

describe('a ticker that is needed at times', () => {
  it('rests, costs no event while it rests, and wakes on its old grid', () => {
    const { kernel, seen, wish, ticker, runTo } = start();
    runTo(100.25);
    expect(kernel.steps).toBe(1);
    wish.needed = true;
    ticker.wake();
    ticker.wake();
    runTo(103);
    expect(seen).toEqual([101, 102, 103]);
    wish.needed = false;
    runTo(200);
    expect(seen).toEqual([101, 102, 103]);
  });

  it('continues after a restart as it was: ticking once per period, or resting', () => {
    const tables = new Tables();
    const before = start(tables);
    before.wish.needed = true;
    before.runTo(5);
    before.kernel.checkpoint();
    const after = start(tables);
    after.wish.needed = true;
    after.ticker.wake();
    after.runTo(7);
    expect(after.seen).toEqual([6, 7]);
    after.wish.needed = false;
    after.runTo(9);
    after.kernel.checkpoint();
    const third = start(tables);
    third.runTo(20);
    expect(third.kernel.steps).toBe(0);
    third.wish.needed = true;
    third.ticker.wake();
    third.runTo(21);
    expect(third.seen).toEqual([21]);
  });
});
