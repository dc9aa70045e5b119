// Properties of the times drawn from a spread.

import { describe, expect, it } from 'vitest';
import { defined } from '../../../api/defined.ts';
import { Chance } from './random.ts';
import { draw } from './spread.ts';

const drawn = (most?: number): readonly number[] => {
  const chance = new Chance(1);
  const spread = { p50: 4, p90: 8, source: 'test', ...defined({ most }) };
  return Array.from({ length: 4000 }, () => draw(spread, chance));
};
const shareBelow = (values: readonly number[], limit: number): number =>
  values.filter((one) => one <= limit).length / values.length;

describe('a time that is drawn', () => {
  it('is below p50 in half of the cases, below p90 in nine of ten', () => {
    expect(shareBelow(drawn(), 4)).toBeCloseTo(0.5, 1);
    expect(shareBelow(drawn(), 8)).toBeCloseTo(0.9, 1);
    expect(Math.max(...drawn())).toBeGreaterThan(16);
  });

  it('is never longer than the most that is known, and else as before', () => {
    expect(Math.max(...drawn(10))).toBe(10);
    expect(shareBelow(drawn(10), 4)).toBe(shareBelow(drawn(), 4));
  });

  it('is nothing where it takes nothing', () => {
    expect(draw({ p50: 0, p90: 3, source: 'test' }, new Chance(1))).toBe(0);
  });
});
