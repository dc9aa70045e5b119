// Expected values of numFeasibleNodesToFind with the default percentage, calculated by hand from
// its source.
import { expect, it } from 'vitest';
import { nodesToScore } from './sample.ts';

it.each([
  [1, 100],
  [100, 100],
  [200, 100],
  [210, 102],
  [500, 230],
  [1000, 420],
  [5000, 500],
  [6000, 300],
])('of %i nodes %i are scored', (all, scored) => {
  expect(nodesToScore(all)).toBe(scored);
});
