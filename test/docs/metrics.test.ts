// docs/metrics.md and docs/notifications.md have the tables of the code.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { metricsFile, metricsPage } from '../../scripts/print-metrics.ts';
import { notificationsFile, notificationsPage } from '../../scripts/print-notifications.ts';

it('docs/metrics.md is what `node scripts/print-metrics.ts` writes', () => {
  expect(readFileSync(metricsFile, 'utf8')).toBe(metricsPage());
});

it('docs/notifications.md is what `node scripts/print-notifications.ts` writes', () => {
  expect(readFileSync(notificationsFile, 'utf8')).toBe(notificationsPage());
});
