// Building blocks of the rules' samples: the shortest user data of each family that joins.
import { exampleAuthority } from '../../../formats/index.ts';

export const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`;

export const part = (type: string, body: string): string => `--B\nContent-Type: ${type}\n\n${body}`;

export const mime = (...parts: readonly string[]): string =>
  lines('MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary="B"', '') +
  `${parts.join('')}--B--\n`;

const cluster = [
  '  cluster:',
  '    name: my-cluster',
  '    apiServerEndpoint: https://example.com',
  `    certificateAuthority: ${exampleAuthority}`,
  '    cidr: 10.100.0.0/16',
];

export const nodeConfigOf = (...spec: readonly string[]): string =>
  lines('apiVersion: node.eks.aws/v1alpha1', 'kind: NodeConfig', 'spec:', ...spec);

/** A NodeConfig with a cluster and `more` below `spec`. */
export const nodeConfig = (...more: readonly string[]): string => nodeConfigOf(...cluster, ...more);

export const config = (...fields: readonly string[]): string =>
  nodeConfig('  kubelet:', '    config:', ...fields.map((field) => `      ${field}`));

export const flags = (...all: readonly string[]): string =>
  nodeConfig('  kubelet:', '    flags:', ...all.map((flag) => `    - ${JSON.stringify(flag)}`));

export const shell = (...commands: readonly string[]): string =>
  lines('#!/bin/bash', 'set -ex', ...commands);

export const bootstrapCall = (...options: readonly string[]): string =>
  shell(['/etc/eks/bootstrap.sh my-cluster', ...options].join(' '));

export const settings = (...more: readonly string[]): string =>
  lines(
    '[settings.kubernetes]',
    'cluster-name = "my-cluster"',
    'api-server = "https://example.com"',
    `cluster-certificate = "${exampleAuthority}"`,
    ...more,
  );

export const powershell = (...parameters: readonly string[]): string =>
  lines(
    '<powershell>',
    '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"',
    ['& $EKSBootstrapScriptFile -EKSClusterName "my-cluster"', ...parameters].join(' '),
    '</powershell>',
  );

const hash = `sha256:${'0123456789abcdef'.repeat(4)}`;

export const kubeadm = (
  token = 'abcdef.0123456789abcdef',
  trust = `--discovery-token-ca-cert-hash ${hash}`,
): string =>
  lines(
    '#cloud-config',
    'runcmd:',
    `- kubeadm join 10.0.0.1:6443 --token ${token} ${trust}`.trimEnd(),
  );

/** The same join as a file with kubeadm's JoinConfiguration. */
export const joinConfiguration = (version: string): string =>
  lines(
    '#cloud-config',
    'write_files:',
    '- path: /etc/kubernetes/kubeadm-join.yaml',
    '  permissions: "0600"',
    '  content: |',
    `    apiVersion: kubeadm.k8s.io/${version}`,
    '    kind: JoinConfiguration',
    '    discovery:',
    '      bootstrapToken:',
    '        apiServerEndpoint: 10.0.0.1:6443',
    '        token: abcdef.0123456789abcdef',
    `        caCertHashes: ["${hash}"]`,
    'runcmd:',
    '- kubeadm join --config /etc/kubernetes/kubeadm-join.yaml',
  );

export const awsAuth = (...entries: readonly string[]): string =>
  lines(
    'apiVersion: v1',
    'kind: ConfigMap',
    'metadata:',
    '  name: aws-auth',
    '  namespace: kube-system',
    'data:',
    '  mapRoles: |',
    ...entries.map((line) => `    ${line}`),
  );

/** An entry of January 1st and its role, one after the other, as the AWS CLI prints them. */
export const accessEntry = (roleMadeAt: string): string =>
  lines(
    JSON.stringify(
      {
        accessEntry: {
          principalArn: 'arn:aws:iam::111122223333:role/nodes',
          createdAt: '2026-01-01T00:00:00Z',
          type: 'EC2_LINUX',
        },
      },
      null,
      2,
    ),
    JSON.stringify(
      { Role: { Arn: 'arn:aws:iam::111122223333:role/nodes', CreateDate: roleMadeAt } },
      null,
      2,
    ),
  );

export const nodeRole = (
  arn = 'arn:aws:iam::111122223333:role/nodes',
  username = 'system:node:{{EC2PrivateDNSName}}',
): readonly string[] => [
  '- groups:',
  '  - system:bootstrappers',
  '  - system:nodes',
  `  rolearn: ${arn}`,
  `  username: ${username}`,
];
