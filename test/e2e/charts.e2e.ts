// The charts of deploy/charts with the real helm: bad values are refused, the plain manifests are
// what helm renders, and helm installs both into an embedded world.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { ServedWorld } from '../support/demo-world.ts';
import { missing } from '../support/demo-world.ts';
import { charts, helm, rendered, whyNoHelm } from '../support/helm.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const run = promisify(execFile);
const whyNot = (await missing('kubectl', ['version', '--client'])) ?? (await whyNoHelm());

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
    timeout: 180_000,
  },
  installStories,
);
