// Prints deploy/monitoring (a plain rule file, the same as a PrometheusRule, a Grafana dashboard)
// and the index of docs/runbooks from scripts/alerts.ts and scripts/dashboard.ts. A test
// (test/deploy/monitoring.test.ts) fails when they are out of date.
// Run: node scripts/print-monitoring.ts
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { type Alert, alerts } from './alerts.ts';
import { dashboard } from './dashboard.ts';

const root = join(import.meta.dirname, '..');

/**
 * The annotation `runbook` is a path in this repository: no web address serves the pages for all
 * installations, and `runbook_url` would be shown as a link. docs/metrics.md says how to make it
 * one.
 */
const runbook = (name: string): string => `docs/runbooks/${name}.md`;

const ruleOf = ({ name, expr, severity, summary, ...rest }: Alert) => ({
  alert: name,
  expr,
  ...rest,
  labels: { severity },
  annotations: { summary, runbook: runbook(name) },
});

const groups = [{ name: 'drover', rules: alerts.map(ruleOf) }];
const header = '# Printed from scripts/alerts.ts by scripts/print-monitoring.ts; do not edit.\n';
const yaml = (document: object): string => `${header}${stringify(document, { lineWidth: 0 })}`;

const index = (): string => `# Runbooks

One page per alert of [deploy/monitoring](../../deploy/monitoring). Printed by \`scripts/print-monitoring.ts\`.

| alert | severity | fires when |
|---|---|---|
${alerts
  .map(({ name, severity, summary }) => {
    const text = summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label) => `(${label})`);
    return `| [${name}](${name}.md) | ${severity} | ${text} |`;
  })
  .join('\n')}
`;

/** Text by file name, from the root of the repository. */
export const monitoringFiles = (): Readonly<Record<string, string>> => ({
  'deploy/monitoring/rules.yaml': yaml({ groups }),
  'deploy/monitoring/alerts.yaml': yaml({
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'drover', namespace: 'kube-system', labels: { app: 'drover' } },
    spec: { groups },
  }),
  'deploy/monitoring/dashboard.json': `${JSON.stringify(dashboard(), undefined, 2)}\n`,
  'docs/runbooks/README.md': index(),
});

if (import.meta.main) {
  for (const [name, text] of Object.entries(monitoringFiles())) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}
