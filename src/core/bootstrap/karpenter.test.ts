// User data in the form that Karpenter writes for each family, including its quotes: the labels
// reach the kubelet, and lint reports nothing.
import { describe, expect, it } from 'vitest';
import { evaluateUserData, exampleAuthority, exampleFacts } from '../../formats/index.ts';
import { lint } from './lint.ts';
import { lines, mime, part } from './rules/samples.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const labels = 'karpenter.sh/capacity-type=spot,karpenter.sh/nodepool=general,team=red';
const taint = 'karpenter.sh/unregistered:NoExecute';
const endpoint = 'https://ABCDEF.gr7.eu-west-1.eks.amazonaws.com';
const flags = `--node-labels="${labels}" --register-with-taints="${taint}" --max-pods=58`;

const nodeConfig = lines(
  '# Karpenter Generated NodeConfig',
  'apiVersion: node.eks.aws/v1alpha1',
  'kind: NodeConfig',
  'metadata: {}',
  'spec:',
  '  cluster:',
  `    apiServerEndpoint: ${endpoint}`,
  `    certificateAuthority: ${exampleAuthority}`,
  '    cidr: 10.100.0.0/16',
  '    name: workloads',
  '  containerd: {}',
  '  instance:',
  '    localStorage: {}',
  '  kubelet:',
  '    config:',
  '      clusterDNS:',
  '      - 10.100.0.10',
  '      maxPods: 58',
  '      registerWithTaints:',
  '      - effect: NoExecute',
  '        key: karpenter.sh/unregistered',
  '    flags:',
  `    - --node-labels="${labels}"`,
);
const script = lines(
  '#!/bin/bash -xe',
  'exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1',
  `/etc/eks/bootstrap.sh 'workloads' --apiserver-endpoint '${endpoint}' --b64-cluster-ca '${exampleAuthority}' \\`,
  "--dns-cluster-ip '10.100.0.10' \\",
  '--use-max-pods false \\',
  `--kubelet-extra-args '${flags}' \\`,
  '--local-disks raid0',
);
const users = part('text/x-shellscript; charset="us-ascii"', lines('#!/bin/bash', 'echo hello'));
const usersConfig = lines(
  'apiVersion: node.eks.aws/v1alpha1',
  'kind: NodeConfig',
  'spec:',
  '  kubelet:',
  '    config:',
  '      maxPods: 42',
);
const windows = lines(
  '<powershell>',
  'Write-Host "hello"',
  '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"',
  `& $EKSBootstrapScriptFile -EKSClusterName 'workloads' -APIServerEndpoint '${endpoint}' -Base64ClusterCA '${exampleAuthority}' -KubeletExtraArgs '${flags}' -DNSClusterIP '10.100.0.10'`,
  '</powershell>',
);
const settings = lines(
  '[settings]',
  '[settings.kubernetes]',
  `api-server = '${endpoint}'`,
  "cloud-provider = 'external'",
  `cluster-certificate = '${exampleAuthority}'`,
  "cluster-name = 'workloads'",
  "cluster-dns-ip = '10.100.0.10'",
  'max-pods = 58',
  '',
  '[settings.kubernetes.node-labels]',
  "'karpenter.sh/capacity-type' = 'spot'",
  "'karpenter.sh/nodepool' = 'general'",
  "team = 'red'",
  '',
  '[settings.kubernetes.node-taints]',
  "'karpenter.sh/unregistered' = [':NoExecute']",
);

const cases = [
  ['al2023', 'generated alone', mime(part('application/node.eks.aws', nodeConfig))],
  [
    'al2023',
    'after the user’s parts',
    mime(
      part('application/node.eks.aws', usersConfig),
      users,
      part('application/node.eks.aws', nodeConfig),
    ),
  ],
  ['al2', 'generated alone', mime(part('text/x-shellscript; charset="us-ascii"', script))],
  [
    'al2',
    'after the user’s script',
    mime(users, part('text/x-shellscript; charset="us-ascii"', script)),
  ],
  ['windows', 'with the user’s commands', windows],
  ['bottlerocket', 'settings', settings],
] as const;

describe('user data of Karpenter’s shape', () => {
  it.each(cases)('%s, %s: lint finds nothing', (family, _what, text) => {
    for (const launchedBy of [undefined, 'own-image'] as const) {
      const { findings } = lint({ name: 'f', bytes: bytesOf(text) }, { family, launchedBy });
      expect(findings).toEqual([]);
    }
  });

  it.each(cases)('%s, %s: the node registers with its labels and taint', (family, _what, text) => {
    const { node } = evaluateUserData(text, exampleFacts, family);
    expect(node.obstacles).toEqual([]);
    expect(node.labels).toMatchObject({
      'karpenter.sh/capacity-type': 'spot',
      'karpenter.sh/nodepool': 'general',
      team: 'red',
    });
    expect(node.taints).toEqual([{ key: 'karpenter.sh/unregistered', effect: 'NoExecute' }]);
    expect(node.maxPods).toBe(58);
    expect(node.kubelet.arguments.join(' ')).not.toContain('"');
  });
});
