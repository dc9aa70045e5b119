// A rehearsal of a minor version upgrade with the real aws and kubectl, and with eksctl's commands
// as drover: first the control plane, then the nodes.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));

const cluster = 'ironman-2022';
const group = 'next';

const labels = { app: 'web' };
const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        nodeSelector: { 'eks.amazonaws.com/nodegroup': group },
        containers: [{ name: 'web', image: 'web:1' }],
      },
    },
  },
};
const budget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web', namespace: 'default' },
  spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
};
const both = { apiVersion: 'v1', kind: 'List', items: [web, budget] };

describe('a minor version upgrade', {
  skip: skipWhen('a minor version upgrade', whyNot),
  timeout: 600_000,
}, () => {
  let world: ServedWorld;
  const suite = suiteWorld({
    args: ['--demo', '--port', '0', '--speed', '30'],
    judged: { settled: true },
  });
  before(() => {
    world = suite.world;
  });

  const eks = (operation: string, ...more: readonly string[]) =>
    world.aws('eks', operation, ...more);
  const text = async (operation: string, query: string, ...more: readonly string[]) => {
    const ran = await eks(operation, ...more, '--query', query, '--output', 'text');
    assert.equal(ran.code, 0, ran.stderr);
    return ran.stdout.trim();
  };
  const serverVersion = async (): Promise<string> => {
    const ran = await world.kubectl('version', '-o', 'json');
    assert.equal(ran.code, 0, ran.stderr);
    const { serverVersion } = JSON.parse(ran.stdout) as { serverVersion: { gitVersion: string } };
    return serverVersion.gitVersion;
  };
  const kubelets = async (): Promise<string> => {
    const path = 'jsonpath={.items[*].status.nodeInfo.kubeletVersion}';
    const selector = `eks.amazonaws.com/nodegroup=${group}`;
    const ran = await world.kubectl('get', 'nodes', '-l', selector, '-o', path);
    return [...new Set(ran.stdout.trim().split(' '))].join(' ');
  };
  const upgrade = (...more: readonly string[]) =>
    world.drover('upgrade', 'cluster', '--name', cluster, ...more);

  it('begins with a group of Amazon Linux 2023 at the version of the cluster', async () => {
    const shown = ['--cluster-name', cluster, '--nodegroup-name', 'demo-ng'];
    const subnets = await text('describe-nodegroup', 'nodegroup.subnets', ...shown);
    const role = await text('describe-nodegroup', 'nodegroup.nodeRole', ...shown);
    const created = await eks(
      'create-nodegroup',
      ...['--cluster-name', cluster, '--nodegroup-name', group, '--node-role', role],
      ...['--ami-type', 'AL2023_x86_64_STANDARD', '--subnets', ...subnets.split(/\s+/)],
      ...['--scaling-config', 'minSize=1,maxSize=3,desiredSize=2'],
    );
    assert.equal(created.code, 0, created.stderr);
    await eventually('two nodes of 1.32', async () =>
      (await kubelets()).startsWith('v1.32.') ? true : undefined,
    );
    await eventually('the group is ACTIVE', async () => {
      const named = ['--cluster-name', cluster, '--nodegroup-name', group];
      const status = await text('describe-nodegroup', 'nodegroup.status', ...named);
      return status === 'ACTIVE' ? true : undefined;
    });
    assert.match(await serverVersion(), /^v1\.32\./);
    const applied = await world.kubectlInput(JSON.stringify(both), 'apply', '-f', '-');
    assert.equal(applied.code, 0, applied.stderr);
    const rolledOut = await world.kubectl('rollout', 'status', 'deployment/web');
    assert.equal(rolledOut.code, 0, rolledOut.stderr);
  });

  it('names the images of the next version before anything moves', async () => {
    const name = `/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended/release_version`;
    const ran = await world.aws('ssm', 'get-parameter', '--name', name);
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /"Value": "1\.33\.\d+-\d{8}"/);
  });

  it('refuses steps that EKS refuses, in its words', async () => {
    const far = await eks(
      'update-cluster-version',
      '--name',
      cluster,
      '--kubernetes-version',
      '1.34',
    );
    assert.match(
      far.stderr,
      /InvalidParameterException.*Unsupported Kubernetes minor version update from 1\.32 to 1\.34/,
    );
    const early = await eks(
      ...(['update-nodegroup-version', '--cluster-name', cluster] as const),
      ...['--nodegroup-name', group, '--kubernetes-version', '1.33'],
    );
    assert.match(early.stderr, /should be equal to Cluster kubernetes version 1\.32/);
    const told = await upgrade('--version', '1.34', '--approve');
    assert.equal(told.code, 3, told.stderr);
    assert.match(told.stderr, /one minor version at a time; ask for --version 1\.33/);
  });

  it('is planned by drover upgrade cluster until it is approved', async () => {
    const planned = await upgrade();
    assert.equal(planned.code, 0, planned.stderr);
    assert.match(
      planned.stdout,
      /\(plan\) would upgrade cluster "ironman-2022" control plane from current version "1\.32" to "1\.33"/,
    );
    assert.match(planned.stdout, /no changes were applied, run again with '--approve'/);
    assert.equal(await text('describe-cluster', 'cluster.version', '--name', cluster), '1.32');
    assert.equal(await text('list-updates', 'updateIds', '--name', cluster), '');
  });

  it('of the control plane is an update that one can wait for', async () => {
    const done = await upgrade('--version', '1.33', '--approve');
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /control plane has been upgraded to version "1\.33"/);
    assert.match(await serverVersion(), /^v1\.33\.\d+-eks-/);
    assert.match(await kubelets(), /^v1\.32\./);
    const id = await text('list-updates', 'updateIds[0]', '--name', cluster);
    const what = ['--name', cluster, '--update-id', id];
    const query = 'update.[type,status,params[0].value]';
    assert.equal(await text('describe-update', query, ...what), 'VersionUpdate\tSuccessful\t1.33');
    const again = await upgrade('--version', '1.33', '--approve');
    assert.match(again.stdout, /no cluster version update required/);
  });

  it('of the nodes replaces them by ones that print the new version', async () => {
    const named = ['--cluster-name', cluster, '--nodegroup-name', group];
    const begun = await eks('update-nodegroup-version', ...named, '--kubernetes-version', '1.33');
    assert.equal(begun.code, 0, begun.stderr);
    const { update } = JSON.parse(begun.stdout) as { update: { id: string } };
    const what = ['--name', cluster, '--nodegroup-name', group, '--update-id', update.id];
    await eventually(
      'the update is Successful',
      async () => {
        const status = await text('describe-update', 'update.status', ...what);
        assert.notEqual(status, 'Failed');
        return status === 'Successful' ? true : undefined;
      },
      240_000,
    );
    assert.match(await kubelets(), /^v1\.33\.\d+-eks-\w+$/);
    assert.equal(await text('describe-nodegroup', 'nodegroup.version', ...named), '1.33');
    const rolledOut = await world.kubectl('rollout', 'status', 'deployment/web');
    assert.equal(rolledOut.code, 0, rolledOut.stderr);
  });

  it('begins with aws, too, whose waiter ends when the cluster is ACTIVE again', async () => {
    const begun = await text(
      'update-cluster-version',
      'update.[type,status]',
      ...['--name', cluster, '--kubernetes-version', '1.34'],
    );
    assert.equal(begun, 'VersionUpdate\tInProgress');
    const waited = await eks('wait', 'cluster-active', '--name', cluster);
    assert.equal(waited.code, 0, waited.stderr);
    assert.match(await serverVersion(), /^v1\.34\./);
  });
});
