// Alerts, dashboard and runbooks: printed from their data, about metrics that exist, and judged by
// promtool where it is installed (Debian: prometheus).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { alerts } from '../../scripts/alerts.ts';
import { dashboardRows } from '../../scripts/dashboard.ts';
import { monitoringFiles } from '../../scripts/print-monitoring.ts';
import { type MetricRow, metricTable } from '../../src/ports/index.ts';

const root = join(import.meta.dirname, '..', '..');
const table: Readonly<Record<string, MetricRow>> = metricTable;

/** What a query names that the table does not have. */
const unknownIn = (expr: string): readonly string[] => {
  const names = [...expr.matchAll(/\bdrover_\w+/g)].map(([name]) => name);
  const faults = names.flatMap((name) => {
    const base = name.replace(/_(?:bucket|sum|count)$/, '');
    const row = table[base] ?? table[name];
    if (row === undefined) return [name];
    return base !== name && row.type !== 'histogram' ? [name] : [];
  });
  const labels = new Set(
    names.flatMap((name) => {
      const row = table[name.replace(/_(?:bucket|sum|count)$/, '')] ?? table[name];
      return Object.keys(row?.labels ?? {});
    }),
  );
  const used = [
    ...[...expr.matchAll(/\bby \(([\w, ]+)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/)),
    ...[...expr.matchAll(/[{,]\s*(\w+)(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  ];
  return [...faults, ...used.filter((label) => label !== 'le' && !labels.has(label))];
};

describe('the files of deploy/monitoring and the index of the runbooks', () => {
  it.each(Object.entries(monitoringFiles()))('%s is printed from its data', (name, text) => {
    expect(readFileSync(join(root, name), 'utf8')).toBe(text);
  });

  it('have one runbook per alert, and no other', () => {
    const pages = readdirSync(join(root, 'docs', 'runbooks')).sort();
    expect(pages).toEqual([...alerts.map(({ name }) => `${name}.md`), 'README.md'].sort());
    for (const { name } of alerts) {
      const page = readFileSync(join(root, 'docs', 'runbooks', `${name}.md`), 'utf8');
      expect(page).toMatch(new RegExp(`^# ${name}\n`));
    }
  });

  it('select pods by labels that the manifests have', () => {
    const manifests = ['install.yaml', 'agent/daemonset.yaml']
      .map((name) => readFileSync(join(root, 'deploy', name), 'utf8'))
      .join('\n');
    const pages = alerts.map(({ name }) =>
      readFileSync(join(root, 'docs', 'runbooks', `${name}.md`), 'utf8'),
    );
    const selectors = [...pages.join('\n').matchAll(/kubectl [^`]*-l (\S+)=([^`\s]+)/g)];
    expect(selectors.length).toBeGreaterThan(0);
    for (const [, key, value] of selectors) expect(manifests).toContain(`${key}: ${value}`);
  });
});

describe('a query', () => {
  it.each(alerts.map(({ name, expr }) => [name, expr]))('of %s names what exists', (_, expr) => {
    expect(unknownIn(expr)).toEqual([]);
  });

  const panels = dashboardRows.flatMap(([, all]) => all.map((one) => [one.title, one] as const));
  it.each(panels)('of the panel %s names what exists', (_, { queries }) => {
    const ours = queries.map(([expr]) => expr).filter((expr) => expr.includes('drover_'));
    expect(ours.flatMap(unknownIn)).toEqual([]);
  });

  it('with a wrong metric, label or suffix is found', () => {
    expect(unknownIn('rate(drover_drain_total[5m])')).toEqual(['drover_drain_total']);
    expect(unknownIn('sum by (node) (drover_drains_total)')).toEqual(['node']);
    expect(unknownIn('drover_leader_sum')).toEqual(['drover_leader_sum']);
    expect(unknownIn('drover_drains_total{result="Failed"}')).toEqual(['result']);
  });
});

const hasPromtool = (() => {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** For each alert: series that fire it, the minute, the labels, and series that do not. */
const cases: Readonly<
  Record<
    string,
    { fires: readonly string[]; at: string; labels?: object; quiet: readonly string[] }
  >
> = {
  DroverNoLeader: {
    fires: ['drover_leader{pod="a"} 0x60', 'drover_leader{pod="b"} 0x60'],
    at: '10m',
    quiet: ['drover_leader{pod="a"} 0x60', 'drover_leader{pod="b"} 1x60'],
  },
  DroverHookExpired: {
    fires: ['drover_lifecycle_hooks_total{result="Expired"} 0x10 1x50'],
    at: '30m',
    quiet: ['drover_lifecycle_hooks_total{result="CONTINUE"} 0+3x60'],
  },
  DroverDrainBlocked: {
    fires: ['drover_drain_oldest_wait_seconds{waiting_on="pdb"} 0+60x60'],
    at: '20m',
    labels: { waiting_on: 'pdb' },
    quiet: ['drover_drain_oldest_wait_seconds{waiting_on="cooldown"} 0+60x60'],
  },
  DroverDrainsFailing: {
    fires: ['drover_drains_total{cause="Update",outcome="Failed"} 0x10 1x50'],
    at: '30m',
    labels: { cause: 'Update' },
    quiet: ['drover_drains_total{cause="Update",outcome="Drained"} 0+3x60'],
  },
  DroverUpdateFailed: {
    fires: ['drover_updates_total{strategy="SURGE",outcome="Failed"} 0x10 1x50'],
    at: '30m',
    labels: { strategy: 'SURGE' },
    quiet: ['drover_updates_total{strategy="SURGE",outcome="Successful"} 0+1x60'],
  },
  DroverRepairsFailing: {
    fires: ['drover_repairs_total{phase="Failed"} 0x10 1x50'],
    at: '30m',
    quiet: ['drover_repairs_total{phase="Succeeded"} 0+1x60'],
  },
  DroverNoticesLate: {
    fires: [
      'drover_notice_lag_seconds_bucket{le="10"} 0x60',
      'drover_notice_lag_seconds_bucket{le="30"} 0+5x60',
      'drover_notice_lag_seconds_bucket{le="+Inf"} 0+5x60',
    ],
    at: '30m',
    quiet: [
      'drover_notice_lag_seconds_bucket{le="0.5"} 0+5x60',
      'drover_notice_lag_seconds_bucket{le="+Inf"} 0+5x60',
    ],
  },
  DroverCloudRefuses: {
    fires: ['drover_cloud_requests_total{operation="completeHook",code="AccessDenied"} 0+6x60'],
    at: '30m',
    labels: { operation: 'completeHook', code: 'AccessDenied' },
    quiet: ['drover_cloud_requests_total{operation="describeGroups",code="OK"} 0+60x60'],
  },
  DroverReconcileFailing: {
    fires: ['drover_assertion_failures_total{queue="repair"} 0x10 1x50'],
    at: '30m',
    labels: { queue: 'repair' },
    quiet: ['drover_reconcile_errors_total{queue="repair",retry="now"} 0+60x60'],
  },
  DroverNotificationsFailing: {
    fires: ['drover_notifications_total{result="refused"} 0x10 1x50'],
    at: '30m',
    labels: { result: 'refused' },
    quiet: ['drover_notifications_total{result="sent"} 0+6x60'],
  },
  DroverNotificationsPending: {
    fires: ['drover_notifications_pending 0x10 3x50'],
    at: '30m',
    quiet: ['drover_notifications_pending 0x10 3x10 0x40'],
  },
};

const inputSeries = (lines: readonly string[]) =>
  lines.map((line) => {
    const space = line.indexOf(' ');
    return { series: line.slice(0, space), values: line.slice(space + 1) };
  });

/** Only the alert under test: others look at the same series. */
const testFile = (ruleFile: string): object => ({
  rule_files: [ruleFile],
  evaluation_interval: '1m',
  tests: alerts.flatMap((alert) => {
    const known = cases[alert.name];
    if (known === undefined) throw new Error(`no case for ${alert.name}`);
    const { name, severity, summary } = alert;
    const labels: Readonly<Record<string, unknown>> = { ...known.labels };
    const told = summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label) =>
      String(labels[label]),
    );
    const exp = {
      exp_labels: { severity, ...labels },
      exp_annotations: { summary: told, runbook: `docs/runbooks/${name}.md` },
    };
    const at = { eval_time: known.at, alertname: name };
    return [
      {
        interval: '1m',
        input_series: inputSeries(known.fires),
        alert_rule_test: [{ ...at, exp_alerts: [exp] }],
      },
      {
        interval: '1m',
        input_series: inputSeries(known.quiet),
        alert_rule_test: [{ ...at, exp_alerts: [] }],
      },
    ];
  }),
});

describe.skipIf(!hasPromtool)('promtool (Debian: prometheus)', () => {
  it('accepts the rules, and each alert fires on its series and on no other', () => {
    const rules = join(root, 'deploy', 'monitoring', 'rules.yaml');
    const run = (...args: string[]) =>
      execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' });
    expect(run('check', 'rules', rules)).toContain(`${alerts.length} rules found`);
    const dir = mkdtempSync(join(tmpdir(), 'drover-rules-'));
    try {
      const file = join(dir, 'test.yaml');
      writeFileSync(file, stringify(testFile(rules)));
      expect(run('test', 'rules', file)).toContain('SUCCESS');
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
