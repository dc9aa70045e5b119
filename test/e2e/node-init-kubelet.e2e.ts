// The output of drover node init, read by a real kubelet. The kubelet accepts configuration,
// drop-in and flags and stops only at the container runtime, which does not exist. It refuses the
// values that the rules predict.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { ca, DebianTree, facts, nodeConfig } from '../support/init-trees.ts';
import { kubeletMinor, putKubelet, runKubelet, whyNoKubelet } from '../support/real-kubelet.ts';
import { skipWhen } from '../support/stories.ts';

const whyNot = await whyNoKubelet();
const drover = join(import.meta.dirname, '..', '..', 'bin', 'drover.mjs');
const dropIn = 'etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf';

// Without /sys, the kubelet detects cgroups v1; failCgroupV1 would then end it.
const cgroups = 'failCgroupV1: false';
const withConfig = (...fields: readonly string[]): string =>
  nodeConfig([
    '  kubelet:',
    `    config: { ${[cgroups, ...fields].join(', ')} }`,
    '    flags: ["--node-labels=team=red", "--register-with-taints=a=b:NoSchedule"]',
  ]);

const isAccepted = (said: string): void => {
  assert.match(said, /FLAG: --node-labels="(?:.*,)?team=red/, said);
  assert.match(said, /"Kubelet version" kubeletVersion="v1\./);
  assert.match(said, /Loaded a new CA Bundle and Verifier.*\/etc\/kubernetes\/pki\/ca\.crt/);
  const [last] = said.trimEnd().split('\n').slice(-1);
  assert.match(last ?? '', /validate service connection.*containerd\.sock/);
};

describe('a real kubelet', { skip: skipWhen('node init with a real kubelet', whyNot) }, () => {
  const tree = new DebianTree();
  let kubernetes = '';
  before(async () => {
    kubernetes = await kubeletMinor();
    putKubelet(tree.root);
  });
  after(() => tree.remove());

  const init = async (userData: string): Promise<void> => {
    const source = join(tree.root, 'user-data.txt');
    writeFileSync(source, userData);
    const flags = ['--root', tree.root, '--kubernetes', kubernetes, '--replace'];
    const told = facts.flatMap((fact) => ['--fact', fact]);
    const words = ['node', 'init', '--config-source', `file:${source}`, ...flags, ...told];
    await promisify(execFile)(process.execPath, [drover, ...words]);
  };
  const edit = (path: string, change: (text: string) => string): void => {
    const at = join(tree.root, path);
    writeFileSync(at, change(readFileSync(at, 'utf8')));
  };

  it('takes what node init makes of a NodeConfig', async () => {
    await init(withConfig('maxPods: 20', 'shutdownGracePeriod: 45s'));
    isAccepted(await runKubelet(tree.root));
  });

  it('takes what node init makes of arguments of bootstrap.sh', async () => {
    const extra = `--kubelet-extra-args '--node-labels=team=red --fail-cgroupv1=false'`;
    const cluster = `c --b64-cluster-ca ${ca} --apiserver-endpoint https://e`;
    await init(`#!/bin/bash\n/etc/eks/bootstrap.sh ${cluster} ${extra}\n`);
    isAccepted(await runKubelet(tree.root));
  });

  it('reads the drop-in: one with a wrong field ends it', async () => {
    await init(withConfig('maxPods: 20'));
    edit(dropIn, (text) => text.replace('"maxPods": 20', '"maxPods": "many"'));
    assert.match(await runKubelet(tree.root), /cannot unmarshal string into .*maxPods/);
  });

  it('passes over a field that it does not have, as rule KC001 says', async () => {
    // The mistakes below also use the files of this last run.
    await init(withConfig('maxPodz: 20'));
    isAccepted(await runKubelet(tree.root));
  });

  // KC002 is left out: some distributions' kubelets only warn about an unknown feature gate.
  for (const [rule, flag, words] of [
    [
      'LB001',
      '--node-labels=node-role.kubernetes.io/a=b',
      /unknown 'kubernetes\.io' or 'k8s\.io' label/,
    ],
    ['LB002', '--node-labels=a=b c', /invalid node labels: 'b c'/],
    ['TN001', '--register-with-taints=taint1=true', /invalid taint spec: taint1=true/],
    ['FL003', '--max-pods=many', /invalid argument \\"many\\" for \\"--max-pods\\"/],
    ['FL004', '--node-label=a=b', /unknown flag: --node-label/],
    ['KC003', '--reserved-cpus=0', /can't use reservedSystemCPUs .* with systemReservedCgroup/],
  ] as const) {
    it(`ends at ${flag}, as rule ${rule} says`, async () => {
      const said = await runKubelet(tree.root, flag);
      assert.match(said, words);
      assert.doesNotMatch(said, /validate service connection/);
    });
  }
});
