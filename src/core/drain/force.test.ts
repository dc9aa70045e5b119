import { describe, expect, it } from 'vitest';
import { aPod, kubeTimePlus, tPlus } from '../../../test/builders/core-drain.ts';
import {
  type ForceWindow,
  forceAt,
  forcedGraceSeconds,
  intervalsOf,
  shouldShorten,
} from './force.ts';

const window = (seconds: number, more: Partial<ForceWindow> = {}): ForceWindow => ({
  startedAt: tPlus(0),
  deadline: tPlus(seconds),
  onDeadline: 'force',
  safetyMs: 10_000,
  ...more,
});

describe('forceAt', () => {
  const rows: readonly [string, number, ForceWindow | undefined, number | undefined][] = [
    ['deadline - safety - grace', 30, window(900), 860],
    ['a pod without grace', 0, window(900), 890],
    ['spot: a smaller safety', 30, window(120, { safetyMs: 5_000 }), 85],
    ['a grace longer than half of the time leaves half to the budgets', 3600, window(900), 440],
    ['a very long grace in a long window counts 10 minutes', 3600, window(7200), 6590],
    ['a long grace, but not before this', 600, window(1500, { forceFrom: tPlus(900) }), 900],
    ['a short grace, and from then on', 30, window(1500, { forceFrom: tPlus(900) }), 900],
    ['no deadline', 30, undefined, undefined],
    ['a drain that fails at its deadline', 30, window(900, { onDeadline: 'fail' }), undefined],
  ];
  it.each(rows)('%s', (_name, graceSeconds, of, expected) => {
    expect(forceAt(aPod('p1', { graceSeconds }), of)).toBe(
      expected === undefined ? undefined : tPlus(expected),
    );
  });
});

describe('forced deletions at an interval', () => {
  const p = (name: string, graceSeconds = 30) => ({ pod: aPod(name, { graceSeconds }) });
  const times = (pods: readonly ReturnType<typeof p>[], of: ForceWindow) => {
    const intervals = intervalsOf(pods, of);
    return pods.map(({ pod }) => {
      const at = forceAt(pod, of, intervals.get(pod.metadata.uid));
      return at === undefined ? undefined : (at - tPlus(0)) / 1000;
    });
  };
  const every20 = window(900, { intervalMs: 20_000 });
  const rows: readonly [string, readonly ReturnType<typeof p>[], ForceWindow, unknown][] = [
    ['without one, all at once', [p('a'), p('b')], window(900), [860, 860]],
    ['the last one at its usual time', [p('a')], every20, [860]],
    ['one interval earlier per pod after it', [p('a'), p('b'), p('c')], every20, [860, 840, 820]],
    ['long graces first, and no two closer', [p('a', 300), p('b')], every20, [570, 860]],
    [
      'half of the time is shared where the intervals are too long',
      [p('a'), p('b'), p('c')],
      window(100, { intervalMs: 60_000 }),
      [60, 50, 40],
    ],
    [
      'all at their usual time where no time is left',
      [p('a', 60), p('b', 60)],
      window(120, { intervalMs: 10_000 }),
      [50, 50],
    ],
    [
      'a late deadline leaves half of the time from then on',
      [p('a'), p('b')],
      window(900, { intervalMs: 300_000, intervalsFrom: tPlus(780) }),
      [860, 830],
    ],
    [
      'a forced update has no intervals',
      [p('a'), p('b')],
      window(900, { intervalMs: 20_000, forceFrom: tPlus(700) }),
      [700, 700],
    ],
    ['within half of the time', [p('a'), p('b')], window(100, { intervalMs: 60_000 }), [60, 40]],
    ['never without force', [p('a')], window(900, { onDeadline: 'fail' }), [undefined]],
  ];
  it.each(rows)('%s', (_name, pods, of, expected) => {
    expect(times(pods, of)).toEqual(expected);
  });
  it('keeps the times of the pods that remain', () => {
    const [, b, c] = times([p('a'), p('b'), p('c')], every20);
    const dying = { pod: aPod('c', { graceSeconds: 30, deletionTimestamp: kubeTimePlus(900) }) };
    expect(times([p('a'), p('b')], every20)[1]).toBe(b);
    expect(times([p('a'), p('b'), dying], every20).slice(0, 2)).toEqual([860, b]);
    expect(c).toBe(820);
  });
});

describe('forcedGraceSeconds', () => {
  it.each([
    [860, 30],
    [880, 10],
    [889.5, 1],
    [890, 1],
    [2000, 1],
  ])('at %d s of 900: %d s', (at, grace) => {
    expect(forcedGraceSeconds(window(900), tPlus(at))).toBe(grace);
  });
});

describe('shouldShorten', () => {
  const dying = (end: number) =>
    aPod('p1', { graceSeconds: 600, deletionTimestamp: kubeTimePlus(end) });
  const rows: readonly [string, number, number, boolean][] = [
    ['ends after the deadline, its time has come', 1000, 500, true],
    ['ends after the deadline, but it is too early', 1000, 439, false],
    ['ends before the deadline', 880, 500, false],
    ['was shortened already', 901, 899.5, false],
  ];
  it.each(rows)('%s', (_name, end, at, expected) => {
    expect(shouldShorten(dying(end), window(900), tPlus(at))).toBe(expected);
  });
  it('never before anything may be forced', () => {
    const late = window(900, { forceFrom: tPlus(700) });
    expect(shouldShorten(dying(1000), late, tPlus(699))).toBe(false);
    expect(shouldShorten(dying(1000), late, tPlus(700))).toBe(true);
  });
  it('never without a forcing deadline', () => {
    expect(shouldShorten(dying(1000), window(900, { onDeadline: 'fail' }), tPlus(899))).toBe(false);
    expect(shouldShorten(dying(1000), undefined, tPlus(899))).toBe(false);
  });
});
