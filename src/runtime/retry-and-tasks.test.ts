// Retries by class, delays, deadlines, and the registry of background tasks.
import { describe, expect, it } from 'vitest';
import { TestRandom, testStart, VirtualClock } from '../../test/builders/runtime.ts';
import { durationMs } from '../api/brand.ts';
import { CloudError, KubeError } from '../ports/index.ts';
import { aborted, DeadlineError, linkedAbort, withDeadline } from './abort.ts';
import { Backoff, exponentialDelay, retry } from './backoff.ts';
import { type TaskFailure, TaskRegistry } from './tasks.ts';

describe('retry', () => {
  const run = async (errors: readonly unknown[], tries?: number) => {
    const clock = new VirtualClock();
    const times: number[] = [];
    const options = { clock, random: new TestRandom(), signal: new AbortController().signal };
    const outcome = retry({ ...options, ...(tries && { tries }) }, async () => {
      times.push(clock.now() - testStart);
      const error = errors[times.length - 1];
      if (error !== undefined) throw error;
      return 'done';
    }).catch((error: unknown) => error);
    await clock.advance(600_000);
    return { outcome: await outcome, times };
  };

  it('tries conflicts at once', async () => {
    const conflict = new KubeError('Conflict', 'modified');
    expect(await run([conflict, conflict, conflict])).toEqual({
      outcome: 'done',
      times: [0, 0, 0, 0],
    });
  });

  it('backs off what asks for it, and waits at least as long as the server wants', async () => {
    const { outcome, times } = await run([
      new CloudError('Throttled', 'slow'),
      new KubeError('TooManyRequests', 'later', { retryAfterSeconds: 10 }),
    ]);
    expect(outcome).toBe('done');
    expect(times[1]).toBeGreaterThanOrEqual(50);
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBe(10_000);
  });

  it.each([
    ['what can never succeed', new KubeError('Forbidden', 'no')],
    ['a programmer’s error', new TypeError('bug')],
  ])('does not retry %s', async (_, error) => {
    expect(await run([error])).toEqual({ outcome: error, times: [0] });
  });

  it('gives up after its tries with the last error', async () => {
    const errors = [1, 2, 3, 4].map((i) => new KubeError('ServerError', `no ${i}`));
    const { outcome, times } = await run(errors, 3);
    expect(outcome).toBe(errors[2]);
    expect(times).toHaveLength(3);
  });

  it('stops waiting when aborted', async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    const options = { clock, random: new TestRandom(), signal: stop.signal };
    const outcome = retry(options, async () => {
      throw new KubeError('Unreachable', 'away');
    });
    const expected = expect(outcome).rejects.toThrow('stopped');
    await clock.settle();
    stop.abort(new Error('stopped'));
    await expected;
    expect(clock.sleeping).toBe(0);
  });
});

describe('delays', () => {
  it('stay between base and cap, and spread', () => {
    const backoff = new Backoff(new TestRandom(), { baseMs: 100, capMs: 1_000 });
    const waits = Array.from({ length: 200 }, () => backoff.next());
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(100);
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_000);
    expect(new Set(waits).size).toBeGreaterThan(50);
    backoff.reset();
    expect(backoff.next()).toBeLessThanOrEqual(300);
  });

  it('do not overflow after a thousand failures', () => {
    const policy = { baseMs: 100, capMs: 30_000 };
    expect(exponentialDelay(1_000, new TestRandom(), policy)).toBeLessThanOrEqual(30_000);
  });
});

describe('deadlines', () => {
  it('end a call that does not answer, even one that ignores its signal', async () => {
    const clock = new VirtualClock();
    const parent = new AbortController();
    const options = { clock, within: durationMs(1_000), signal: parent.signal };
    let inner: AbortSignal | undefined;
    const outcome = withDeadline(options, (signal) => {
      inner = signal;
      return new Promise<string>(() => undefined);
    });
    const expected = expect(outcome).rejects.toThrow(DeadlineError);
    await clock.advance(1_000);
    await expected;
    expect(inner?.aborted).toBe(true);
  });

  it('leave no sleeper behind when the call answers', async () => {
    const clock = new VirtualClock();
    const options = { clock, within: durationMs(1_000), signal: new AbortController().signal };
    expect(await withDeadline(options, async () => 'answer')).toBe('answer');
    await clock.settle();
    expect(clock.sleeping).toBe(0);
  });

  it('pass the parent’s abort on', async () => {
    const clock = new VirtualClock();
    const parent = new AbortController();
    const options = { clock, within: durationMs(1_000), signal: parent.signal };
    const outcome = withDeadline(options, (signal) => aborted(signal));
    const expected = expect(outcome).rejects.toThrow('parent');
    parent.abort(new Error('parent'));
    await expected;
    expect(linkedAbort(parent.signal).signal.aborted).toBe(true);
  });
});

describe('the task registry', () => {
  const setUp = () => {
    const clock = new VirtualClock();
    const failures: TaskFailure[] = [];
    const tasks = new TaskRegistry({ clock, report: (failure) => failures.push(failure) });
    return { clock, failures, tasks };
  };

  it('reports what escapes a task once, and nothing else suffers', async () => {
    const { clock, failures, tasks } = setUp();
    tasks.start('broken', async () => {
      throw new Error('escaped');
    });
    tasks.start('fine', aborted);
    await clock.settle();
    expect(failures).toMatchObject([{ task: 'broken', error: { message: 'escaped' } }]);
    expect(tasks.running).toEqual(['fine']);
    expect(await tasks.shutdown({ withinMs: 1_000 })).toEqual([]);
    expect(failures).toHaveLength(1);
    expect(clock.sleeping).toBe(0);
  });

  it('does not take a task’s farewell for a failure', async () => {
    const { failures, tasks } = setUp();
    tasks.start('polite', async (signal) => {
      await aborted(signal);
      signal.throwIfAborted();
    });
    await tasks.shutdown({ withinMs: 1_000 });
    expect(failures).toEqual([]);
  });

  it('names the tasks that do not end in time', async () => {
    const { clock, tasks } = setUp();
    tasks.start('stuck', () => new Promise(() => undefined));
    const left = tasks.shutdown({ withinMs: 1_000 });
    await clock.advance(1_000);
    expect(await left).toEqual(['stuck']);
  });

  it('refuses two tasks of one name, and new ones during shutdown', async () => {
    const { tasks } = setUp();
    tasks.start('a', aborted);
    expect(() => tasks.start('a', aborted)).toThrow('already running');
    await tasks.shutdown({ withinMs: 1_000 });
    expect(() => tasks.start('b', aborted)).toThrow('after shutdown');
  });
});
