// How the Auto Scaling group's size is split while an update changes it, as a table: the record,
// and the actual size.
import { describe, expect, it } from 'vitest';
import { type Left, settle } from './ledger.ts';

const told = (desired: number, maxSize: number, surge: Parameters<typeof settle>[0]) => ({
  desired,
  maxSize,
  requested: { minSize: 0, maxSize: 9 },
  surge: { desired: 0, maxSize: 0, left: 0, ...surge?.surge },
});

const noted = (surge: object) => ({ surge }) as Parameters<typeof settle>[0];
const nobody: Left = { sure: 0, most: 0 };
const now = (desired: number, maxSize = 9) => ({ minSize: 0, maxSize, desired });

describe('a call that was noted', () => {
  const raise = told(
    3,
    9,
    noted({ desired: 2, maxSize: 2, carried: 0, next: { desired: 5, maxSize: 11, carried: 2 } }),
  );

  it.each([
    ['not made', now(3), 3, 0],
    ['not made, and somebody has added one', now(4), 4, 0],
    ['not made, and somebody has added as many', now(5), 5, 0],
    ['made', now(5, 11), 3, 2],
    ['made, and somebody has added one', now(6, 11), 4, 2],
    ['made, and somebody has taken as many', now(3, 11), 1, 2],
  ])('is %s: the maximum tells', (_, actual, people, carried) => {
    expect(settle(raise, actual, nobody)).toMatchObject({ people, carried });
  });

  it('that does not change the maximum was made when that needs the smaller change by others', () => {
    const status = told(3, 9, noted({ carried: 0, next: { desired: 5, maxSize: 9, carried: 0 } }));
    expect(settle(status, now(6), nobody).before?.desired).toBe(5);
    expect(settle(status, now(2), nobody).before?.desired).toBe(3);
  });
});

describe('instances that are ended with decrement', () => {
  const retiring = told(6, 12, noted({ desired: 0, maxSize: 0, retiring: 3, left: 1 }));

  it.each([
    ['one has left', now(5, 12), { sure: 2, most: 2 }, 3, 2],
    ['one has left, and somebody has added one', now(6, 12), { sure: 2, most: 2 }, 4, 2],
    ['one was ended by somebody, with its place', now(5, 12), { sure: 1, most: 1 }, 2, 3],
    ['one has left, and its record does not say so yet', now(5, 12), { sure: 1, most: 2 }, 3, 2],
    ['all have left', now(3, 12), { sure: 4, most: 4 }, 3, 0],
    ['records of earlier ones are gone', now(6, 12), { sure: 0, most: 0 }, 3, 3],
  ])('%s', (_, actual, left, people, carried) => {
    expect(settle(retiring, actual, left)).toMatchObject({ people, carried });
  });

  it('beyond what was the update’s make the group as small as it is asked to be', () => {
    const status = told(3, 9, noted({ retiring: 1, carried: 0 }));
    const settled = settle(status, now(2), { sure: 1, most: 1 });
    expect(settled).toMatchObject({ people: 2, carried: 0, before: { desired: 2 } });
  });
});

describe('instances that others terminate with their places', () => {
  const until = '2026-01-01T00:05:00Z';
  const by = (count: number, more: Partial<Left> = {}): Left => ({
    ...nobody,
    ...more,
    taken: { count, until },
  });
  /** Desired size three; six more are the update's. */
  const surplus = told(9, 15, noted({ desired: 6, maxSize: 6 }));
  const raised = { desired: 9, maxSize: 15, carried: 6 };
  const raise = told(3, 9, noted({ desired: 6, maxSize: 6, carried: 0, next: raised }));
  const spent = told(3, 9, noted({ desired: 0, maxSize: 0 }));

  it.each([
    ['one of the surplus', surplus, now(8, 15), by(1), 3, 5, 1],
    ['five of the surplus', surplus, now(4, 15), by(5), 3, 1, 5],
    ['more than the surplus', surplus, now(2, 15), by(7), 2, 0, 6],
    ['one, beside a size that is set one lower', surplus, now(7, 15), by(1), 2, 5, 1],
    ['one, beside a size that is set one higher', surplus, now(9, 15), by(1), 4, 5, 1],
    ['one, right after the call that makes the surplus', raise, now(8, 15), by(1), 3, 5, 1],
    ['one, where no surplus is left', spent, now(2), by(1), 2, 0, 0],
  ])('%s', (_, status, actual, left, people, carried, taken) => {
    const settled = settle(status, actual, left);
    expect(settled).toMatchObject({ people, carried, taken, takenUntil: until });
    expect(settled.before?.desired).toBe(3);
  });

  it('beside one that the update ends itself', () => {
    const retiring = told(5, 11, noted({ desired: 1, maxSize: 2, retiring: 1 }));
    const settled = settle(retiring, now(3, 11), by(1, { sure: 1, most: 1 }));
    expect(settled).toMatchObject({ people: 3, carried: 0, left: 1, taken: 1 });
  });

  it('are counted once: what was noted stays noted', () => {
    const status = told(8, 15, noted({ desired: 6, maxSize: 6, carried: 5, takenUntil: until }));
    const settled = settle(status, now(8, 15), nobody);
    expect(settled).toMatchObject({ people: 3, carried: 5, taken: 0, takenUntil: until });
  });
});
