import { describe, expect, it } from 'vitest';
import { aPod, kubeTimePlus, tPlus } from '../../../test/builders/core-drain.ts';
import { type ForceWindow, forceAt, forcedGraceSeconds, shouldShorten } from './force.ts';

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
