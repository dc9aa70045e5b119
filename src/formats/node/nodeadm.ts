// Amazon Linux 2023: the files that nodeadm writes for the NodeConfigs in user data. Behaviour:
// awslabs/amazon-eks-ami, nodeadm/internal. The caller provides the instance's facts.

import { isCidr } from '../../api/addresses.ts';
import { type JsonObject, objectOr } from '../../api/json.ts';
import { begin, type Position } from '../position.ts';
import {
  acceptedConfigs,
  type Bootstrap,
  nodeadmDirectory,
  placedText,
  specInForce,
} from '../user-data/bootstrap.ts';
import { find, type Located, textOf, textsOf, toJson } from '../user-data/located.ts';
import { mergeSpecs, specOf } from '../user-data/node-config.ts';
import { type Placed, parseArguments } from './arguments.ts';
import { clusterDnsOf, evaluateMaxPods } from './capacity.ts';
import { authorityFault } from './certificate.ts';
import { containerdConfig, containerdFault, tomlDocument } from './containerd.ts';
import { type EvaluatedNode, machineOf, word } from './evaluated.ts';
import { has, minorOf, type NodeFacts } from './facts.ts';
import {
  credentialProvider,
  credentialProviderFile,
  environmentFiles,
  file,
  jsonFile,
  kubeconfig,
  kubeletUnit,
  localDisksFile,
  type NodeFile,
  resolvedConfig,
} from './files.ts';
import { hasNvidiaGpu } from './instance-types.ts';
import { baseConfig, caFile, kubeletView, nodeNameOf, typeMeta } from './kubelet.ts';
import { argumentProblems, configProblems } from './kubelet-problems.ts';
import { type Obstacle, obstacle } from './problem.ts';
import { runtimeSpec } from './runtime-spec.ts';
import { environmentFileValue, joinedWords, systemdWords } from './words.ts';

const configFile = '/etc/kubernetes/kubelet/config.json';
const configDirectory = '/etc/kubernetes/kubelet/config.json.d';
const dropInFile = `${configDirectory}/40-nodeadm.conf`;
const environmentFile = '/etc/eks/kubelet/environment';
const kubeconfigFile = '/var/lib/kubelet/kubeconfig';

const required = [
  ['name', 'Name is missing in cluster configuration'],
  ['apiServerEndpoint', 'Apiserver endpoint is missing in cluster configuration'],
  ['certificateAuthority', 'Certificate authority is missing in cluster configuration'],
  ['cidr', 'CIDR is missing in cluster configuration'],
] as const;

/** The kubelet's kubeconfig accepts either scheme; nodeadm checks neither. */
export const isServerUrl = (url: string): boolean => /^https?:\/\/[^\s/]+/.test(url);

const clusterProblems = (spec: Located, at: Position): readonly Obstacle[] => {
  const cluster = find(spec, 'cluster');
  const missing = required
    .filter(([field]) => (textOf(find(cluster, field)) ?? '') === '')
    .map(([field, words]) =>
      obstacle('NC002', cluster?.at ?? at, `spec.cluster.${field} is not set: "${words}"`),
    );
  const found: Obstacle[] = [...missing];
  const endpoint = find(cluster, 'apiServerEndpoint');
  const url = textOf(endpoint) ?? '';
  if (endpoint !== undefined && url !== '' && !isServerUrl(url)) {
    const text = `spec.cluster.apiServerEndpoint is ${JSON.stringify(url)}, not an https:// URL`;
    found.push(obstacle('NC004', endpoint.at, text));
  }
  const authority = find(cluster, 'certificateAuthority');
  const fault = authorityFault(textOf(authority) ?? '');
  if (authority !== undefined && textOf(authority) !== '' && fault !== undefined) {
    found.push(obstacle('NC003', authority.at, `spec.cluster.certificateAuthority ${fault}`));
  }
  const range = find(cluster, 'cidr');
  const text = textOf(range) ?? '';
  if (range !== undefined && text !== '' && !isCidr(text)) {
    found.push(
      obstacle('NC009', range.at, `spec.cluster.cidr is ${JSON.stringify(text)}, no CIDR`),
    );
  }
  const outpost = find(cluster, 'enableOutpost');
  if (
    outpost?.kind === 'scalar' &&
    outpost.value === true &&
    (textOf(find(cluster, 'id')) ?? '') === ''
  ) {
    found.push(
      obstacle(
        'NC002',
        outpost.at,
        'spec.cluster.id is not set: "cluster ID must be provided for outposts"',
      ),
    );
  }
  return found;
};

const mimeRules = {
  indented: 'MIME006',
  'bad-top-header': 'MIME006',
  'no-boundary': 'MIME007',
  'no-parts': 'MIME003',
  'no-blank-line': 'MIME001',
  'bad-header': 'MIME001',
  'no-close': 'MIME008',
  'after-close': undefined,
} as const;

/** MIME faults after which nodeadm reads nothing, or an empty part. */
const mimeProblems = ({ data }: Bootstrap): readonly Obstacle[] =>
  (data.mime?.faults ?? []).flatMap(({ kind, at, message, isFatal }) => {
    const rule = mimeRules[kind];
    return (isFatal || kind === 'no-blank-line') && rule !== undefined
      ? [obstacle(rule, at, message)]
      : [];
  });

const partProblems = (bootstrap: Bootstrap): readonly Obstacle[] => {
  const { data, nodeConfigs } = bootstrap;
  const found = nodeConfigs.flatMap(({ config, part, file: path }) => [
    ...config.faults.map(({ at, message }) => {
      const lost = path === undefined ? 'the user data' : nodeadmDirectory;
      return obstacle('NC006', at, `${message}: nodeadm takes nothing of ${lost}`);
    }),
    ...part.faults.map(({ at, message }) => obstacle('NC006', at, message)),
  ]);
  if (nodeConfigs.length > 0) return found;
  const text = 'no part is a NodeConfig: "could not find NodeConfig within UserData"';
  return [...found, obstacle('NC002', data.parts[0]?.at ?? begin, text)];
};

/** From this minor on, nodeadm labels nodes with an NVIDIA device. */
const gpuLabelMinor = 35;

const nodeadmFlags = (
  facts: NodeFacts,
  nodeName: string,
  hasDropIn: boolean,
): readonly string[] => [
  '--cloud-provider=external',
  `--config=${configFile}`,
  ...(hasDropIn ? [`--config-dir=${configDirectory}`] : []),
  `--hostname-override=${nodeName}`,
  ...(has(facts, 'credential-provider')
    ? [
        '--image-credential-provider-bin-dir=/etc/eks/image-credential-provider',
        `--image-credential-provider-config=${credentialProviderFile}`,
      ]
    : []),
  `--kubeconfig=${kubeconfigFile}`,
  `--node-ip=${facts.ipv6 ?? facts.privateIp}`,
  ...(minorOf(facts.kubernetesVersion) >= gpuLabelMinor && hasNvidiaGpu(facts.instanceType)
    ? ['--node-labels=nvidia.com/gpu.present=true']
    : []),
  '--runtime-cgroups=/runtime.slice/containerd.service',
];

const flagsOf = (spec: Located): readonly Placed[] =>
  textsOf(find(spec, 'kubelet', 'flags')).map(({ text, at }) => placedText(text, at));

/** nodeadm joins all flags into one line of the environment file; the unit uses it as $VARIABLE. */
const wordsOf = (flags: readonly Placed[]): readonly Placed[] =>
  systemdWords(environmentFileValue(joinedWords(flags)));

const textsUnder = (located: Located | undefined): Readonly<Record<string, string>> =>
  located?.kind === 'map'
    ? Object.fromEntries([...located.members].map(([key, one]) => [key, textOf(one.value) ?? '']))
    : {};

const isOn = (spec: Located, gate: string): boolean => {
  const found = find(spec, 'featureGates', gate);
  return found?.kind === 'scalar' && found.value === true;
};

const containerdUser = (spec: Located): JsonObject | undefined => {
  const config = find(spec, 'containerd', 'config');
  const text = textOf(config);
  if (text === '') return undefined;
  if (text !== undefined) return tomlDocument(text);
  return config === undefined ? undefined : objectOr(toJson(config));
};

const containerdProblems = (
  spec: Located,
  facts: NodeFacts,
  parts: readonly Located[],
): readonly Obstacle[] => {
  // Each part is decoded before the merge: a later part cannot correct an earlier one.
  const broken = parts.flatMap((part) => {
    const text = textOf(find(part, 'containerd', 'config')) ?? '';
    return text !== '' && tomlDocument(text) === undefined
      ? (find(part, 'containerd', 'config') ?? [])
      : [];
  });
  if (broken.length > 0) {
    return broken.map(({ at }) =>
      obstacle('NC006', at, 'spec.containerd.config is no TOML: nodeadm ends'),
    );
  }
  const config = find(spec, 'containerd', 'config');
  if (config === undefined) return [];
  const fault = containerdFault({ facts, user: containerdUser(spec), usesSoci: false });
  return fault === undefined ? [] : [obstacle('NC006', config.at, fault)];
};

export const evaluateNodeadm = (bootstrap: Bootstrap, facts: NodeFacts): EvaluatedNode => {
  const spec = specInForce(bootstrap);
  const minor = minorOf(facts.kubernetesVersion);
  const machine = machineOf(facts);
  const cluster = find(spec, 'cluster');
  const text = (field: string): string | undefined => textOf(find(cluster, field));
  const dns = clusterDnsOf(text('cidr') ?? '');
  const expression = textOf(find(spec, 'kubelet', 'maxPodsExpression')) ?? '';
  const own =
    expression === '' || machine.limits === undefined
      ? undefined
      : evaluateMaxPods(expression, machine.limits);
  // A faulty expression causes a warning on the node and falls back to the formula.
  const maxPods = own?.kind === 'ok' ? own.maxPods : machine.maxPods;
  const config = find(spec, 'kubelet', 'config');
  // Parts that do not decode are checked for other mistakes, too.
  const meant = mergeSpecs(bootstrap.nodeConfigs.map((one) => specOf(one.config)));
  const meantConfig = find(meant, 'kubelet', 'config');
  const dropIn =
    config?.kind === 'map' && config.members.size > 0
      ? { ...typeMeta, ...objectOr(toJson(config)) }
      : undefined;
  const nodeName = isOn(spec, 'InstanceIdNodeName') ? facts.instanceId : facts.privateDnsName;
  const ownWords = nodeadmFlags(facts, nodeName, dropIn !== undefined);
  const flagTexts = flagsOf(spec);
  const inForce = wordsOf([...ownWords.map(word), ...flagTexts]);
  const { flags } = parseArguments(inForce);
  const base = baseConfig({
    facts,
    maxPods,
    writesMaxPods: true,
    cpus: machine.cpus,
    clusterDns: dns === undefined ? [] : [dns],
  });
  const usesSoci =
    isOn(spec, 'FastImagePull') && machine.cpus >= 4 && machine.memoryMiB >= 7 * 1024;
  const words = inForce.map((one) => one.text);
  const written = [...ownWords, ...flagTexts.map((one) => one.text)].join(' ');
  const kubelet = kubeletView(base, dropIn, words, flags);
  const accepted = acceptedConfigs(bootstrap);
  const obstacles = [
    ...mimeProblems(bootstrap),
    ...partProblems(bootstrap),
    ...(accepted.length === 0 ? [] : clusterProblems(spec, accepted[0]?.part.at ?? begin)),
    ...argumentProblems(parseArguments(wordsOf(flagsOf(meant))), minor),
    ...(meantConfig === undefined ? [] : configProblems(meantConfig, minor)),
    ...containerdProblems(
      spec,
      facts,
      accepted.map((one) => specOf(one.config)),
    ),
  ];
  return {
    family: 'al2023',
    obstacles,
    nodeName: nodeNameOf(flags, nodeName),
    cluster: {
      name: text('name'),
      endpoint: text('apiServerEndpoint'),
      certificateAuthority: text('certificateAuthority'),
      serviceCidr: text('cidr'),
      dns: dnsOf(kubelet.effective),
    },
    kubelet,
    labels: kubelet.labels,
    taints: kubelet.taints,
    maxPods: kubelet.maxPods,
    files: filesOf(spec, facts, { base, dropIn, written, usesSoci }),
  };
};

export const dnsOf = (effective: JsonObject): readonly string[] =>
  Array.isArray(effective.clusterDNS) ? effective.clusterDNS.map(String) : [];

interface Parts {
  readonly base: JsonObject;
  readonly dropIn: JsonObject | undefined;
  /** The kubelet's arguments as in the environment file. */
  readonly written: string;
  readonly usesSoci: boolean;
}

const filesOf = (spec: Located, facts: NodeFacts, parts: Parts): readonly NodeFile[] => {
  const cluster = find(spec, 'cluster');
  const text = (field: string): string => textOf(find(cluster, field)) ?? '';
  const authority = text('certificateAuthority');
  const environment = find(spec, 'instance', 'environment');
  const services =
    environment?.kind === 'map'
      ? Object.fromEntries(
          [...environment.members].map(([name, one]) => [name, textsUnder(one.value)]),
        )
      : {};
  const specDocument = find(spec, 'containerd', 'baseRuntimeSpec');
  const alpha = minorOf(facts.kubernetesVersion) < 30 && parts.dropIn !== undefined;
  return [
    jsonFile(configFile, parts.base),
    ...(parts.dropIn === undefined ? [] : [jsonFile(dropInFile, parts.dropIn)]),
    file(
      environmentFile,
      [
        ...(alpha ? ['KUBELET_CONFIG_DROPIN_DIR_ALPHA=on'] : []),
        `NODEADM_KUBELET_ARGS=${parts.written}`,
        '',
      ].join('\n'),
    ),
    file(
      kubeconfigFile,
      kubeconfig({
        clusterName: text('name'),
        endpoint: text('apiServerEndpoint'),
        region: facts.region,
      }),
    ),
    file(caFile, decodedAuthority(authority)),
    ...(has(facts, 'credential-provider') ? [credentialProvider(facts)] : []),
    file(
      '/etc/containerd/config.toml',
      containerdConfig({ facts, user: containerdUser(spec), usesSoci: parts.usesSoci }),
    ),
    runtimeSpec(objectOr(specDocument === undefined ? null : toJson(specDocument))),
    kubeletUnit('$NODEADM_KUBELET_ARGS', environmentFile),
    ...environmentFiles(services),
    ...instanceFiles(find(spec, 'instance')),
  ];
};

/**
 * systemd-resolved's file, and the strategy for EKS' service that sets up instance store volumes.
 */
const instanceFiles = (instance: Located | undefined): readonly NodeFile[] => {
  const words = (field: string): string =>
    textsOf(find(instance, 'network', field))
      .map((one) => one.text)
      .join(' ');
  const [servers, domains] = [words('nameservers'), words('domains')];
  const strategy = textOf(find(instance, 'localStorage', 'strategy')) ?? '';
  return [
    ...(servers === '' && domains === '' ? [] : [resolvedConfig(servers, domains)]),
    ...(strategy === ''
      ? []
      : [
          file(
            localDisksFile,
            `[Service]\nEnvironment=LOCAL_DISK_STRATEGY=${strategy.toLowerCase()}`,
          ),
        ]),
  ];
};

export const decodedAuthority = (base64: string): string => {
  try {
    return atob(base64.replaceAll(/\s/g, ''));
  } catch {
    return '';
  }
};
