// Plan and preflight of a version update in a served world. Every problem is reported with node and
// pod before anything is touched, and nothing is written. An update follows a saved plan only while
// the plan is still valid.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const namespace = 'shop';
const group = 'demo-ng';

interface Finding {
  readonly check: string;
  readonly severity: string;
  readonly object: { readonly kind: string; readonly name: string };
  readonly evidence: Readonly<Record<string, string | number>>;
  readonly consequence: { readonly node?: string; readonly pod?: string; readonly minute?: number };
  readonly remedy: string;
  readonly waived?: { readonly reason?: string };
}
interface Plan {
  readonly verdict: string;
  readonly hash: string;
  readonly managedBy: string;
  readonly findings: readonly Finding[];
}

const parse = (text: string): Plan => JSON.parse(text) as Plan;

/** A workload pinned to the group's only node, independent of the scheduler. */
const workload = (
  name: string,
  node: string,
  more: { readonly replicas?: number; readonly spec?: object } = {},
): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    replicas: more.replicas ?? 2,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 100,
                preference: {
                  matchExpressions: [
                    { key: 'kubernetes.io/hostname', operator: 'In', values: [node] },
                  ],
                },
              },
            ],
          },
        },
        containers: [{ name: 'web', image: 'nginx:1.27' }],
        ...more.spec,
      },
    },
  },
});

const budget = (name: string, app: string, spec: object): object => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace },
  spec: { selector: { matchLabels: { app } }, ...spec },
});

const barePod = (node: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'debug', namespace },
  spec: { nodeName: node, containers: [{ name: 'web', image: 'nginx:1.27' }] },
});

const skip = skipWhen('plans', await missing('kubectl', ['version', '--client']));

describe('the plan of a version update', { skip }, () => {
  const suite = suiteWorld({ judged: { settled: true } });
  let world: ServedWorld;
  let node: string;
  before(async () => {
    ({ world } = suite);
    const { stdout } = await world.kubectl(
      'get',
      'nodes',
      '-l',
      `eks.amazonaws.com/nodegroup=${group}`,
      '-o',
      'name',
    );
    node = stdout.trim().replace('node/', '');
  });

  const writesOfPlans = (): readonly string[] =>
    world
      .audit()
      .filter(({ userAgent = '' }) => userAgent.startsWith('drover-cli/'))
      .filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
      .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`);

  const apply = async (...objects: readonly object[]): Promise<void> => {
    const list = { apiVersion: 'v1', kind: 'List', items: objects };
    const { code, stderr } = await world.kubectlInput(JSON.stringify(list), 'apply', '-f', '-');
    assert.equal(code, 0, stderr);
  };

  it('is ready where nothing is in the way, and follows a saved plan', async () => {
    const file = join(world.dataDir, 'plan-1.json');
    const made = await world.drover('plan', 'update', group, '--out', file);
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /^READY\n/);
    assert.ok(existsSync(file));
    assert.equal(parse(readFileSync(file, 'utf8')).verdict, 'ready');
    assert.deepEqual(writesOfPlans(), []);
  });

  it("is blocked while the account's quota leaves no room for a new node, EKS' group as well", async () => {
    await world.drover('world', 'inject', 'vcpu-quota');
    for (const which of [[group], ['--eks', `ironman-2022/${group}`]]) {
      const { code, stdout } = await world.drover('plan', 'update', ...which, '-o', 'json');
      assert.equal(code, 3, stdout);
      const [found] = parse(stdout).findings;
      assert.equal(found?.check, 'account-quota');
      assert.equal(found?.evidence.limit, found?.evidence.used);
      assert.match(found?.remedy ?? '', /--strategy MINIMAL.*--quota-code L-1216C47A/);
    }
    assert.equal((await world.drover('world', 'clear', 'vcpu-quota')).code, 0);
    assert.equal((await world.drover('plan', 'update', group)).code, 0);
    assert.deepEqual(writesOfPlans(), []);
  });

  it('names a tight budget, two budgets, a bare pod and a toleration, each with node and pod', async () => {
    await world.kubectl('create', 'namespace', namespace);
    await apply(
      workload('tight', node),
      budget('tight', 'tight', { minAvailable: '100%' }),
      workload('twice', node),
      budget('twice-1', 'twice', { maxUnavailable: 1 }),
      budget('twice-2', 'twice', { maxUnavailable: 1 }),
      workload('everywhere', node, {
        // It fits on no other node, so it returns to this one.
        spec: {
          tolerations: [{ operator: 'Exists' }],
          nodeSelector: { 'kubernetes.io/hostname': node },
        },
      }),
      barePod(node),
    );
    for (const app of ['tight', 'twice', 'everywhere']) {
      await world.kubectl('-n', namespace, 'rollout', 'status', `deployment/${app}`);
    }
    await world.kubectl('-n', namespace, 'wait', '--for=condition=Ready', 'pod/debug');
    await eventually('the budget counts its pods', async () => {
      const { stdout } = await world.kubectl(
        '-n',
        namespace,
        'get',
        'pdb',
        'tight',
        '-o',
        'jsonpath={.status.expectedPods}',
      );
      return stdout === '2' ? true : undefined;
    });

    const args = ['plan', 'update', group, '--strategy', 'DEFAULT'];
    const { code, stdout, stderr } = await world.drover(...args, '-o', 'json');
    assert.equal(code, 3, stderr);
    const plan = parse(stdout);
    assert.equal(plan.verdict, 'blocked');
    const found = (check: string): Finding => {
      const one = plan.findings.find((finding) => finding.check === check);
      assert.ok(one, `${check} was not found: ${stdout}`);
      return one;
    };
    const expected = [
      ['budget-never-allows', /^shop\/tight$/, /^shop\/tight-/],
      ['several-budgets', /^shop\/twice-/, /^shop\/twice-/],
      ['tolerates-everything', /^shop\/everywhere$/, /^shop\/everywhere-/],
      ['bare-pod', /^shop\/debug$/, /^shop\/debug$/],
    ] as const;
    for (const [check, object, pod] of expected) {
      const { severity, consequence, ...one } = found(check);
      assert.equal(severity, 'blocker', check);
      assert.match(one.object.name, object);
      assert.equal(consequence.node, node, check);
      assert.match(consequence.pod ?? '', pod);
      assert.equal(typeof consequence.minute, 'number', check);
    }
    // A drain that cannot end fails after its 15 minutes, not earlier.
    assert.ok((found('budget-never-allows').consequence.minute ?? 0) >= 15);
    assert.match(stderr, /blocked by .*budget-never-allows/);

    const screen = await world.drover(...args);
    assert.equal(screen.code, 3);
    assert.ok(screen.stdout.trimEnd().split('\n').length <= 24, screen.stdout);
    assert.match(screen.stdout, /^BLOCKED: 4 blockers/);
    assert.deepEqual(writesOfPlans(), []);
  });

  it('is ready when all of them are waived by name, and says so', async () => {
    const checks = ['budget-never-allows', 'several-budgets', 'tolerates-everything'];
    const { code, stdout, stderr } = await world.drover(
      'plan',
      'update',
      group,
      ...checks.flatMap((check) => ['--waive', check]),
      '--waive',
      'bare-pod=a debug pod',
      '-o',
      'json',
    );
    assert.equal(code, 0, stderr);
    const bare = parse(stdout).findings.find(({ check }) => check === 'bare-pod');
    assert.deepEqual(bare?.waived, { reason: 'a debug pod' });
  });

  it('tells the same of the group as EKS shows it, through the kubeconfig alone', async () => {
    const kubeconfig = String(world.env.KUBECONFIG);
    const { code, stdout, stderr } = await world.drover(
      '--kubeconfig',
      kubeconfig,
      'plan',
      'update',
      '--eks',
      `ironman-2022/${group}`,
      '-o',
      'json',
    );
    assert.equal(code, 3, stderr);
    const plan = parse(stdout);
    assert.equal(plan.managedBy, 'eks');
    const blockers = plan.findings.filter(({ severity }) => severity === 'blocker');
    assert.deepEqual([...new Set(blockers.map(({ check }) => check))].toSorted(), [
      'bare-pod',
      'budget-never-allows',
      'several-budgets',
      'tolerates-everything',
    ]);
    assert.deepEqual(writesOfPlans(), []);
    const asked = world
      .audit()
      .filter(({ userAgent = '' }) => userAgent.startsWith('drover-cli/'))
      .map(({ objectRef }) => objectRef?.resource);
    assert.ok(asked.includes('pods'), 'the plans were seen in the audit log at all');
  });

  it('is refused as stale once nodes, pods or budgets are others', async () => {
    const file = join(world.dataDir, 'plan-1.json');
    const { code, stderr } = await world.drover('update', '--plan', file);
    assert.equal(code, 3);
    assert.match(stderr, /is stale/);
    assert.deepEqual(writesOfPlans(), []);
  });

  it('is carried out with its hash and waivers recorded while it holds', async () => {
    await world.kubectl('-n', namespace, 'delete', 'deployment,pdb', '--all');
    await world.kubectl('-n', namespace, 'delete', 'pod', 'debug');
    await eventually('their pods are gone', async () => {
      const { stdout } = await world.kubectl('-n', namespace, 'get', 'pods', '-o', 'name');
      return stdout === '' ? true : undefined;
    });
    const file = join(world.dataDir, 'plan-2.json');
    const made = await world.drover('plan', 'update', group, '--waive', 'timing', '--out', file);
    assert.equal(made.code, 0, made.stderr);
    const begun = await world.drover(
      ...['update', 'nodegroup', group, '--plan', file, '--no-wait'],
    );
    assert.equal(begun.code, 0, begun.stderr);
    const { stdout } = await world.kubectl('get', 'nodegroupupdates', '-o', 'json');
    const { items } = JSON.parse(stdout);
    const { spec } = items.find(
      (one: { readonly spec: { readonly type: string } }) => one.spec.type === 'VersionUpdate',
    );
    assert.equal(spec.planHash, parse(readFileSync(file, 'utf8')).hash);
    assert.equal(spec.waivers[0].check, 'timing');
    await eventually('the update ends', async () => {
      await world.drover('world', 'advance', '2m');
      const status = 'jsonpath={.items[?(@.spec.type=="VersionUpdate")].status.status}';
      const now = await world.kubectl('get', 'nodegroupupdates', '-o', status);
      return now.stdout === 'Successful' ? true : undefined;
    });
    const after = await world.drover('plan', 'update', group);
    assert.match(after.stdout, /^UP TO DATE/);
    await world.drover('world', 'advance', '3m');
  });

  it('is what describe names as the next step once the group is updated', async () => {
    const told = await world.drover('describe', 'ng', group);
    assert.equal(told.code, 0, told.stderr);
    assert.match(told.stdout, new RegExp(`^Name: +${group}\\nCluster: +ironman-2022\\n`));
    assert.match(told.stdout, /\nNewest update:\n {2}\S+ \(VersionUpdate\) Successful/);
    assert.match(told.stdout, new RegExp(`\\nNext: +drover plan update ${group}\\n$`));
    const own = await world.drover('describe', 'ng', 'demo-self-ng');
    assert.equal(own.code, 1);
    assert.match(own.stderr, /^drover: no managed node group demo-self-ng; there are: demo-ng/);
  });

  it('refuses what cannot be: no group, two groups, an unknown check', async () => {
    const usage = [
      ['plan', 'update'],
      ['plan', 'update', group, '--eks', 'a/b'],
      ['plan', 'update', '--eks', 'nonsense'],
      ['plan', 'update', group, '--waive', 'bare-pods'],
      ['update', 'nodegroup', group, '--plan', join(world.dataDir, 'env')],
    ];
    for (const args of usage) {
      const { code, stderr } = await world.drover(...args);
      assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
    }
    const unknown = await world.drover('plan', 'update', '--eks', 'ironman-2022/nothing');
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /aws eks list-nodegroups/);
    const release = await world.drover(
      'plan',
      'update',
      group,
      '--release-version',
      '1.32.0-20200101',
    );
    assert.equal(release.code, 3);
    assert.match(release.stdout, /target-configuration/);
  });
});
