// Bottlerocket: settings.kubernetes and what its own services derive from it. Types: settings-sdk's
// modeled types; derived values: pluto. Asks nobody; facts of the instance are given.
import { isObject, type Json, type JsonObject } from '../../api/json.ts';
import type { Taint } from '../../api/kube.ts';
import { begin } from '../position.ts';
import type { Bootstrap } from '../user-data/bootstrap.ts';
import { find, kindOf, type Located, numberOf, textOf, toJson } from '../user-data/located.ts';
import { clusterDnsOf } from './capacity.ts';
import { authorityFault } from './certificate.ts';
import { type EvaluatedNode, machineOf } from './evaluated.ts';
import { minorOf, type NodeFacts } from './facts.ts';
import { file, jsonFile, kubeconfig } from './files.ts';
import { baseConfig, caFile, kubeletView } from './kubelet.ts';
import { reservedMessage } from './kubelet-problems.ts';
import { keyFault, kubeletMaySet, taintOf, valueFault } from './labels.ts';
import { decodedAuthority, dnsOf } from './nodeadm.ts';
import { type Obstacle, obstacle } from './problem.ts';

type Check = (value: Located) => string | undefined;

const text =
  (pattern?: RegExp, says = 'a text'): Check =>
  (value) =>
    textOf(value) !== undefined && (pattern?.test(textOf(value) ?? '') ?? true) ? undefined : says;
const whole: Check = (value) => {
  const number = numberOf(value);
  return number !== undefined && Number.isInteger(number) && number >= 0 && number < 2 ** 32
    ? undefined
    : 'a whole number without quotes';
};
const truth: Check = (value) =>
  value.kind === 'scalar' && typeof value.value === 'boolean' ? undefined : 'true or false';
const table: Check = (value) => (value.kind === 'map' ? undefined : 'a table');
const list: Check = (value) => (value.kind === 'list' ? undefined : 'a list');
const textOrList: Check = (value) =>
  value.kind === 'list' || textOf(value) !== undefined ? undefined : 'a text or a list of texts';
const duration = text(/^(?:\d+(?:h|m|s|ms))+$/, 'a duration such as 1m30s');

const keyed =
  (keys: RegExp, says: string): Check =>
  (value) => {
    if (value.kind !== 'map') return 'a table';
    const bad = [...value.members.keys()].find((key) => !keys.test(key));
    return bad === undefined ? undefined : `a table of ${says}; ${JSON.stringify(bad)} is none`;
  };
const signals = keyed(
  /^(?:memory\.available|(?:nodefs|imagefs)\.(?:available|inodesFree)|pid\.available)$/,
  'eviction signals in quotes',
);
const resources = keyed(/^(?:cpu|memory|ephemeral-storage)$/, 'cpu, memory and ephemeral-storage');

/** Of settings.kubernetes; names as in Bottlerocket's own documentation. */
const fields: Readonly<Record<string, Check>> = {
  'cluster-name': text(/^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/, 'a cluster name'),
  'cluster-certificate': text(),
  'api-server': text(),
  'node-labels': table,
  'node-taints': table,
  'static-pods': table,
  'authentication-mode': text(/^(?:aws|tls)$/, 'aws or tls'),
  'bootstrap-token': text(/^[a-z0-9]{6}\.[a-z0-9]{16}$/, 'a bootstrap token'),
  'standalone-mode': truth,
  'eviction-hard': signals,
  'eviction-soft': signals,
  'eviction-soft-grace-period': signals,
  'eviction-max-pod-grace-period': whole,
  'kube-reserved': resources,
  'system-reserved': resources,
  'allowed-unsafe-sysctls': list,
  'server-tls-bootstrap': truth,
  'cloud-provider': text(/^(?:aws|external|)$/, 'aws, external or an empty text'),
  'registry-qps': whole,
  'registry-burst': whole,
  'event-qps': whole,
  'event-burst': whole,
  'kube-api-qps': whole,
  'kube-api-burst': whole,
  'container-log-max-size': text(),
  'container-log-max-files': whole,
  'cpu-cfs-quota-enforced': truth,
  'cpu-manager-policy': text(/^(?:none|static)$/, 'none or static'),
  'cpu-manager-reconcile-period': duration,
  'cpu-manager-policy-options': list,
  'topology-manager-scope': text(),
  'topology-manager-policy': text(),
  'pod-pids-limit': (value) => (numberOf(value) === undefined ? 'a whole number' : undefined),
  'image-gc-high-threshold-percent': (value) =>
    whole(value) && text(/^\d+$/, 'a percentage')(value),
  'image-gc-low-threshold-percent': (value) => whole(value) && text(/^\d+$/, 'a percentage')(value),
  'provider-id': text(),
  'hostname-override': text(),
  'hostname-override-source': text(
    /^(?:private-dns-name|instance-id)$/,
    'private-dns-name or instance-id',
  ),
  'log-level': whole,
  'credential-providers': table,
  'server-certificate': text(),
  'server-key': text(),
  'shutdown-grace-period': duration,
  'shutdown-grace-period-for-critical-pods': duration,
  'max-pods': whole,
  'cluster-dns-ip': textOrList,
  'cluster-domain': text(),
  'node-ip': text(),
  'pod-infra-container-image': text(),
  'memory-manager-policy': text(),
  'memory-manager-reserved-memory': table,
  'reserved-cpus': text(),
  'seccomp-default': truth,
  'verbose-logging': truth,
  'device-ownership-from-security-context': truth,
  'single-process-oom-kill': truth,
  'ids-per-pod': whole,
  nvidia: table,
};
export const bottlerocketFields: readonly string[] = Object.keys(fields);

const required = ['cluster-name', 'api-server', 'cluster-certificate'] as const;

const labelProblems = (labels: Located | undefined): readonly Obstacle[] =>
  labels?.kind !== 'map'
    ? []
    : [...labels.members].flatMap(([key, { keyAt, value }]) => {
        const fault = keyFault(key) ?? valueFault(textOf(value) ?? '');
        if (textOf(value) === undefined) {
          return [
            obstacle('BR003', value.at, `node-labels.${key} takes a text, not ${kindOf(value)}`),
          ];
        }
        if (fault !== undefined) return [obstacle('LB002', keyAt, fault)];
        return kubeletMaySet(key) ? [] : [obstacle('LB001', keyAt, reservedMessage(key))];
      });

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
    const check = Object.hasOwn(fields, key) ? fields[key] : undefined;
    const wanted = check?.(value);
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
  const fromCidr = clusterDnsOf(facts.cluster?.serviceCidr ?? '');
  return [fromCidr ?? (facts.vpcCidr?.startsWith('10.') === true ? '172.20.0.10' : '10.100.0.10')];
};

/** Settings that are fields of the kubelet's configuration under another name. */
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

export const evaluateBottlerocket = (bootstrap: Bootstrap, facts: NodeFacts): EvaluatedNode => {
  const toml = bootstrap.settings?.toml;
  const at = bootstrap.settings?.part.at ?? begin;
  const kubernetes = find(toml?.value, 'settings', 'kubernetes');
  const value = (field: string): string | undefined => textOf(find(kubernetes, field));
  const machine = machineOf(facts);
  const given = numberOf(find(kubernetes, 'max-pods'));
  const maxPods = given ?? machine.maxPods;
  const dns = dnsList(kubernetes, facts);
  const base = baseConfig({
    facts,
    maxPods,
    writesMaxPods: true,
    cpus: machine.cpus,
    clusterDns: dns,
  });
  // Hard evictions stand in the configuration only where a setting says so.
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
  const fault = authority === undefined || authority === '' ? undefined : authorityFault(authority);
  const endpoint = value('api-server');
  const words = kubeletWords({ facts, nodeName, labels, texts });
  const kubelet = kubeletView(config, undefined, words, []);
  const obstacles: Obstacle[] = [
    ...(bootstrap.data.mime === undefined
      ? []
      : [obstacle('MIME004', begin, 'Bottlerocket reads TOML, and this is a MIME document')]),
    ...(toml?.faults ?? []).map((one) => obstacle('BR006', one.at, one.message)),
    ...(toml?.faults.length === 0 ? requiredProblems(kubernetes, at) : []),
    ...(kubernetes === undefined ? [] : settingProblems(kubernetes)),
    ...labelProblems(find(kubernetes, 'node-labels')),
    ...texts.flatMap((one) => {
      const taint = taintOf(one.text);
      return typeof taint === 'string'
        ? [obstacle('TN001', one.at, `the taint ${one.text} ${taint}`)]
        : [];
    }),
    ...(fault === undefined
      ? []
      : [
          obstacle(
            'NC003',
            find(kubernetes, 'cluster-certificate')?.at ?? at,
            `cluster-certificate ${fault}`,
          ),
        ]),
    ...(endpoint === undefined || endpoint === '' || /^https:\/\/[^\s/]+/.test(endpoint)
      ? []
      : [
          obstacle(
            'NC004',
            find(kubernetes, 'api-server')?.at ?? at,
            `api-server is ${JSON.stringify(endpoint)}, no https:// URL`,
          ),
        ]),
  ];
  return {
    family: 'bottlerocket',
    obstacles,
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
