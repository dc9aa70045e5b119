// How many runs a plan takes.
import { expect, it } from 'vitest';
import { anInput } from '../../../../test/builders/core-update-plan.ts';
import { areKnown, mostRuns, runsOf } from './runs.ts';

const asked = { seed: 1, most: mostRuns };
const countOf = (perNode: number, commonSpread: number): number => {
  const input = anInput(60, [{ perNode }], { strategy: 'SURGE', maxUnavailable: 20 });
  return runsOf({ ...input, commonSpread }, asked).runs.length;
};

it('takes as many runs as may be where they are cheap, and as its quantiles need where they are not', () => {
  expect(countOf(5, 0)).toBe(mostRuns);
  const [alike, apart] = [countOf(150, 0), countOf(150, 0.25)];
  expect(alike).toBeLessThan(50);
  expect(apart).toBeGreaterThan(alike);
  expect(apart).toBeLessThanOrEqual(mostRuns);
});

it('takes no more than it is asked for, and none where nothing is to be done', () => {
  expect(runsOf(anInput(3, [{}]), { seed: 1, most: 7 }).runs).toHaveLength(7);
  expect(runsOf(anInput(0, []), asked).runs).toEqual([]);
});

it('knows quantiles of what hardly differs, and not of a few that differ', () => {
  const spread = (count: number, width: number) =>
    Array.from({ length: count }, (_, i) => 100 + (width * i) / count);
  expect(areKnown(spread(32, 5))).toBe(true);
  expect(areKnown(spread(32, 60))).toBe(false);
  expect(areKnown(spread(2000, 60))).toBe(true);
});
