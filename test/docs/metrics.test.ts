// docs/metrics.md has the table of the code.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { metricsFile, metricsPage } from '../../scripts/print-metrics.ts';

it('docs/metrics.md is what `node scripts/print-metrics.ts` writes', () => {
  expect(readFileSync(metricsFile, 'utf8')).toBe(metricsPage());
});
