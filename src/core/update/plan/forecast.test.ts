// The forecast from the runs of the model.
import { expect, it } from 'vitest';
import { anInput } from '../../../../test/builders/core-update-plan.ts';
import { forecastOf } from './forecast.ts';
import type { RunResult } from './model.ts';

const starving = (...starved: readonly string[]): RunResult => ({
  seconds: 60,
  launches: 1,
  evictions: 1,
  evictionsOfOnePod: 1,
  drains: [],
  late: starved,
  starved,
});

it('adds up the runs in which another node is starved each time, each of them once', () => {
  const ordered = [starving('n1'), starving('n2', 'n3'), starving('n3'), starving()];
  const { starved, starvedShare } = forecastOf(anInput(3, [{}]), { runs: ordered, ordered });
  expect(starvedShare).toBe(0.75);
  expect([...starved]).toEqual([
    ['n1', 0.25],
    ['n2', 0.25],
    ['n3', 0.5],
  ]);
});
