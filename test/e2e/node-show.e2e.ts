// The files on the nodes of article 002, read from a running world: the kubelet's command line, the
// drop-in, every other file. The tests also cover requests that are refused.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { missing, type ServedWorld } from '../support/demo-world.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);
const dropIn = '/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf';

interface Listed {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
    readonly spec: { readonly providerID: string };
    readonly status: { readonly addresses: readonly { readonly address: string }[] };
  }[];
}

const nodeOf = async (world: ServedWorld, group: string) => {
  const selector = `alpha.eksctl.io/nodegroup-name=${group}`;
  const ran = await world.kubectl('get', 'nodes', '-l', selector, '-o', 'json');
  const [node] = (JSON.parse(ran.stdout) as Listed).items;
  assert.ok(node !== undefined, `${group} has a node`);
  return node;
};

const nodesFromWithin = (): void => {
  let world: ServedWorld;
  const suite = suiteWorld({ args: ['--demo', '--port', '0', '--no-controller'] });
  before(async () => {
    world = suite.world;
    const ready = ['wait', '--for=condition=Ready', 'nodes', '--all', '--timeout=120s'];
    assert.equal((await world.kubectl(...ready)).code, 0);
  });

  it('has article 002’s command line and drop-in on the managed node', async () => {
    const { metadata, status } = await nodeOf(world, 'demo-ng');
    const shown = ['node', 'show', metadata.name];
    const { stdout } = await world.drover(...shown, '--kubelet-args', '--kubernetes', '1.22');
    const label = (key: string): string => `${key}=${metadata.labels[key]}`;
    const labels = [
      'eks.amazonaws.com/sourceLaunchTemplateVersion',
      'alpha.eksctl.io/nodegroup-name',
      'alpha.eksctl.io/cluster-name',
      'eks.amazonaws.com/nodegroup-image',
      'eks.amazonaws.com/capacityType',
      'eks.amazonaws.com/nodegroup',
      'eks.amazonaws.com/sourceLaunchTemplateId',
    ].map(label);
    const extra = `--node-labels=${labels.join(',')} --max-pods=29`;
    assert.equal(
      stdout.trim(),
      '/usr/bin/kubelet --cloud-provider aws --config ' +
        '/etc/kubernetes/kubelet/kubelet-config.json --kubeconfig /var/lib/kubelet/kubeconfig ' +
        `--container-runtime docker --network-plugin cni --node-ip=${status.addresses[0]?.address} ` +
        '--pod-infra-container-image=602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.5 ' +
        `--v=2 ${extra}`,
    );
    const file = await world.drover(...shown, '--file', dropIn);
    assert.equal(file.stdout, `[Service]\nEnvironment='KUBELET_EXTRA_ARGS=${extra}'\n`);
  });

  it('has the instance’s own facts on the self-managed node', async () => {
    const { metadata, spec } = await nodeOf(world, 'demo-self-ng');
    const instanceId = spec.providerID.split('/').at(-1) ?? '';
    const { stdout } = await world.drover('node', 'show', instanceId, '--file', dropIn);
    const labels =
      'alpha.eksctl.io/cluster-name=ironman-2022,alpha.eksctl.io/nodegroup-name=demo-self-ng,' +
      `node-lifecycle=on-demand,alpha.eksctl.io/instance-id=${instanceId}`;
    assert.equal(stdout, `[Service]\nEnvironment='KUBELET_EXTRA_ARGS=--node-labels=${labels}'\n`);
    const whole = await world.drover('node', 'show', metadata.name, '-o', 'json');
    const document = JSON.parse(whole.stdout);
    assert.equal(document.kind, 'NodeBootstrap');
    assert.equal(document.joins, true);
    assert.equal(document.instanceId, instanceId);
  });

  it('says what there is instead of what there is not', async () => {
    const { metadata } = await nodeOf(world, 'demo-ng');
    const file = await world.drover('node', 'show', metadata.name, '--file', '/etc/nothing');
    assert.equal(file.code, 1);
    assert.match(file.stderr, /writes no \/etc\/nothing; it writes .*kubelet-config\.json/);
    const unknown = await world.drover('node', 'show', 'ip-1-2-3-4');
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /no node ip-1-2-3-4 in this world, and no instance/);
  });
};

describe('drover node show', { skip: skipWhen('node show', whyNot) }, nodesFromWithin);
