// The queue in virtual time: order, dedup, wake-ups, failures.
import { describe, expect, it } from 'vitest';
import { CollectingLog, TestRandom, testStart, VirtualClock } from '../../test/builders/runtime.ts';
import { epochMs } from '../api/brand.ts';
import { CloudError, KubeError } from '../ports/index.ts';
import { type PassResult, WorkQueue } from './work-queue.ts';

const at = (ms: number) => epochMs(testStart + ms);

const setUp = (options: { readonly concurrency?: number } = {}) => {
  const clock = new VirtualClock();
  const log = new CollectingLog();
  const stop = new AbortController();
  const queue = new WorkQueue<string>({
    name: 'test',
    clock,
    random: new TestRandom(),
    log,
    concurrency: options.concurrency ?? 4,
  });
  const passes: { readonly key: string; readonly at: number }[] = [];
  const start = (
    work: (key: string, pass: number) => Promise<PassResult | undefined> = async () => undefined,
  ) =>
    queue.run(async (key) => {
      passes.push({ key, at: clock.now() - testStart });
      return await work(key, passes.length);
    }, stop.signal);
  const keys = () => passes.map(({ key }) => key);
  return { clock, log, stop, queue, passes, start, keys };
};

describe('the work queue', () => {
  it('runs a key once, however often it was added, in the order of first adding', async () => {
    const { clock, queue, start, keys } = setUp({ concurrency: 1 });
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    void start();
    await clock.settle();
    expect(keys()).toEqual(['a', 'b', 'c']);
    expect(queue.stats).toMatchObject({ passes: 3, ready: 0, active: 0, waiting: 0 });
  });

  it('lets urgent keys overtake all others, in the order in which they came', async () => {
    const { clock, queue, start, keys } = setUp({ concurrency: 1 });
    for (const key of ['a', 'b', 'c']) queue.add(key);
    for (const key of ['c', 'd', 'c']) queue.addUrgent(key);
    queue.add('d');
    expect(queue.hasUrgent).toBe(true);
    void start();
    await clock.settle();
    expect(keys()).toEqual(['c', 'd', 'a', 'b']);
    expect(queue.hasUrgent).toBe(false);
    expect(queue.stats).toMatchObject({ passes: 4, ready: 0, active: 0 });
  });

  it('is urgent until the pass of the last urgent key has ended, failed ones included', async () => {
    const { clock, queue, start } = setUp({ concurrency: 2 });
    void start(async (key) => {
      if (key === 'a') throw new KubeError('ServerError', 'down');
      await clock.sleep(10 as never);
      return undefined;
    });
    queue.addUrgent('a');
    queue.addUrgent('b');
    await clock.advance(9);
    expect(queue.hasUrgent).toBe(true);
    await clock.advance(1);
    expect(queue.hasUrgent).toBe(false);
  });

  it('never runs a pass inside the call that asks for it', async () => {
    const { clock, queue, start, passes } = setUp();
    void start();
    await clock.settle();
    queue.add('a');
    expect(passes).toEqual([]);
    await clock.settle();
    expect(passes).toHaveLength(1);
  });

  it('never has a key at work twice, and runs it again when added during its pass', async () => {
    const { clock, queue, start, keys } = setUp();
    let active = 0;
    let most = 0;
    void start(async () => {
      most = Math.max(most, ++active);
      await clock.sleep(10 as never);
      active--;
      return undefined;
    });
    queue.add('a');
    await clock.advance(1);
    queue.add('a');
    queue.add('a');
    await clock.advance(100);
    expect(most).toBe(1);
    expect(keys()).toEqual(['a', 'a']);
  });

  it.each([
    ['added during its pass', 1],
    ['added during the next', 2],
  ])('never has a key at work twice, when a pass wants the next at once: %s', async (_, when) => {
    const { clock, queue, start, passes } = setUp();
    let atWork = 0;
    let most = 0;
    void start(async (key, pass) => {
      atWork += 1;
      most = Math.max(most, atWork);
      await clock.sleep(10 as never);
      if (pass === when) queue.add(key);
      await clock.sleep(10 as never);
      atWork -= 1;
      return pass === 1 ? { nextAt: epochMs(clock.now()) } : undefined;
    });
    queue.add('a');
    await clock.advance(1_000);
    expect(most).toBe(1);
    expect(passes.length).toBe(3);
  });

  it('keeps to its concurrency', async () => {
    const { clock, queue, start, keys } = setUp({ concurrency: 2 });
    let active = 0;
    let most = 0;
    void start(async () => {
      most = Math.max(most, ++active);
      await clock.sleep(10 as never);
      active--;
      return undefined;
    });
    for (let i = 0; i < 7; i++) queue.add(`k${i}`);
    await clock.advance(5);
    expect(keys()).toEqual(['k0', 'k1']);
    await clock.advance(100);
    expect(most).toBe(2);
    expect(keys()).toHaveLength(7);
  });

  it('wakes a key at the earliest of the times asked for', async () => {
    const { clock, queue, start, passes } = setUp();
    void start();
    queue.addAfter('a', at(500));
    queue.addAfter('a', at(200));
    queue.addAfter('a', at(900));
    await clock.advance(100);
    queue.addAfter('b', at(150));
    await clock.advance(2_000);
    expect(passes).toEqual([
      { key: 'b', at: 150 },
      { key: 'a', at: 200 },
    ]);
  });

  it('keeps a wake-up that was set when the key runs for another reason before', async () => {
    const { clock, queue, start, passes } = setUp();
    void start();
    queue.addAfter('a', at(500));
    await clock.advance(100);
    queue.add('a');
    await clock.advance(1_000);
    expect(passes.map((pass) => pass.at)).toEqual([100, 500]);
  });

  it('wakes a key after a month, without one sleep of a month', async () => {
    const { clock, queue, start, passes } = setUp();
    const month = 30 * 86_400_000;
    let longest = 0;
    const sleep = clock.sleep.bind(clock);
    clock.sleep = (duration, signal) => {
      longest = Math.max(longest, duration);
      return sleep(duration, signal);
    };
    void start();
    queue.addAfter('a', at(month));
    await clock.advance(month);
    expect(passes).toEqual([{ key: 'a', at: month }]);
    expect(longest).toBeLessThan(2 ** 31);
  });

  it('takes a time of the past as now', async () => {
    const { clock, queue, start, passes } = setUp();
    void start();
    await clock.advance(100);
    queue.addAfter('a', at(50));
    await clock.settle();
    expect(passes).toEqual([{ key: 'a', at: 100 }]);
  });

  it('runs a key again when its pass says so', async () => {
    const { clock, queue, start, passes } = setUp();
    void start(async (_, pass) => (pass < 3 ? { nextAt: at(pass * 1_000) } : undefined));
    queue.add('a');
    await clock.advance(10_000);
    expect(passes.map((pass) => pass.at)).toEqual([0, 1_000, 2_000]);
    expect(queue.stats.waiting).toBe(0);
  });

  it('backs off a failing key alone, and forgets its failures with the first success', async () => {
    const { clock, queue, start, passes, log } = setUp();
    void start(async (key) => {
      if (key === 'bad' && clock.now() < at(60_000)) throw new KubeError('ServerError', 'no');
      return undefined;
    });
    queue.add('bad');
    queue.add('good');
    await clock.advance(120_000);
    const bad = passes.filter(({ key }) => key === 'bad').map((pass) => pass.at);
    expect(passes.filter(({ key }) => key === 'good')).toHaveLength(1);
    // 50-100 ms, then doubling up to 15-30 s: several tries in the first minute, few after it.
    expect(bad.length).toBeGreaterThan(8);
    expect(bad.length).toBeLessThan(16);
    expect(bad[1]).toBeGreaterThanOrEqual(50);
    expect(bad[1]).toBeLessThanOrEqual(100);
    expect(queue.stats).toMatchObject({ failures: bad.length - 1, bugs: 0, waiting: 0 });
    expect(log.messages('error')).toEqual([]);
  });

  it('starts a later failure with a short wait again', async () => {
    const { clock, queue, start, passes } = setUp();
    void start(async (_, pass) => {
      if (pass <= 6 || pass === 8) throw new KubeError('ServerError', 'no');
      return undefined;
    });
    queue.add('a');
    await clock.advance(30_000);
    queue.add('a');
    await clock.advance(30_000);
    expect(passes).toHaveLength(9);
    expect((passes[8]?.at ?? 0) - (passes[7]?.at ?? 0)).toBeLessThanOrEqual(100);
  });

  it('does not come back before the server wants it', async () => {
    const { clock, queue, start, passes } = setUp();
    void start(async (_, pass) => {
      if (pass === 1) throw new KubeError('TooManyRequests', 'later', { retryAfterSeconds: 10 });
      return undefined;
    });
    queue.add('a');
    await clock.advance(60_000);
    expect(passes.map((pass) => pass.at)).toEqual([0, 10_000]);
  });

  it('tries a conflict again within milliseconds', async () => {
    const { clock, queue, start, passes } = setUp();
    void start(async (_, pass) => {
      if (pass === 1) throw new KubeError('Conflict', 'modified');
      return undefined;
    });
    queue.add('a');
    await clock.advance(1_000);
    expect(passes).toHaveLength(2);
    expect(passes[1]?.at).toBeLessThanOrEqual(10);
  });

  it('counts and names a programmer’s error, and continues with the other keys', async () => {
    const { clock, queue, start, keys, log } = setUp({ concurrency: 1 });
    void start(async (key) => {
      if (key === 'bug') throw new TypeError('x is not a function');
      if (key === 'cloud') throw new CloudError('Throttled', 'slow down');
      return undefined;
    });
    queue.add('bug');
    queue.add('cloud');
    queue.add('ok');
    await clock.settle();
    expect(keys()).toEqual(['bug', 'cloud', 'ok']);
    expect(queue.stats).toMatchObject({ failures: 2, bugs: 1 });
    expect(log.lines.filter((line) => line.level === 'error')).toMatchObject([
      { facts: { key: 'bug', error: 'TypeError: x is not a function' } },
    ]);
  });

  it('ends when told, after the passes in flight, and starts nothing more', async () => {
    const { clock, queue, start, stop, keys } = setUp({ concurrency: 1 });
    let finished = false;
    let ended = false;
    const running = start(async () => {
      await clock.sleep(100 as never);
      finished = true;
      return undefined;
    }).then(() => {
      ended = true;
    });
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', at(50));
    await clock.advance(10);
    stop.abort();
    await clock.advance(10);
    expect(ended).toBe(false);
    await clock.advance(200);
    await running;
    expect(finished).toBe(true);
    expect(keys()).toEqual(['a']);
    expect(clock.sleeping).toBe(0);
  });

  it('runs in the same order in every run', async () => {
    const run = async () => {
      const { clock, queue, start, passes } = setUp({ concurrency: 3 });
      void start(async (key, pass) => {
        await clock.sleep(((pass * 7) % 5) as never);
        if (pass % 4 === 0) throw new KubeError('Unreachable', 'gone');
        return pass < 40 ? { nextAt: at(clock.now() - testStart + key.length) } : undefined;
      });
      for (const key of ['a', 'bb', 'ccc', 'dddd']) queue.add(key);
      await clock.advance(5_000);
      return passes;
    };
    const first = await run();
    expect(first.length).toBeGreaterThan(30);
    expect(await run()).toEqual(first);
  });
});
