// User data of a node group, as eksctl writes it for its families: from the cluster's facts
// to a kubelet with the labels of article 002. Managed groups get theirs from their controller, but
// for those with an image of the user's own.
import type { Taint } from '../../api/kube.ts';
import type { GroupConfig } from '../../formats/index.ts';
import { clusterTag, groupTag } from './names.ts';

export interface JoinFacts {
  readonly cluster: string;
  readonly endpoint: string;
  readonly certificateAuthority: string;
  readonly serviceCidr: string | undefined;
}

export type UserDataKind = 'shell' | 'node-config' | 'settings' | 'powershell';

const flagOf = (taints: readonly Taint[]): string =>
  taints.map(({ key, value, effect }) => `${key}=${value ?? ''}:${effect}`).join(',');

const pairs = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** The labels of article 002's nodes; what an instance knows of itself comes after them. */
const labelsOf = (cluster: string, group: GroupConfig): Readonly<Record<string, string>> => ({
  [clusterTag]: cluster,
  [groupTag]: group.name,
  ...group.labels,
  ...(group.kind === 'managed'
    ? {
        'eks.amazonaws.com/nodegroup': group.name,
        'eks.amazonaws.com/capacityType': group.spot ? 'SPOT' : 'ON_DEMAND',
        ...(group.ami === undefined ? {} : { 'eks.amazonaws.com/nodegroup-image': group.ami }),
      }
    : {}),
});

const kubeletArguments = (labels: string, group: GroupConfig): readonly string[] => [
  `--node-labels=${labels}`,
  ...(group.taints.length === 0 ? [] : [`--register-with-taints=${flagOf(group.taints)}`]),
  ...(group.maxPods === undefined ? [] : [`--max-pods=${group.maxPods}`]),
];

/** Within double quotes, beside variables that the shell is to fill in. */
const inDoubleQuotes = (text: string): string => text.replaceAll(/[\\"$`]/g, '\\$&');

const shellWord = (text: string): string =>
  /^[\w.:/@-]+$/.test(text) ? text : `"${inDoubleQuotes(text)}"`;

const shell = (facts: JoinFacts, group: GroupConfig): string => {
  const isManaged = group.kind === 'managed';
  const known = pairs({
    'node-lifecycle': '$INSTANCE_LIFECYCLE',
    'alpha.eksctl.io/instance-id': '$INSTANCE_ID',
  });
  const given = inDoubleQuotes(pairs(labelsOf(facts.cluster, group)));
  const [labelArgument, ...others] = kubeletArguments(
    isManaged ? given : `${given},${known}`,
    group,
  );
  const flags = [labelArgument, ...others.map(inDoubleQuotes)].join(' ');
  const bootstrap =
    group.overrideBootstrapCommand ??
    `/etc/eks/bootstrap.sh ${shellWord(facts.cluster)} --kubelet-extra-args "$KUBELET_ARGS"`;
  return [
    '#!/bin/bash',
    'set -ex',
    ...group.preBootstrapCommands,
    ...(isManaged
      ? []
      : ['INSTANCE_ID=$(imds instance-id)', 'INSTANCE_LIFECYCLE=$(imds instance-life-cycle)']),
    `KUBELET_ARGS="${flags}"`,
    bootstrap,
    '',
  ].join('\n');
};

const boundary = '//';

/** A MIME document with the user's shell part, if any, before the NodeConfig. */
const nodeConfig = (facts: JoinFacts, group: GroupConfig): string => {
  const flags = kubeletArguments(pairs(labelsOf(facts.cluster, group)), group);
  const config = [
    'apiVersion: node.eks.aws/v1alpha1',
    'kind: NodeConfig',
    'spec:',
    '  cluster:',
    `    name: ${JSON.stringify(facts.cluster)}`,
    `    apiServerEndpoint: ${facts.endpoint}`,
    `    certificateAuthority: ${facts.certificateAuthority}`,
    `    cidr: ${facts.serviceCidr ?? '10.100.0.0/16'}`,
    '  kubelet:',
    '    flags:',
    ...flags.map((flag) => `    - ${JSON.stringify(flag)}`),
    '',
  ].join('\n');
  const part = (type: string, body: string): readonly string[] => [
    `--${boundary}`,
    `Content-Type: ${type}`,
    '',
    body,
  ];
  const script = ['#!/bin/bash', 'set -ex', ...group.preBootstrapCommands, ''].join('\n');
  return [
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    '',
    ...(group.preBootstrapCommands.length === 0
      ? []
      : part('text/x-shellscript; charset="us-ascii"', script)),
    ...part('application/node.eks.aws', config),
    `--${boundary}--`,
    '',
  ].join('\n');
};

const settings = (facts: JoinFacts, group: GroupConfig): string => {
  const taints = new Map<string, string[]>();
  for (const { key, value, effect } of group.taints) {
    taints.set(key, [...(taints.get(key) ?? []), `${value ?? ''}:${effect}`]);
  }
  return [
    '[settings.kubernetes]',
    `cluster-name = ${JSON.stringify(facts.cluster)}`,
    `api-server = ${JSON.stringify(facts.endpoint)}`,
    `cluster-certificate = ${JSON.stringify(facts.certificateAuthority)}`,
    ...(group.maxPods === undefined ? [] : [`max-pods = ${group.maxPods}`]),
    '',
    '[settings.kubernetes.node-labels]',
    ...Object.entries(labelsOf(facts.cluster, group)).map(
      ([key, value]) => `${JSON.stringify(key)} = ${JSON.stringify(value)}`,
    ),
    ...(taints.size === 0 ? [] : ['', '[settings.kubernetes.node-taints]']),
    ...[...taints].map(([key, values]) => `${JSON.stringify(key)} = ${JSON.stringify(values)}`),
    '',
  ].join('\n');
};

const powershellQuoted = (text: string): string => `"${text.replaceAll(/[`"$]/g, '`$&')}"`;

const powershell = (facts: JoinFacts, group: GroupConfig): string => {
  const flags = kubeletArguments(pairs(labelsOf(facts.cluster, group)), group).join(' ');
  return [
    '<powershell>',
    ...group.preBootstrapCommands,
    '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"',
    `& $EKSBootstrapScriptFile -EKSClusterName ${powershellQuoted(facts.cluster)} ` +
      `-APIServerEndpoint "${facts.endpoint}" ` +
      `-Base64ClusterCA "${facts.certificateAuthority}" -KubeletExtraArgs ${powershellQuoted(flags)}`,
    '</powershell>',
    '',
  ].join('\n');
};

const writers: Readonly<Record<UserDataKind, (facts: JoinFacts, group: GroupConfig) => string>> = {
  shell,
  'node-config': nodeConfig,
  settings,
  powershell,
};

/** Plain text, not base64. */
export const userDataOf = (kind: UserDataKind, facts: JoinFacts, group: GroupConfig): string =>
  writers[kind](facts, group);
