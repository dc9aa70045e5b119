// Bottlerocket: settings.kubernetes and the values that its services derive from it. Types:
// settings-sdk's modeled types; derived values: pluto. The caller provides the instance's facts.
import { isObject, type Json, type JsonObject } from '../../api/json.ts';
import type { Taint } from '../../api/kube.ts';
import { begin } from '../position.ts';
import type { Bootstrap } from '../user-data/bootstrap.ts';
import { find, kindOf, type Located, numberOf, textOf, toJson } from '../user-data/located.ts';
import { settingComplaint } from './bottlerocket-settings.ts';
import { clusterDnsOr } from './capacity.ts';
import { authorityFault } from './certificate.ts';
import { type EvaluatedNode, machineOf } from './evaluated.ts';
import { minorOf, type NodeFacts } from './facts.ts';
import { file, jsonFile, kubeconfig } from './files.ts';
import { baseConfig, caFile, kubeletView } from './kubelet.ts';
import { reservedMessage } from './kubelet-problems.ts';
import { keyFault, kubeletMaySet, taintOf, valueFault } from './labels.ts';
import { decodedAuthority, dnsOf } from './nodeadm.ts';
import { type Obstacle, obstacle } from './problem.ts';

const required = ['cluster-name', 'api-server', 'cluster-certificate'] as const;

const labelProblem = (key: string, keyAt: Located['at'], value: Located): readonly Obstacle[] => {
  const fault = keyFault(key) ?? valueFault(textOf(value) ?? '');
  if (textOf(value) === undefined) {
    return [obstacle('BR003', value.at, `node-labels.${key} takes a text, not ${kindOf(value)}`)];
  }
  if (fault !== undefined) return [obstacle('LB002', keyAt, fault)];
  return kubeletMaySet(key) ? [] : [obstacle('LB001', keyAt, reservedMessage(key))];
};

const labelProblems = (labels: Located | undefined): readonly Obstacle[] =>
  labels?.kind !== 'map'
    ? []
    : [...labels.members].flatMap(([key, { keyAt, value }]) => labelProblem(key, keyAt, value));

interface PlacedTaint {
  readonly text: string;
  readonly at: Located['at'];
}

const taintTexts = (taints: Located | undefined): readonly PlacedTaint[] =>
  taints?.kind !== 'map'
    ? []
    : [...taints.members].flatMap(([key, { value }]) =>
        (value.kind === 'list' ? value.items : [value]).map((item) => {
          const effect = textOf(item) ?? '';
          return {
            text: effect.startsWith(':') ? `${key}${effect}` : `${key}=${effect}`,
            at: item.at,
          };
        }),
      );

const settingProblems = (kubernetes: Located): readonly Obstacle[] => {
  if (kubernetes.kind !== 'map') {
    return [
      obstacle(
        'BR003',
        kubernetes.at,
        `settings.kubernetes takes a table, not ${kindOf(kubernetes)}`,
      ),
    ];
  }
  return [...kubernetes.members].flatMap(([key, { value }]) => {
    const wanted = settingComplaint(key, value);
    if (wanted === undefined) return [];
    return [
      obstacle(
        'BR003',
        value.at,
        `settings.kubernetes.${key} takes ${wanted}, not ${kindOf(value)}`,
      ),
    ];
  });
};

const requiredProblems = (
  kubernetes: Located | undefined,
  at: Located['at'],
): readonly Obstacle[] => {
  const standalone = find(kubernetes, 'standalone-mode');
  if (standalone?.kind === 'scalar' && standalone.value === true) return [];
  return required
    .filter((field) => (textOf(find(kubernetes, field)) ?? '') === '')
    .map((field) =>
      obstacle(
        'BR004',
        kubernetes?.at ?? at,
        `settings.kubernetes.${field} is not set: kubelet is not started`,
      ),
    );
};

const record = (value: Json): Readonly<Record<string, string>> =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, String(one)]))
    : {};

const dnsList = (kubernetes: Located | undefined, facts: NodeFacts): readonly string[] => {
  const given = find(kubernetes, 'cluster-dns-ip');
  if (given?.kind === 'list') return given.items.flatMap((item) => textOf(item) ?? []);
  const one = textOf(given);
  if (one !== undefined) return [one];
  return [clusterDnsOr(facts.cluster?.serviceCidr, facts.vpcCidr)];
};

/** Settings that are fields of the kubelet's configuration with another name. */
const configFields = {
  'kube-reserved': 'kubeReserved',
  'system-reserved': 'systemReserved',
  'eviction-hard': 'evictionHard',
  'eviction-soft': 'evictionSoft',
  'pod-pids-limit': 'podPidsLimit',
  'cpu-manager-policy': 'cpuManagerPolicy',
  'topology-manager-policy': 'topologyManagerPolicy',
  'container-log-max-size': 'containerLogMaxSize',
  'container-log-max-files': 'containerLogMaxFiles',
  'shutdown-grace-period': 'shutdownGracePeriod',
  'cluster-domain': 'clusterDomain',
} as const;

const overrides = (kubernetes: Located | undefined): JsonObject => {
  const result: Record<string, Json> = {};
  for (const [setting, field] of Object.entries(configFields)) {
    const value = find(kubernetes, setting);
    if (value !== undefined) result[field] = toJson(value);
  }
  return result;
};

const connectionProblems = (
  kubernetes: Located | undefined,
  at: Located['at'],
): readonly Obstacle[] => {
  const certificate = find(kubernetes, 'cluster-certificate');
  const server = find(kubernetes, 'api-server');
  const authority = textOf(certificate) ?? '';
  const endpoint = textOf(server) ?? '';
  const fault = authority === '' ? undefined : authorityFault(authority);
  const notUrl = `api-server is ${JSON.stringify(endpoint)}, no https:// URL`;
  return [
    ...(fault === undefined
      ? []
      : [obstacle('NC003', certificate?.at ?? at, `cluster-certificate ${fault}`)]),
    ...(endpoint === '' || /^https:\/\/[^\s/]+/.test(endpoint)
      ? []
      : [obstacle('NC004', server?.at ?? at, notUrl)]),
  ];
};

const taintProblem = ({ text, at }: PlacedTaint): readonly Obstacle[] => {
  const taint = taintOf(text);
  return typeof taint === 'string' ? [obstacle('TN001', at, `the taint ${text} ${taint}`)] : [];
};

const problems = (
  { data, settings }: Bootstrap,
  kubernetes: Located | undefined,
): readonly Obstacle[] => {
  const toml = settings?.toml;
  const at = settings?.part.at ?? begin;
  return [
    ...(data.mime === undefined
      ? []
      : [obstacle('MIME004', begin, 'Bottlerocket reads TOML, and this is a MIME document')]),
    ...(toml?.faults ?? []).map((one) => obstacle('BR006', one.at, one.message)),
    ...(toml?.faults.length === 0 ? requiredProblems(kubernetes, at) : []),
    ...(kubernetes === undefined ? [] : settingProblems(kubernetes)),
    ...labelProblems(find(kubernetes, 'node-labels')),
    ...taintTexts(find(kubernetes, 'node-taints')).flatMap(taintProblem),
    ...connectionProblems(kubernetes, at),
  ];
};

export const evaluateBottlerocket = (bootstrap: Bootstrap, facts: NodeFacts): EvaluatedNode => {
  const toml = bootstrap.settings?.toml;
  const at = bootstrap.settings?.part.at ?? begin;
  const kubernetes = find(toml?.value, 'settings', 'kubernetes');
  const value = (field: string): string | undefined => textOf(find(kubernetes, field));
  const machine = machineOf(facts);
  const given = numberOf(find(kubernetes, 'max-pods'));
  const maxPods = given ?? machine.maxPods;
  const dns = dnsList(kubernetes, facts);
  const { cpus } = machine;
  const base = baseConfig({ facts, maxPods, writesMaxPods: true, cpus, clusterDns: dns });
  // The configuration has hard evictions only if a setting sets them.
  const { evictionHard: _none, ...rest } = base;
  const config: JsonObject = { ...rest, ...overrides(kubernetes) };
  const labels = record(
    toJson(find(kubernetes, 'node-labels') ?? { kind: 'scalar', value: null, at }),
  );
  const texts = taintTexts(find(kubernetes, 'node-taints'));
  const taints = texts.flatMap((one): readonly Taint[] => {
    const taint = taintOf(one.text);
    return typeof taint === 'string' ? [] : [taint];
  });
  const nodeName =
    value('hostname-override') ??
    (value('hostname-override-source') === 'instance-id' ? facts.instanceId : facts.privateDnsName);
  const authority = value('cluster-certificate');
  const endpoint = value('api-server');
  const words = kubeletWords({ facts, nodeName, labels, texts });
  const kubelet = kubeletView(config, undefined, words, []);
  return {
    family: 'bottlerocket',
    obstacles: problems(bootstrap, kubernetes),
    nodeName,
    cluster: {
      name: value('cluster-name'),
      endpoint,
      certificateAuthority: authority,
      serviceCidr: undefined,
      dns: dnsOf(kubelet.effective),
    },
    kubelet: { ...kubelet, labels, taints },
    labels,
    taints,
    maxPods,
    files: [
      jsonFile('/etc/kubernetes/kubelet/config', config),
      file('/etc/systemd/system/kubelet.service.d/exec-start.conf', unit(words)),
      file(
        '/etc/kubernetes/kubelet/kubeconfig',
        kubeconfig({
          clusterName: value('cluster-name') ?? '',
          endpoint: endpoint ?? '',
          region: facts.region,
        }),
      ),
      file(caFile, decodedAuthority(authority ?? '')),
    ],
  };
};

interface WordFacts {
  readonly facts: NodeFacts;
  readonly nodeName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly texts: readonly PlacedTaint[];
}

const kubeletWords = ({ facts, nodeName, labels, texts }: WordFacts): readonly string[] => [
  `--cloud-provider=${minorOf(facts.kubernetesVersion) >= 26 ? 'external' : 'aws'}`,
  '--kubeconfig=/etc/kubernetes/kubelet/kubeconfig',
  '--config=/etc/kubernetes/kubelet/config',
  '--container-runtime-endpoint=unix:///run/containerd/containerd.sock',
  `--node-ip=${facts.ipv6 ?? facts.privateIp}`,
  `--node-labels=${Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')}`,
  ...(texts.length === 0
    ? []
    : [`--register-with-taints=${texts.map((one) => one.text).join(',')}`]),
  `--hostname-override=${nodeName}`,
];

const unit = (words: readonly string[]): string =>
  ['[Service]', 'ExecStart=', `ExecStart=/usr/bin/kubelet ${words.join(' ')}`, ''].join('\n');
