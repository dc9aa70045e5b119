// Writes the tables of docs/metrics.md from the table of metrics: `node scripts/print-metrics.ts`.
// Keeps the text outside the marks. A test fails while the page is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentMetricTable } from '../src/agent/index.ts';
import { type MetricRow, metricTable } from '../src/ports/index.ts';

export const metricsFile = join(import.meta.dirname, '..', 'docs', 'metrics.md');
const open = '<!-- generated: metrics -->';
const close = '<!-- end: metrics -->';
const agentOpen = '<!-- generated: agent -->';
const agentClose = '<!-- end: agent -->';

const rows: readonly (readonly [string, MetricRow])[] = Object.entries(metricTable);

/** Label values that several metrics share are listed once, below the table. */
const valuesOf = (values: string | readonly string[]): string =>
  typeof values === 'string' ? values : values.join(', ');

const allLabels = rows.flatMap(([, { labels }]) =>
  Object.entries(labels).map(([label, values]) => [label, valuesOf(values)] as const),
);

/** For each label, the values that most metrics share, if at least two metrics do. */
const shared = new Map(
  [...Map.groupBy(allLabels, ([label]) => label)].flatMap(([label, all]) => {
    const [most = []] = [...Map.groupBy(all, ([, values]) => values).values()].toSorted(
      (a, b) => b.length - a.length,
    );
    const [, values] = most[0] ?? [];
    return most.length > 1 && values !== undefined ? [[label, values] as const] : [];
  }),
);

const labelText = ([label, values]: readonly [string, string | readonly string[]]): string =>
  shared.get(label) === valuesOf(values) ? `\`${label}\`` : `\`${label}\`: ${valuesOf(values)}`;

const agentTable = (): string =>
  [
    '| metric | type | meaning | labels |',
    '|---|---|---|---|',
    ...Object.entries(agentMetricTable).map(
      ([name, { type, help, labels }]) =>
        `| \`${name}\` | ${type} | ${help} | ${labels.map((one) => `\`${one}\``).join(', ') || 'none'} |`,
    ),
  ].join('\n');

const tables = (): string =>
  [
    '| metric | type | meaning | labels |',
    '|---|---|---|---|',
    ...rows.map(([name, { type, help, labels }]) => {
      const told = Object.entries(labels).map(labelText).join('; ') || 'none';
      return `| \`${name}\` | ${type} | ${help} | ${told} |`;
    }),
    '',
    'Values of labels that the table does not list:',
    '',
    ...[...shared].map(([label, values]) => `- \`${label}\`: ${values}`),
  ].join('\n');

/** Replaces the text between two marks. Throws when one is missing, since text would be lost. */
const between = (
  page: string,
  marks: { readonly from: string; readonly to: string },
  text: string,
): string => {
  const from = page.indexOf(marks.from);
  const to = page.indexOf(marks.to);
  if (from < 0 || to < from) throw new Error(`docs/metrics.md has lost ${marks.from}`);
  return `${page.slice(0, from + marks.from.length)}\n${text}\n${page.slice(to)}`;
};

export const metricsPage = (): string => {
  const page = readFileSync(metricsFile, 'utf8');
  const withMetrics = between(page, { from: open, to: close }, tables());
  return between(withMetrics, { from: agentOpen, to: agentClose }, agentTable());
};

if (import.meta.main) writeFileSync(metricsFile, metricsPage());
