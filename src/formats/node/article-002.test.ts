// Article 002's `ps aux | grep kubelet` and `cat 30-kubelet-extra-args.conf`, verbatim, compared
// with the evaluation of both nodes' user data and the instance facts that the articles print.
import { describe, expect, it } from 'vitest';
import { evaluateUserData } from '../index.ts';
import { exampleFacts } from './facts.ts';

const dropIn = '/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf';
const facts = { ...exampleFacts, kubernetesVersion: '1.22' };

const managedLabels =
  'eks.amazonaws.com/sourceLaunchTemplateVersion=1,alpha.eksctl.io/nodegroup-name=demo-ng,' +
  'alpha.eksctl.io/cluster-name=ironman-2022,' +
  'eks.amazonaws.com/nodegroup-image=ami-08702177b0dcfc054,' +
  'eks.amazonaws.com/capacityType=ON_DEMAND,eks.amazonaws.com/nodegroup=demo-ng,' +
  'eks.amazonaws.com/sourceLaunchTemplateId=lt-04b22845f7d14ce5f';
const ownLabels =
  'alpha.eksctl.io/cluster-name=ironman-2022,alpha.eksctl.io/nodegroup-name=demo-self-ng,' +
  'node-lifecycle=on-demand,alpha.eksctl.io/instance-id=i-02eccc7d3fa79fc6f';

const nodes = [
  {
    kind: 'the managed node',
    privateIp: '192.168.16.253',
    instanceId: 'i-0123456789abcdef0',
    userData: [
      '#!/bin/bash',
      'set -ex',
      `KUBELET_ARGS='--node-labels=${managedLabels} --max-pods=29'`,
      '/etc/eks/bootstrap.sh ironman-2022 --kubelet-extra-args "$KUBELET_ARGS"',
    ],
    extra: `--node-labels=${managedLabels} --max-pods=29`,
  },
  {
    kind: 'the self-managed node',
    privateIp: '192.168.61.255',
    instanceId: 'i-02eccc7d3fa79fc6f',
    userData: [
      '#!/bin/bash',
      'set -ex',
      'INSTANCE_ID=$(imds instance-id)',
      'INSTANCE_LIFECYCLE=$(imds instance-life-cycle)',
      `KUBELET_ARGS="--node-labels=${ownLabels
        .replace('on-demand', '$INSTANCE_LIFECYCLE')
        .replace('i-02eccc7d3fa79fc6f', '$INSTANCE_ID')}"`,
      '/etc/eks/bootstrap.sh ironman-2022 --kubelet-extra-args "$KUBELET_ARGS"',
    ],
    extra: `--node-labels=${ownLabels}`,
  },
] as const;

describe.each(nodes)('$kind of article 002', ({ privateIp, instanceId, userData, extra }) => {
  const { node } = evaluateUserData(userData.join('\n'), { ...facts, privateIp, instanceId });

  it('has the kubelet’s command line that ps shows', () => {
    expect(node.kubelet.arguments.join(' ')).toBe(
      '--cloud-provider aws --config /etc/kubernetes/kubelet/kubelet-config.json ' +
        '--kubeconfig /var/lib/kubelet/kubeconfig --container-runtime docker ' +
        `--network-plugin cni --node-ip=${privateIp} ` +
        '--pod-infra-container-image=602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.5 ' +
        `--v=2 ${extra}`,
    );
  });

  it('has the drop-in that cat shows', () => {
    expect(node.files.find(({ path }) => path === dropIn)?.content).toBe(
      `[Service]\nEnvironment='KUBELET_EXTRA_ARGS=${extra}'\n`,
    );
  });
});
