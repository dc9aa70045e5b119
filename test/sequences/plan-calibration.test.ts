// The plan's model compared with the engine on a few small clusters. When one of them changes its
// order or its waits, the other must follow. `npm run bench -- plan` compares 200 clusters
// (docs/benchmarks.md).
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type CalibrationRow,
  calibrate,
  calibratedStrategies,
} from '../../bench/support/calibration.ts';

/** Clusters of three to eight nodes in one to three zones. */
const seeds = [5, 7, 10, 12, 13, 94, 97, 100];

/** For tests that run each cluster twice. */
const few = seeds.slice(0, 3);

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

describe.each(calibratedStrategies)('plans of %s on small clusters', (strategy) => {
  const rows: CalibrationRow[] = [];
  beforeAll(async () => {
    for (const seed of seeds)
      rows.push(...(await calibrate(seed, { strategies: [strategy], share: 0 })));
  }, 120_000);

  it('find no blocker, and no update fails', () => {
    expect(rows.map(({ seed, status, blockers }) => [seed, status, ...blockers])).toEqual(
      seeds.map((seed) => [seed, 'Successful']),
    );
  });

  it('are right in the middle where pods take as long as they took', () => {
    const mean = meanOf(rows.map(({ tookMinutes, p50Minutes }) => tookMinutes / p50Minutes));
    expect(mean).toBeGreaterThan(0.97);
    expect(mean).toBeLessThan(1.03);
  });

  it('have a p90 that few of these exceed, and that is of use', () => {
    const late = rows.filter(({ tookMinutes, p90Minutes }) => tookMinutes > p90Minutes);
    expect(late.length).toBeLessThanOrEqual(2);
    for (const { p50Minutes, p90Minutes } of rows) {
      expect(p90Minutes).toBeLessThan(1.5 * p50Minutes);
    }
  });
});

describe.each(['hooks', 'waves', 'blue-green-hooks'] as const)('plans of %s', (course) => {
  it('are right in the middle on small clusters where everything takes as long as it took', async () => {
    const rows: CalibrationRow[] = [];
    for (const seed of few) {
      rows.push(...(await calibrate(seed, { courses: [course], share: 0 })));
    }
    expect(rows.map(({ seed, status, blockers }) => [seed, status, ...blockers])).toEqual(
      few.map((seed) => [seed, 'Successful']),
    );
    const mean = meanOf(rows.map(({ tookMinutes, p50Minutes }) => tookMinutes / p50Minutes));
    expect(mean).toBeGreaterThan(0.97);
    expect(mean).toBeLessThan(1.03);
  }, 120_000);
});
