// What a new node of a managed group is told: its labels, taints and pod limit, in the form that its
// image family reads. A user's own parts are kept, in EKS' order. Pure text.
import type { Taint } from '../../api/kube.ts';
import type { Family } from './images.ts';

export interface BootstrapFacts {
  readonly family: Family;
  readonly clusterName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly maxPods: number | undefined;
  /** nodeadm asks nobody: without these its nodes find no cluster. */
  readonly cluster: ClusterFacts;
  /** User data of the user's launch template, decoded. */
  readonly userParts: string | undefined;
}

export interface ClusterFacts {
  readonly endpoint?: string;
  /** PEM in base64. */
  readonly certificateAuthority?: string;
  readonly serviceCidr?: string;
}

const labelFlag = (labels: Readonly<Record<string, string>>): string =>
  `--node-labels=${Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')}`;

const taintFlag = (taints: readonly Taint[]): string =>
  `--register-with-taints=${taints
    .map(({ key, value = '', effect }) => `${key}=${value}:${effect}`)
    .join(',')}`;

const kubeletFlags = ({ labels, taints }: BootstrapFacts): readonly string[] => [
  labelFlag(labels),
  ...(taints.length === 0 ? [] : [taintFlag(taints)]),
];

/** One word of a shell whatever is in it; what needs no quotes has none, as EKS writes it. */
const shellWord = (text: string): string => (/^[\w.:/@-]+$/.test(text) ? text : shellQuoted(text));

const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const shellScript = (facts: BootstrapFacts): string => {
  const { maxPods } = facts;
  const flags = [
    ...kubeletFlags(facts),
    ...(maxPods === undefined ? [] : [`--max-pods=${maxPods}`]),
  ];
  return [
    '#!/bin/bash',
    'set -ex',
    `KUBELET_ARGS=${shellQuoted(flags.join(' '))}`,
    `/etc/eks/bootstrap.sh ${shellWord(facts.clusterName)} --kubelet-extra-args "$KUBELET_ARGS"`,
    '',
  ].join('\n');
};

const nodeConfig = (facts: BootstrapFacts): string => {
  const { clusterName, cluster, maxPods } = facts;
  // A cluster that is still being created has none of these yet, or empty ones.
  const line = (name: string, value: string | undefined): readonly string[] =>
    value === undefined || value === '' ? [] : [`    ${name}: ${value}`];
  return [
    '---',
    'apiVersion: node.eks.aws/v1alpha1',
    'kind: NodeConfig',
    'spec:',
    '  cluster:',
    `    name: ${JSON.stringify(clusterName)}`,
    ...line('apiServerEndpoint', cluster.endpoint),
    ...line('certificateAuthority', cluster.certificateAuthority),
    ...line('cidr', cluster.serviceCidr),
    '  kubelet:',
    ...(maxPods === undefined ? [] : ['    config:', `      maxPods: ${maxPods}`]),
    '    flags:',
    ...kubeletFlags(facts).map((flag) => `      - ${JSON.stringify(flag)}`),
    '',
  ].join('\n');
};

/** TOML's literal string, or its basic one (JSON's escapes) for what a literal cannot hold. */
const quoted = (text: string): string =>
  /['\n\r]/.test(text) ? JSON.stringify(text) : `'${text}'`;

/** Bottlerocket's settings as dotted keys, the form that article 003 shows; a key once, for tables. */
const settings = (facts: BootstrapFacts): string => {
  const { clusterName, cluster, labels, taints, maxPods } = facts;
  const perKey = new Map<string, string[]>();
  for (const { key, value = '', effect } of taints) {
    perKey.set(key, [...(perKey.get(key) ?? []), quoted(`${value}:${effect}`)]);
  }
  const { endpoint, certificateAuthority } = cluster;
  return [
    `settings.kubernetes.cluster-name = ${quoted(clusterName)}`,
    ...(endpoint === undefined ? [] : [`settings.kubernetes.api-server = ${quoted(endpoint)}`]),
    ...(certificateAuthority === undefined
      ? []
      : [`settings.kubernetes.cluster-certificate = ${quoted(certificateAuthority)}`]),
    ...(maxPods === undefined ? [] : [`settings.kubernetes.max-pods = ${maxPods}`]),
    ...Object.entries(labels).map(
      ([key, value]) => `settings.kubernetes.node-labels.${quoted(key)} = ${quoted(value)}`,
    ),
    ...[...perKey].map(
      ([key, values]) => `settings.kubernetes.node-taints.${quoted(key)} = [${values.join(', ')}]`,
    ),
    '',
  ].join('\n');
};

/** In PowerShell's double quotes, where ` escapes. */
const powershellQuoted = (text: string): string => `"${text.replaceAll(/[`"$]/g, '`$&')}"`;

/** The user's commands first, then EKS', in one tag: EC2Launch reads no second one. */
const powershell = (facts: BootstrapFacts): string => {
  const { clusterName, cluster, userParts } = facts;
  const theirs = /<powershell>([\s\S]*?)<\/powershell>/i.exec(userParts ?? '')?.[1] ?? userParts;
  const { endpoint, certificateAuthority } = cluster;
  return [
    '<powershell>',
    ...(theirs === undefined ? [] : [theirs.trim()]),
    '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"',
    [
      `& $EKSBootstrapScriptFile -EKSClusterName ${powershellQuoted(clusterName)}`,
      ...(endpoint === undefined ? [] : [`-APIServerEndpoint "${endpoint}"`]),
      ...(certificateAuthority === undefined ? [] : [`-Base64ClusterCA "${certificateAuthority}"`]),
      `-KubeletExtraArgs ${powershellQuoted(kubeletFlags(facts).join(' '))}`,
    ].join(' '),
    '</powershell>',
    '',
  ].join('\n');
};

const boundary = '//';

const part = (type: string, body: string): string =>
  `--${boundary}\nContent-Type: ${type}\n\n${body}\n`;

const multipart = (parts: readonly string[]): string =>
  [
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    '',
    `${parts.join('')}--${boundary}--`,
    '',
  ].join('\n');

/** The parts of the user's own MIME document under our boundary; undefined when it is none. */
const partsOf = (document: string): readonly string[] | undefined => {
  const head = /^Content-Type:\s*multipart\/[^;]+;\s*boundary="?([^"\s;]+)"?/im.exec(document);
  if (head?.[1] === undefined) return undefined;
  const [, ...rest] = document.split(`--${head[1]}`);
  const end = rest.findIndex((text) => text.startsWith('--'));
  // cloud-init reads a document whose closing boundary is missing, so its last part counts.
  const bodies = end < 0 ? rest : rest.slice(0, end);
  return bodies.map((body) => `--${boundary}\n${body.trim()}\n`);
};

/** Undefined: the user's parts are no MIME multi-part document, which EKS refuses. */
export const renderUserData = (facts: BootstrapFacts): string | undefined => {
  const { bootstrap } = facts.family;
  if (bootstrap === 'powershell') return powershell(facts);
  // Dotted keys stand before any table of the user's, or they would fall into it.
  if (bootstrap === 'settings') return `${settings(facts)}${facts.userParts ?? ''}`;
  const isScript = bootstrap === 'bootstrap.sh';
  const ours = isScript
    ? part('text/x-shellscript; charset="us-ascii"', shellScript(facts))
    : part('application/node.eks.aws', nodeConfig(facts));
  if (facts.userParts === undefined) return isScript ? shellScript(facts) : multipart([ours]);
  const theirs = partsOf(facts.userParts);
  if (theirs === undefined) return undefined;
  // EKS appends its script to the user's parts, and puts its NodeConfig before them.
  return multipart(isScript ? [...theirs, ours] : [ours, ...theirs]);
};

const flagOf = (text: string, name: string): string =>
  new RegExp(`--${name}[= ]([^\\s'"\`\\\\]+)`).exec(text)?.[1] ?? '';

const settingLines = (text: string): string =>
  text
    .split('\n')
    .filter((line) => /^settings\.kubernetes\.node-(?:labels|taints)\./.test(line))
    .toSorted()
    .join('\n');

/** Whether nodes started with `a` and with `b` get the same labels and taints. */
export const sameNodes = (a: string, b: string): boolean =>
  settingLines(a) === settingLines(b) &&
  ['node-labels', 'register-with-taints'].every((name) => {
    const sorted = (text: string): string => flagOf(text, name).split(',').toSorted().join(',');
    return sorted(a) === sorted(b);
  });
