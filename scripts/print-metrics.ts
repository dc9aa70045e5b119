// Writes the tables of docs/metrics.md from the table of metrics. What stands outside the marks is
// written by hand and kept. A test fails when the page is out of date.
// Run: node scripts/print-metrics.ts
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MetricRow, metricTable } from '../src/ports/index.ts';

export const metricsFile = join(import.meta.dirname, '..', 'docs', 'metrics.md');
const open = '<!-- generated: metrics -->';
const close = '<!-- end: metrics -->';

const rows: readonly (readonly [string, MetricRow])[] = Object.entries(metricTable);

const labelText = ([label, values]: readonly [string, string | readonly string[]]): string =>
  `\`${label}\`: ${typeof values === 'string' ? values : values.join(', ')}`;

const tables = (): string =>
  [
    '| metric | type | meaning | labels |',
    '|---|---|---|---|',
    ...rows.map(([name, { type, help, labels }]) => {
      const told = Object.entries(labels).map(labelText).join('; ') || 'none';
      return `| \`${name}\` | ${type} | ${help} | ${told} |`;
    }),
  ].join('\n');

export const metricsPage = (): string => {
  const page = readFileSync(metricsFile, 'utf8');
  const [before = '', rest = ''] = page.split(open);
  const [, after = ''] = rest.split(close);
  return `${before}${open}\n${tables()}\n${close}${after}`;
};

if (import.meta.main) writeFileSync(metricsFile, metricsPage());
