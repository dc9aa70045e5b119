// The ETA of an update, as tables: which samples it uses, its spread, and when there is none.
import { describe, expect, it } from 'vitest';
import { epochMs, formatTime } from '../../../api/brand.ts';
import type { NodeGroupUpdateStatus, UpdatePace } from '../../../api/nodegroup-update.ts';
import { etaOf, paceWith, recordPace } from './eta.ts';

const start = Date.parse('2026-01-01T12:00:00Z');
const at = (seconds: number): string => formatTime(epochMs(start + seconds * 1000));
const now = epochMs(start + 600_000);

/** `[seconds, done]`, in order. */
const paceOf = (...entries: readonly (readonly [number, number])[]): readonly UpdatePace[] =>
  entries.map(([seconds, done]) => ({ at: at(seconds), done }));

const facts = { pace: [], history: [], left: 4, now, startedAt: at(0) };
const slow = paceOf([0, 0], [500, 1], [1000, 2], [1500, 3]);
const predicted = { p50Seconds: 900, p90Seconds: 1200 };

describe('when an update will be over', () => {
  it.each([
    ['nobody knows without a node', facts, undefined],
    ['nobody knows after one node', { ...facts, pace: paceOf([0, 0], [100, 1]) }, undefined],
    [
      'its plan says after one node',
      { ...facts, pace: paceOf([0, 0], [100, 1]), predicted },
      [900, 1200],
    ],
    ['two nodes alike', { ...facts, pace: paceOf([0, 0], [100, 1], [200, 2]) }, [1000, 1000]],
    ['two that ended at once', { ...facts, pace: paceOf([0, 0], [200, 2]) }, [1000, 1000]],
    [
      'one that was slow widens it by the root of what is left',
      { ...facts, pace: paceOf([0, 0], [100, 1], [200, 2], [400, 3]) },
      [1000, 1200],
    ],
    [
      'earlier updates speak where there are fewer than three',
      { ...facts, pace: paceOf([0, 0], [500, 1]), history: [slow] },
      [2600, 2600],
    ],
    [
      'and not where there are three',
      { ...facts, pace: paceOf([0, 0], [100, 1], [200, 2], [300, 3]), history: [slow] },
      [1000, 1000],
    ],
    ['earlier updates speak before the first node', { ...facts, history: [slow] }, [2600, 2600]],
    [
      'a pause is no pace',
      {
        ...facts,
        pace: [
          { at: at(0), done: 0 },
          { at: at(100), done: 1 },
          { at: at(110), done: 1, paused: true },
          { at: at(150), done: 2, paused: true },
          { at: at(300), done: 2 },
          { at: at(400), done: 3 },
        ],
      },
      [1000, 1000],
    ],
  ] as const)('%s', (_, known, seconds) => {
    const expected = seconds && { p50: at(seconds[0]), p90: at(seconds[1]) };
    expect(etaOf(known)).toEqual(expected);
  });
});

describe('the pace', () => {
  it('has an entry for each change, and no more than 20', () => {
    const one = paceWith([], { done: 0, isPaused: false, now });
    expect(one).toEqual([{ at: formatTime(now), done: 0 }]);
    expect(paceWith(one, { done: 0, isPaused: false, now })).toBe(one);
    const paused = paceWith(one, { done: 0, isPaused: true, now });
    expect(paused.at(-1)).toEqual({ at: formatTime(now), done: 0, paused: true });
    let many = one;
    for (let done = 1; done < 40; done++) many = paceWith(many, { done, isPaused: false, now });
    expect(many).toHaveLength(20);
    expect(many.at(-1)?.done).toBe(39);
  });
});

describe('what is told of the end', () => {
  const pace = paceOf([0, 0], [100, 1], [200, 2]);
  const eta = { p50: at(500), p90: at(700) };
  const progress = { total: 5, done: 2, draining: 1, failed: 0, eta };
  const status: NodeGroupUpdateStatus = { status: 'InProgress', pace, progress };
  const around = { total: 5, done: 2, isPaused: false, now, history: [] };

  it.each([
    ['stays between two nodes', around, eta],
    ['is nothing while it is paused', { ...around, isPaused: true }, undefined],
    ['is nothing once all are done', { ...around, done: 5 }, undefined],
    ['is nothing past its own bound', { ...around, now: epochMs(start + 701_000) }, undefined],
  ])('%s', (_, known, told) => {
    expect(recordPace(status, known).eta).toEqual(told);
  });

  it('is reported again with the next node', () => {
    const { eta: next, pace: entries } = recordPace(status, { ...around, done: 3 });
    expect(entries).toHaveLength(4);
    expect(next).toEqual({ p50: at(800), p90: at(600 + 200 + 300 * Math.SQRT2) });
  });
});
