// The user data that Drover and EKS generate for a node of each family, and its merge with the
// user's, by the family's rules. Never loses a part; what cannot be merged is a fault.
import type { Taint } from '../../api/kube.ts';
import { clusterDnsOf } from '../node/capacity.ts';
import { minorOf } from '../node/facts.ts';
import { printTaint, splitLabels } from '../node/labels.ts';
import type { Family } from './families.ts';
import { joinVersionOf, takesArgumentList } from './kubeadm-versions.ts';
import { toJson } from './located.ts';
import { type PartToPrint, parseMime, partToPrint, printMime } from './mime.ts';
import { mergeDocuments } from './node-config.ts';
import { powershellQuoted, readPowerShell } from './powershell.ts';
import { shellQuoted, shellWord } from './shell.ts';
import { parseToml, printToml } from './toml.ts';

export interface ClusterAccess {
  readonly name: string;
  /** Missing or empty while the cluster is being created. */
  readonly endpoint?: string | undefined;
  /** PEM in base64. */
  readonly certificateAuthority?: string | undefined;
  readonly serviceCidr?: string | undefined;
}

export interface Injection {
  readonly family: Family;
  readonly cluster: ClusterAccess;
  readonly labels: Readonly<Record<string, string>>;
  /** Labels whose values the instance fills in, as script variables. Amazon Linux 2 only. */
  readonly instanceLabels?: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly maxPods?: number | undefined;
  /** Undefined: computed by the image's bootstrap. */
  readonly kubeReserved?: Readonly<Record<string, string>> | undefined;
  /** Run before the bootstrap; Bottlerocket has no shell. */
  readonly commands?: readonly string[];
  /** Replaces the bootstrap's call, in the same script. */
  readonly override?: string | undefined;
  /** Plain cloud-init: kubeadm's credentials; undefined when the user's own text has them. */
  readonly join?: KubeadmAccess | undefined;
}

export interface KubeadmAccess {
  readonly token: string;
  readonly caHash: string;
  /** kubeadm's version, which determines the form of its configuration. */
  readonly kubernetesVersion: string;
}

export type Written =
  | { readonly kind: 'ok'; readonly text: string }
  /** In EKS' words. */
  | { readonly kind: 'fault'; readonly code: string; readonly message: string };

const ok = (text: string): Written => ({ kind: 'ok', text });
const fault = (message: string): Written => ({
  kind: 'fault',
  code: 'Ec2LaunchTemplateInvalidConfiguration',
  message,
});

const pairs = (map: Readonly<Record<string, string>>): string =>
  Object.entries(map)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

const kubeletFlags = ({ labels, taints }: Injection): readonly string[] => [
  `--node-labels=${pairs(labels)}`,
  ...(taints.length === 0 ? [] : [`--register-with-taints=${taints.map(printTaint).join(',')}`]),
];

/** Within double quotes, beside variables that the shell expands. */
const inDoubleQuotes = (text: string): string => text.replaceAll(/[\\"$`]/g, '\\$&');

const metadata: Readonly<Record<string, string>> = {
  INSTANCE_ID: 'instance-id',
  INSTANCE_LIFECYCLE: 'instance-life-cycle',
};

const shellScript = (injection: Injection): string => {
  const { cluster, commands = [], instanceLabels, kubeReserved, maxPods, override } = injection;
  const [labels = '', ...others] = [
    ...kubeletFlags(injection),
    ...(kubeReserved === undefined ? [] : [`--kube-reserved=${pairs(kubeReserved)}`]),
    ...(maxPods === undefined ? [] : [`--max-pods=${maxPods}`]),
  ];
  const used = Object.entries(metadata).filter(([name]) =>
    Object.values(instanceLabels ?? {}).includes(`$${name}`),
  );
  const known = instanceLabels === undefined ? '' : `,${pairs(instanceLabels)}`;
  const words = [`${inDoubleQuotes(labels)}${known}`, ...others.map(inDoubleQuotes)];
  const flags =
    instanceLabels === undefined
      ? shellQuoted([labels, ...others].join(' '))
      : `"${words.join(' ')}"`;
  return [
    '#!/bin/bash',
    'set -ex',
    ...commands,
    ...used.map(([name, item]) => `${name}=$(imds ${item})`),
    `KUBELET_ARGS=${flags}`,
    override ??
      `/etc/eks/bootstrap.sh ${shellWord(cluster.name)} --kubelet-extra-args "$KUBELET_ARGS"`,
    '',
  ].join('\n');
};

const preScript = (commands: readonly string[]): string =>
  ['#!/bin/bash', 'set -ex', ...commands, ''].join('\n');

const nodeConfig = (injection: Injection): string => {
  const { cluster, maxPods, kubeReserved } = injection;
  const line = (name: string, value: string | undefined): readonly string[] =>
    value === undefined || value === '' ? [] : [`    ${name}: ${value}`];
  const config = [
    ...(maxPods === undefined ? [] : [`      maxPods: ${maxPods}`]),
    ...(kubeReserved === undefined
      ? []
      : [
          '      kubeReserved:',
          ...Object.entries(kubeReserved).map(([key, value]) => `        ${key}: ${value}`),
        ]),
  ];
  return [
    '---',
    'apiVersion: node.eks.aws/v1alpha1',
    'kind: NodeConfig',
    'spec:',
    '  cluster:',
    `    name: ${JSON.stringify(cluster.name)}`,
    ...line('apiServerEndpoint', cluster.endpoint),
    ...line('certificateAuthority', cluster.certificateAuthority),
    ...line('cidr', cluster.serviceCidr),
    '  kubelet:',
    ...(config.length === 0 ? [] : ['    config:', ...config]),
    '    flags:',
    ...kubeletFlags(injection).map((flag) => `      - ${JSON.stringify(flag)}`),
    '',
  ].join('\n');
};

/**
 * TOML's literal string, or a basic one (JSON's escapes) when a literal cannot contain the text.
 */
const quoted = (text: string): string =>
  /['\n\r\u007f]/.test(text) ? JSON.stringify(text) : `'${text}'`;

/** Bottlerocket's settings as dotted keys, as in article 003; one list of effects per taint key. */
const settings = ({ cluster, labels, taints, maxPods, kubeReserved = {} }: Injection): string => {
  const perKey = new Map<string, string[]>();
  for (const { key, value = '', effect } of taints) {
    perKey.set(key, [...(perKey.get(key) ?? []), quoted(`${value}:${effect}`)]);
  }
  const set = (name: string, value: string | undefined): readonly string[] =>
    value === undefined || value === '' ? [] : [`settings.kubernetes.${name} = ${quoted(value)}`];
  return [
    `settings.kubernetes.cluster-name = ${quoted(cluster.name)}`,
    ...set('api-server', cluster.endpoint),
    ...set('cluster-certificate', cluster.certificateAuthority),
    ...(maxPods === undefined ? [] : [`settings.kubernetes.max-pods = ${maxPods}`]),
    ...Object.entries(kubeReserved).flatMap(([key, value]) => set(`kube-reserved.${key}`, value)),
    ...Object.entries(labels).map(
      ([key, value]) => `settings.kubernetes.node-labels.${quoted(key)} = ${quoted(value)}`,
    ),
    ...[...perKey].map(
      ([key, values]) => `settings.kubernetes.node-taints.${quoted(key)} = [${values.join(', ')}]`,
    ),
    '',
  ].join('\n');
};

/**
 * Without a service CIDR the script derives it and the DNS address from the VPC, which is wrong for
 * other CIDRs.
 */
const powershellCall = (injection: Injection): readonly string[] => {
  const { name, endpoint, certificateAuthority, serviceCidr = '' } = injection.cluster;
  const { maxPods } = injection;
  const dns = clusterDnsOf(serviceCidr);
  const flags = [
    ...kubeletFlags(injection),
    ...(maxPods === undefined ? [] : [`--max-pods=${maxPods}`]),
  ];
  return [
    '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"',
    [
      `& $EKSBootstrapScriptFile -EKSClusterName ${powershellQuoted(name)}`,
      ...(endpoint === undefined ? [] : [`-APIServerEndpoint "${endpoint}"`]),
      ...(certificateAuthority === undefined ? [] : [`-Base64ClusterCA "${certificateAuthority}"`]),
      ...(dns === undefined ? [] : [`-DNSClusterIP "${dns}"`, `-ServiceCIDR "${serviceCidr}"`]),
      `-KubeletExtraArgs ${powershellQuoted(flags.join(' '))}`,
    ].join(' '),
  ];
};

const joinFile = '/etc/kubernetes/kubeadm-join.yaml';

/** Host and port of a URL, both of which kubeadm requires. */
const hostPortOf = (endpoint = ''): string => {
  const host = endpoint.replace(/^https:\/\//i, '').replace(/[/?#].*$/, '');
  return host === '' || /^(?:\[.*\]|[^:]*):\d+$/.test(host) ? host : `${host}:443`;
};

/**
 * `kubeadm join` has no flags for labels, taints and numbers: its configuration passes them to the
 * kubelet.
 */
const joinConfiguration = (injection: Injection, join: KubeadmAccess): readonly string[] => {
  const { cluster, labels, taints, maxPods } = injection;
  const version = joinVersionOf(minorOf(join.kubernetesVersion));
  const extra = [
    ...(Object.keys(labels).length === 0 ? [] : [['node-labels', pairs(labels)] as const]),
    ...(maxPods === undefined ? [] : [['max-pods', String(maxPods)] as const]),
  ];
  const argument = ([name, value]: readonly [string, string]): readonly string[] =>
    takesArgumentList(version)
      ? [`  - name: ${name}`, `    value: ${JSON.stringify(value)}`]
      : [`    ${name}: ${JSON.stringify(value)}`];
  const text = (name: string, value: string | undefined): readonly string[] =>
    value === undefined || value === '' ? [] : [`    ${name}: ${JSON.stringify(value)}`];
  const node = [
    ...(extra.length === 0 ? [] : ['  kubeletExtraArgs:', ...extra.flatMap(argument)]),
    ...(taints.length === 0 ? [] : ['  taints:']),
    ...taints.flatMap(({ key, value, effect }) => [
      `  - key: ${JSON.stringify(key)}`,
      ...text('value', value),
      `    effect: ${effect}`,
    ]),
  ];
  return [
    `apiVersion: kubeadm.k8s.io/${version}`,
    'kind: JoinConfiguration',
    'discovery:',
    '  bootstrapToken:',
    `    apiServerEndpoint: ${JSON.stringify(hostPortOf(cluster.endpoint))}`,
    `    token: ${JSON.stringify(join.token)}`,
    '    caCertHashes:',
    `    - ${JSON.stringify(join.caHash)}`,
    ...(node.length === 0 ? [] : ['nodeRegistration:', ...node]),
  ];
};

/** Without it, the lists of this part would replace the user's. */
const joinsLists = "merge_how: 'list(append)+dict(no_replace,recurse_list)+str()'";

const kubeadm = (injection: Injection, joinsTheirs: boolean): string | undefined => {
  const { commands = [], join } = injection;
  if (join === undefined && commands.length === 0) return undefined;
  const file =
    join === undefined
      ? []
      : [
          'write_files:',
          `- path: ${joinFile}`,
          '  permissions: "0600"',
          '  content: |',
          ...joinConfiguration(injection, join).map((line) => `    ${line}`),
        ];
  const lines = [...commands, ...(join === undefined ? [] : [`kubeadm join --config ${joinFile}`])];
  return [
    '#cloud-config',
    ...(joinsTheirs ? [joinsLists] : []),
    ...file,
    'runcmd:',
    ...lines.map((line) => `- ${JSON.stringify(line)}`),
    '',
  ].join('\n');
};

const shellType = 'text/x-shellscript; charset="us-ascii"';
const nodeConfigType = 'application/node.eks.aws';
const cloudConfigType = 'text/cloud-config';

/** The user's text as a part, if it declares its own type. */
const soleParts = (text: string): readonly PartToPrint[] | undefined => {
  const body = text.endsWith('\n') ? text.slice(0, -1) : text;
  if (text.startsWith('#!')) return [{ type: 'text/x-shellscript', body }];
  if (text.startsWith('#cloud-config')) return [{ type: cloudConfigType, body }];
  if (/^[ \t]*kind:[ \t]*["']?NodeConfig\b/m.test(text)) return [{ type: nodeConfigType, body }];
  return undefined;
};

export interface MergeOptions {
  /**
   * As EKS: refuses text that is not a MIME document. Otherwise a script or NodeConfig becomes a
   * part.
   */
  readonly isStrict: boolean;
}

const userPartsOf = (
  text: string,
  { isStrict }: MergeOptions,
): readonly PartToPrint[] | undefined => {
  const document = parseMime(text);
  // cloud-init reads a document without a closing boundary, so its last part counts.
  if (document !== undefined && document.parts.length > 0) {
    return document.parts.map((part, i) => {
      const isLast = i === document.parts.length - 1;
      const isOpen = isLast && document.faults.some(({ kind }) => kind === 'no-close');
      const printed = partToPrint(part);
      return isOpen ? { ...printed, body: printed.body.replace(/\r?\n$/, '') } : printed;
    });
  }
  return isStrict ? undefined : soleParts(text);
};

const multipart = (
  injection: Injection,
  userData: string | undefined,
  options: MergeOptions,
): Written => {
  const { family, commands = [] } = injection;
  const theirs = userData === undefined ? [] : userPartsOf(userData, options);
  if (theirs === undefined) return fault('User data was not in the MIME multipart format.');
  if (family === 'al2023') {
    const before = commands.length === 0 ? [] : [{ type: shellType, body: preScript(commands) }];
    // EKS puts its NodeConfig before the user's: the later one wins.
    const ours = { type: nodeConfigType, body: nodeConfig(injection) };
    return ok(printMime([...before, ours, ...theirs]));
  }
  const isPlain = family === 'cloud-init';
  const script = isPlain ? kubeadm(injection, theirs.length > 0) : shellScript(injection);
  if (script === undefined) return ok(userData ?? '');
  if (theirs.length === 0) return ok(script);
  // EKS appends its script to the user's parts.
  return ok(printMime([...theirs, { type: isPlain ? cloudConfigType : shellType, body: script }]));
};

const bottlerocket = (injection: Injection, userData: string | undefined): Written => {
  const ours = settings(injection);
  if (userData === undefined || userData.trim() === '') return ok(ours);
  const user = parseToml(userData);
  if (user.faults.length > 0) {
    return fault('User data was not in a TOML format that could be processed.');
  }
  // Merges as EKS does: trees are merged, the user's value wins, formatting is lost.
  return ok(printToml(toJson(mergeDocuments(parseToml(ours).value, user.value))));
};

/** The user's commands, then EKS', in one tag: EC2Launch reads only the first tag. */
const windows = (injection: Injection, userData: string | undefined): Written => {
  const script = userData === undefined ? undefined : readPowerShell(userData);
  const theirs = script?.body.trim();
  return ok(
    [
      '<powershell>',
      ...(injection.commands ?? []),
      ...(theirs === undefined || theirs === '' ? [] : [theirs]),
      ...powershellCall(injection),
      '</powershell>',
      '',
    ].join('\n'),
  );
};

/** The user data of a node: the injection merged with the user's own template, decoded. */
export const writeUserData = (
  injection: Injection,
  userData?: string,
  options: MergeOptions = { isStrict: true },
): Written => {
  // The controller sets labels that a kubelet may not set, once the node exists.
  const own = { ...injection, labels: splitLabels(injection.labels).kubelet };
  switch (own.family) {
    case 'windows':
      return windows(own, userData);
    case 'bottlerocket':
      return bottlerocket(own, userData);
    default:
      return multipart(own, userData, options);
  }
};
