// The exposition: every row of the table exists with Prometheus' names and units, and promtool
// accepts it.
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { metricTable } from '../../ports/index.ts';
import { createMetrics } from './index.ts';

const promtool = (...args: readonly string[]) => {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return (input: string) => execFileSync('promtool', [...args], { input, encoding: 'utf8' });
  } catch {
    return undefined;
  }
};

/** One value for every row, with labels that break the format unless they are escaped. */
const filled = () => {
  const metrics = createMetrics({ version: '1' });
  const labelsOf = (name: keyof typeof metricTable): never =>
    Object.fromEntries(
      Object.keys(metricTable[name].labels).map((label) => [label, 'a "b"\n\\c']),
    ) as never;
  for (const [name, { type }] of Object.entries(metricTable)) {
    const labels = labelsOf(name as keyof typeof metricTable);
    if (type === 'counter') metrics.add(name as 'drover_drains_total', labels);
    else if (type === 'gauge') metrics.set(name as 'drover_leader', labels, 1);
    else metrics.observe(name as 'drover_notice_lag_seconds', labels, 0.1);
  }
  return metrics;
};

describe('the exposition', () => {
  it('has every row of the table, also before its first value', async () => {
    const { contentType, text } = await createMetrics({ version: '1' }).read();
    expect(contentType).toContain('text/plain; version=0.0.4');
    const named = [...text.matchAll(/^# TYPE (drover_\w+) (\w+)$/gm)].map(([, name, type]) => [
      name,
      type,
    ]);
    expect(named).toEqual(
      expect.arrayContaining(Object.entries(metricTable).map(([name, { type }]) => [name, type])),
    );
    expect(named).toHaveLength(Object.keys(metricTable).length);
  });

  it('begins closed sets at 0, and calls what is outside of them other', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.add('drover_drains_total', { cause: 'Update', outcome: 'Evaporated' });
    const { text } = await metrics.read();
    expect(text).toContain('drover_drains_total{cause="Update",outcome="Failed"} 0');
    expect(text).toContain('drover_drains_total{cause="Update",outcome="other"} 1');
    expect(text).not.toContain('Evaporated');
  });

  it('cuts a label that an error text has grown, and samples gauges at each read', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.add('drover_kube_requests_total', { verb: 'get', code: 'x'.repeat(5000) });
    let reads = 0;
    const stop = metrics.onRead(() => metrics.set('drover_leader', {}, ++reads));
    expect((await metrics.read()).text).toContain('drover_leader 1');
    expect((await metrics.read()).text).toContain('drover_leader 2');
    stop();
    const { text } = await metrics.read();
    expect(text).toContain('drover_leader 2');
    expect(text).toContain(`code="${'x'.repeat(64)}"`);
  });

  const check = promtool('check', 'metrics');
  it.skipIf(check === undefined)(
    'passes `promtool check metrics` (Debian: prometheus)',
    async () => {
      const { text } = await filled().read();
      expect(check?.(text)).toBe('');
      // Proves that promtool checks the text: it complains about a counter without its suffix.
      expect(() => check?.('# HELP a A.\n# TYPE a counter\na 1\n')).toThrow();
    },
  );
});

describe('the names of the table', () => {
  it.each(Object.entries(metricTable))('%s follows Prometheus’ rules', (name, row) => {
    expect(name).toMatch(/^drover_[a-z_]+$/);
    expect(name.endsWith('_total')).toBe(row.type === 'counter');
    if (row.type === 'histogram') expect(name).toMatch(/_seconds$/);
    expect(row.help).toMatch(/\.$/);
    for (const label of Object.keys(row.labels)) {
      expect(label).toMatch(/^[a-z_]+$/);
      expect(label).not.toMatch(/node|pod|group|instance/);
    }
  });
});
