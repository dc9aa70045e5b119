// The charts of deploy/charts with the real helm: bad values are refused, the plain manifests are
// what helm renders, and helm installs both into an embedded world.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { ServedWorld } from '../support/demo-world.ts';
import { missing } from '../support/demo-world.ts';
import { charts, helm, rendered, whyNoHelm } from '../support/helm.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const run = promisify(execFile);
const whyNot = (await missing('kubectl', ['version', '--client'])) ?? (await whyNoHelm());

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly selector?: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template?: {
      readonly metadata: {
        readonly labels: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
      readonly spec: {
        readonly containers: readonly {
          readonly args: readonly string[];
          readonly ports?: readonly { readonly name: string }[];
        }[];
      };
    };
  };
}

const refusal = async (...args: readonly string[]): Promise<string> => {
  const failed: unknown = await rendered(...args).catch((error: unknown) => error);
  assert.ok(failed instanceof Error, `helm accepted ${args.join(' ')}`);
  return failed.message;
};

const renderStories = (): void => {
  it('lints both charts', async () => {
    await run(helm, ['lint', '--strict', join(charts, 'drover'), join(charts, 'drover-crds')]);
  });

  it('deploy/install.yaml is what helm renders (node scripts/print-install.ts)', async () => {
    const file = join(charts, '..', 'install.yaml');
    const [, ...text] = (await readFile(file, 'utf8')).split('\n');
    assert.equal(text.join('\n'), await rendered());
  });

  it('sets the region of the queue, and refuses one without or with another', async () => {
    const region = async (...sets: readonly string[]) =>
      /AWS_REGION\n +value: (\S+)/.exec(
        await rendered(...sets.flatMap((set) => ['--set', set])),
      )?.[1];
    const queue = (host: string) => `controller.queueUrl=https://${host}/111111111111/q`;
    assert.equal(await region(), undefined);
    assert.equal(await region(queue('sqs.eu-west-1.amazonaws.com')), 'eu-west-1');
    assert.equal(
      await region(queue('vpce-1.sqs.us-gov-west-1.vpce.amazonaws.com')),
      'us-gov-west-1',
    );
    assert.equal(await region(queue('q.example'), 'controller.awsRegion=eu-west-1'), 'eu-west-1');
    assert.match(
      await refusal('--set', queue('q.example')),
      /set controller.awsRegion: the address https:\/\/q.example\/111111111111\/q .* names no region/,
    );
    const other = `${queue('sqs.eu-west-1.amazonaws.com')},controller.awsRegion=us-east-1`;
    assert.match(await refusal('--set', other), /awsRegion is us-east-1 .* is in eu-west-1/);
  });

  it('pulls the image of the agent as that of the controller', async () => {
    const sets = 'agent.enabled=true,image.pullPolicy=Always,imagePullSecrets[0].name=mine';
    const [, agent = ''] = (await rendered('--set', sets)).split('kind: DaemonSet');
    const [daemonSet = ''] = agent.split('\n---');
    assert.match(daemonSet, /image: drover:0.1.0\n +imagePullPolicy: Always/);
    assert.match(daemonSet, /imagePullSecrets:\n +- name: mine/);
  });

  it('mounts the directory of bundles, only when there is one', async () => {
    const agent = ['--set', 'agent.enabled=true'];
    assert.doesNotMatch(await rendered(...agent), /bundle-directory|name: bundles/);
    const text = await rendered(...agent, '--set', 'agent.bundleDirectory=/mnt/shared');
    assert.match(text, /- agent\n +- --bundle-directory=\/mnt\/shared\n +- --host-root\n/);
    assert.match(text, /- name: bundles\n +mountPath: \/mnt\/shared\n/);
    assert.match(text, /- name: bundles\n +hostPath:\n +path: \/mnt\/shared\n/);
  });

  it('gives the agent a port for metrics, and monitors for Prometheus, only when asked to', async () => {
    const agent = ['--set', 'agent.enabled=true'];
    const without = await rendered(...agent);
    assert.doesNotMatch(without, /HOST_IP|prometheus\.io|PodMonitor/);
    const metrics = ['--set', 'agent.metrics.enabled=true', '--set', 'podMonitor=true'];
    const text = await rendered(...agent, ...metrics);
    const documents = parseAllDocuments(text).map((one) => one.toJS() as Rendered);
    const monitors = documents.filter(({ kind }) => kind === 'PodMonitor');
    assert.deepEqual(
      monitors.map(({ metadata }) => metadata.name),
      ['drover-controller', 'drover-agent'],
    );
    const pods = documents.flatMap(({ spec }) => spec?.template ?? []);
    for (const { spec } of monitors) {
      const selected = pods.filter(({ metadata: { labels } }) =>
        Object.entries(spec?.selector?.matchLabels ?? {}).every(
          ([key, one]) => labels[key] === one,
        ),
      );
      assert.equal(selected.length, 1);
      const ports = selected[0]?.spec.containers[0]?.ports ?? [];
      assert.ok(ports.some(({ name }) => name === 'metrics'));
    }
    const daemon = documents.find(({ kind }) => kind === 'DaemonSet')?.spec?.template;
    assert.equal(daemon?.metadata.annotations?.['prometheus.io/port'], '9101');
    assert.ok(daemon?.spec.containers[0]?.args.includes('--metrics-host=$(HOST_IP)'));
  });

  it('serves the page on the loopback of the pod alone, only when asked to', async () => {
    const port = /page-port|name: page|tokenreviews|8780/;
    assert.doesNotMatch(await rendered('--set', 'page.actions=true'), port);
    const text = await rendered('--set', 'page.enabled=true');
    const documents = parseAllDocuments(text).map((one) => one.toJS() as Rendered);
    const [pod] = documents.flatMap(({ spec }) => spec?.template?.spec.containers ?? []);
    const args = pod?.args.filter((one) => one.startsWith('--page'));
    assert.deepEqual(args, ['--page-port=8780']);
    const role = documents.filter(({ metadata }) => metadata.name === 'drover-controller-page');
    assert.deepEqual(
      role.map(({ kind }) => kind),
      ['ClusterRole', 'ClusterRoleBinding'],
    );
    const policy = documents.find(({ kind }) => kind === 'NetworkPolicy');
    assert.doesNotMatch(JSON.stringify(policy), /8780|"page"/);
    assert.ok(documents.every(({ kind }) => kind !== 'Service'));
    const acting = await rendered('--set', 'page.enabled=true,page.actions=true,page.port=9000');
    assert.match(acting, /- --page-port=9000\n +- --page-actions\n/);
    assert.match(await refusal('--set', 'page.port=8080'), /page/);
  });

  it('refuses unknown keys, wrong types and another namespace', async () => {
    assert.match(
      await refusal('--set', 'replica=3'),
      /additional properties 'replica' not allowed/,
    );
    assert.match(await refusal('--set', 'replicas=0'), /minimum: got 0, want 1/);
    assert.match(await refusal('--set', 'controller.compat=aws'), /must be one of 'eks', 'native'/);
    assert.match(await refusal('--set', 'image.digest=sha256:1'), /does not match pattern/);
    assert.match(
      await refusal('--namespace', 'drover'),
      /drover runs in kube-system, not in drover: run helm with --namespace kube-system/,
    );
  });
};

const installStories = (): void => {
  let world: ServedWorld;
  const suite = suiteWorld({ args: ['--demo', '--port', '0', '--no-controller'] });
  before(() => {
    world = suite.world;
  });
  const helmed = (...args: readonly string[]) =>
    run(helm, [...args, '--namespace', 'kube-system'], { env: world.env });

  it('installs the controller, upgrades it and takes it away', async () => {
    const chart = join(charts, 'drover');
    await helmed('install', 'drover', chart, '--set', 'agent.enabled=true');
    const images = ['get', 'deployment', 'drover-controller', '-n', 'kube-system', '-o'];
    const path = 'jsonpath={.spec.template.spec.containers[0].image}';
    assert.equal((await world.kubectl(...images, path)).stdout, 'drover:0.1.0');
    await helmed('upgrade', 'drover', chart, '--set', 'image.tag=0.2.0,agent.enabled=true');
    assert.equal((await world.kubectl(...images, path)).stdout, 'drover:0.2.0');
    await helmed('rollback', 'drover', '1');
    assert.equal((await world.kubectl(...images, path)).stdout, 'drover:0.1.0');
    await helmed('uninstall', 'drover');
    const left = await world.kubectl(
      ...['get', 'deploy,ds,sa,pdb,netpol,roles', '-n', 'kube-system', '-o', 'name'],
    );
    assert.doesNotMatch(left.stdout, /drover/);
  });

  it('takes over the definitions, and leaves them when the chart goes', async () => {
    const chart = join(charts, 'drover-crds');
    await helmed('install', 'drover-crds', chart, '--take-ownership');
    await helmed('uninstall', 'drover-crds');
    const { stdout } = await world.kubectl('get', 'nodegroups', '-o', 'name');
    assert.match(stdout, /nodegroup.drover.dev\/demo-ng/);
  });
};

describe('the charts, rendered', { skip: skipWhen('the charts of deploy', whyNot) }, renderStories);
describe(
  'the charts in an embedded world',
  {
    skip: skipWhen('the charts in a world', whyNot),
    timeout: 300_000,
  },
  installStories,
);
