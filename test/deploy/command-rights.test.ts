// The rights of the commands that only read: docs/start.md and deploy/viewer.yaml have exactly what
// the commands request. `RIGHTS=write vitest run test/deploy/command-rights.test.ts` prints both.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { JsonObject } from '../../src/api/json.ts';
import { type Requests, recordReadOnlyCommands } from '../support/read-only-commands.ts';

const root = join(import.meta.dirname, '..', '..');
const page = join(root, 'docs', 'start.md');
const role = join(root, 'deploy', 'viewer.yaml');
const [open, close] = ['<!-- begin: rights -->', '<!-- end: rights -->'];

type Recorded = Readonly<Record<string, Requests>>;

/** `apps/deployments get` -> [`apps`, `deployments`, `get`]. */
const partsOf = (request: string) => {
  const [, group = '', resource = '', verb = ''] = /^([^/]*)\/(\S+) (\S+)$/.exec(request) ?? [];
  return { group, resource, verb };
};

/** IAM has another prefix for this service than its SDK. */
const prefixOf = (service: string): string =>
  service === 'service-quotas' ? 'servicequotas' : service;

const grouped = (entries: readonly (readonly [string, string])[]): readonly string[] => {
  const by = new Map<string, string[]>();
  for (const [key, value] of entries) by.set(key, [...(by.get(key) ?? []), value]);
  return [...by].map(([key, values]) => `${key} ${values.join(', ')}`);
};

const table = (recorded: Recorded): string =>
  [
    '| command | in the cluster | in AWS |',
    '|---|---|---|',
    ...Object.entries(recorded).map(([command, { cluster, aws }]) => {
      const inCluster = grouped(
        cluster.map(partsOf).map(({ resource, verb }) => [verb, resource] as const),
      );
      const named = aws.map((action): [string, string] => {
        const [service = '', operation = ''] = action.split(':');
        return [prefixOf(service), operation];
      });
      const inAws = grouped(named).map((text) => text.replace(' ', ':'));
      return `| \`${command}\` | ${inCluster.join('; ')} | ${inAws.join('; ') || 'none'} |`;
    }),
  ].join('\n');

/** Their names are always the same, and those of others may hold what no viewer should read. */
const namedResources = new Set(['/configmaps']);

const namesOf = (recorded: Recorded, resource: string): JsonObject => {
  if (!namedResources.has(resource)) return {};
  const read = Object.values(recorded).flatMap(({ names }) => names);
  const own = read.filter((one) => one.startsWith(`${resource} `));
  return { resourceNames: [...new Set(own)].map((one) => one.split(' ')[1] ?? '').toSorted() };
};

const viewer = (recorded: Recorded): string => {
  const all = [...new Set(Object.values(recorded).flatMap(({ cluster }) => cluster))].toSorted();
  const rules = new Map<string, Set<string>>();
  for (const { group, resource, verb } of all.map(partsOf)) {
    const key = `${group}/${resource}`;
    rules.set(key, (rules.get(key) ?? new Set()).add(verb));
  }
  const clusterRole = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'drover-viewer' },
    rules: [...rules].map(([key, verbs]) => ({
      apiGroups: [key.slice(0, key.indexOf('/'))],
      resources: [key.slice(key.indexOf('/') + 1)],
      ...namesOf(recorded, key),
      verbs: [...verbs],
    })),
  };
  return `# Printed by test/deploy/command-rights.test.ts; do not edit.\n${stringify(clusterRole)}`;
};

const pageWith = (text: string): string => {
  const [before = '', rest = ''] = readFileSync(page, 'utf8').split(open);
  const [, after = ''] = rest.split(close);
  return `${before}${open}\n${text}\n${close}${after}`;
};

describe('the rights of commands that only read', () => {
  let recorded: Recorded = {};
  beforeAll(async () => {
    recorded = await recordReadOnlyCommands();
    if (process.env.RIGHTS !== 'write') return;
    writeFileSync(page, pageWith(table(recorded)));
    writeFileSync(role, viewer(recorded));
  }, 120_000);

  it('are in docs/start.md as the commands request them', () => {
    expect(readFileSync(page, 'utf8')).toBe(pageWith(table(recorded)));
  });

  it('are in deploy/viewer.yaml, none less and none more', () => {
    expect(readFileSync(role, 'utf8')).toBe(viewer(recorded));
  });

  it('write nothing', () => {
    const requests = Object.values(recorded);
    const verbs = requests.flatMap(({ cluster }) => cluster.map((one) => partsOf(one).verb));
    expect(new Set(verbs)).toEqual(new Set(['get', 'list']));
    const actions = requests.flatMap(({ aws }) => aws);
    expect(actions.filter((one) => !/:(?:Describe|List|Get)/.test(one))).toEqual([]);
  });
});
