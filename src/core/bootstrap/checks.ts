// Checks for mistakes in user data that may still yield a node, or that depend on how it is
// launched. The evaluation reports what keeps a node from joining.
import {
  bottlerocketFields,
  clusterOfPart,
  type Evaluation,
  evaluateMaxPods,
  find,
  instanceTypeFacts,
  isEmptyValue,
  keepsEarlier,
  kindOf,
  type Located,
  leavesOf,
  lineAt,
  maxPodsOf,
  memberOf,
  minorOf,
  nearestName,
  nodeConfigFacts,
  otherCloudInitTypes,
  type Problem,
  recommendedMaxPods,
  reservedMemoryMiB,
  textOf,
  textsOf,
  unknownKubeletFields,
  unknownOption,
} from '../../formats/index.ts';
import { labelChecks, settingChecks } from './checks-managed.ts';
import type { LintOptions } from './options.ts';

export type Check = (evaluation: Evaluation, options: LintOptions) => readonly Problem[];

const problem = (rule: string, at: Problem['at'], message: string): Problem => ({
  rule,
  at,
  message,
});

const container: Check = ({ data, bootstrap }) => [
  ...bootstrap.cloudConfigs.flatMap(({ config }) =>
    config.lost.map(({ at, message }) => problem('CI006', at, message)),
  ),
  ...(data.mime?.faults ?? [])
    .filter(({ kind }) => kind === 'after-close')
    .map(({ at, message }) => problem('MIME002', at, message)),
  // On AL2023 the evaluation reports these faults as obstacles; other families read MIME leniently.
  ...(data.family === 'al2023' ? [] : (data.mime?.faults ?? []))
    .filter(({ kind }) => kind === 'no-parts' || kind === 'no-boundary')
    .map(({ kind, at, message }) =>
      problem(kind === 'no-parts' ? 'MIME003' : 'MIME007', at, message),
    ),
  ...(data.family === 'al2023' ? [] : (data.mime?.faults ?? []))
    .filter(({ kind }) => kind === 'no-close')
    .map(({ at, message }) => problem('MIME009', at, message)),
  ...data.parts
    .filter((part) => part.kind === 'other' && part.type !== undefined)
    .filter((part) => !otherCloudInitTypes.includes(part.type ?? ''))
    .map((part) =>
      problem('MIME005', part.at, `part ${part.index} is ${part.type}, which nothing reads`),
    ),
];

const scripts: Check = ({ data, bootstrap }, { launchedBy }) => [
  ...(data.family !== 'al2023'
    ? []
    : bootstrap.calls.map(({ at }) =>
        problem('SH002', at, 'Amazon Linux 2023 has no /etc/eks/bootstrap.sh'),
      )),
  ...bootstrap.calls.flatMap(({ ignored }) =>
    ignored.map((word) =>
      problem('SH011', word.at(0), `${unknownOption(word)}; after the name it is ignored`),
    ),
  ),
  ...(launchedBy === 'managed' && data.family !== 'al2023'
    ? [
        ...bootstrap.calls.map(({ at }) => at),
        ...(bootstrap.windows?.script.calls ?? []).map(({ at }) => at),
      ].map((at) => problem('SH003', at, 'EKS bootstraps this group itself, after this call'))
    : []),
  ...bootstrap.scripts.flatMap(({ part }) => metadataProblems(part.text, part.at)),
];

const metadataProblems = (text: string, at: Problem['at']): readonly Problem[] =>
  text.split('\n').flatMap((line, i) => {
    const asks = line.search(
      /\b(?:curl|wget)\b[^|;]*169\.254\.169\.254\/latest\/(?:meta-data|dynamic)/,
    );
    if (asks < 0 || /^\s*#/.test(line) || /X-aws-ec2-metadata-token/i.test(text)) return [];
    return [problem('SH010', lineAt(at, i, asks), 'asks the metadata service without a token')];
  });

const nodeConfigs: Check = ({ bootstrap }) =>
  bootstrap.nodeConfigs.flatMap(({ config }) => [
    ...config.unknown.map(({ at, path, group }) => {
      const near = nearestName(path.split('.').at(-1) ?? '', Object.keys(group));
      const hint = near === undefined ? '' : `; did you mean ${near}?`;
      return problem('NC001', at, `NodeConfig has no field ${path}${hint}`);
    }),
    ...config.ambiguous.map(({ at, message }) => problem('NC007', at, message)),
    ...unknownValues(find(config.value, 'spec')),
  ]);

const kubeletFields: Check = ({ bootstrap }, { kubernetesVersion }) =>
  bootstrap.nodeConfigs.flatMap(({ config }) => {
    const kubelet = find(config.value, 'spec', 'kubelet', 'config');
    return kubelet === undefined ? [] : unknownKubeletFields(kubelet, minorOf(kubernetesVersion));
  });

/** The last minor version with images from before nodeadm stopped quoting flag values itself. */
const lastMinorWithOldImages = 30;

const flagQuotes: Check = ({ data, bootstrap }, { kubernetesVersion }) =>
  data.family !== 'al2023' || minorOf(kubernetesVersion) > lastMinorWithOldImages
    ? []
    : bootstrap.nodeConfigs
        .flatMap(({ config }) => textsOf(find(config.value, 'spec', 'kubelet', 'flags')))
        .filter(({ text }) => text.includes('"'))
        .map(({ text, at }) =>
          problem(
            'FL001',
            lineAt(at, 0, text.indexOf('"')),
            'the quotes end the ones that nodeadm of images before 2024-07-15 writes around ' +
              'all flags',
          ),
        );

const unknownValues = (spec: Located | undefined): readonly Problem[] => {
  const { featureGates, strategies, mounts } = nodeConfigFacts;
  const found: Problem[] = [];
  const look = (what: string, text: string, at: Problem['at'], known: readonly string[]): void => {
    if (text === '' || known.includes(text)) return;
    found.push(problem('NC008', at, `${what} ${text} is none of ${known.join(', ')}`));
  };
  const gates = find(spec, 'featureGates');
  for (const [name, { keyAt }] of gates?.kind === 'map' ? gates.members : []) {
    look('the feature gate', name, keyAt, featureGates);
  }
  const storage = find(spec, 'instance', 'localStorage');
  const strategy = find(storage, 'strategy');
  if (strategy !== undefined) look('the strategy', textOf(strategy) ?? '', strategy.at, strategies);
  for (const one of textsOf(find(storage, 'disabledMounts')))
    look('the mount', one.text, one.at, mounts);
  return found;
};

/** Fields that a later part sets to an empty value although an earlier part has set them. */
const unsets: Check = ({ bootstrap }) => {
  const found: Problem[] = [];
  const specs = bootstrap.nodeConfigs.map(({ config }) => find(config.value, 'spec'));
  for (const [i, spec] of specs.entries()) {
    if (spec === undefined || i === 0) continue;
    for (const { path, value } of leavesOf(spec)) {
      if (!isEmptyValue(value) || !keepsEarlier(path)) continue;
      const before = specs.slice(0, i).findLast((one) => {
        const earlier = find(one, ...path);
        return earlier !== undefined && !isEmptyValue(earlier);
      });
      const earlier = find(before, ...path);
      if (earlier === undefined) continue;
      const text =
        `spec.${path.join('.')} keeps its value of line ${earlier.at.line}: ${kindOf(value)} ` +
        'does not override';
      found.push(problem('NC005', value.at, text));
    }
  }
  return found;
};

const sameFamily = (a: string, b: string): boolean => a.includes(':') === b.includes(':');

const inRange = (address: string, cidr: string): boolean => {
  const [network = '', length = '0'] = cidr.split('/');
  const number = (text: string): number =>
    text.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
  const size = 2 ** (32 - Number(length));
  return Math.floor(number(address) / size) === Math.floor(number(network) / size);
};

const dns: Check = ({ bootstrap, node }) => {
  const cidr = node.cluster.serviceCidr;
  if (cidr === undefined || !cidr.includes('/')) return [];
  const config = bootstrap.nodeConfigs
    .map((one) => find(one.config.value, 'spec', 'kubelet', 'config', 'clusterDNS'))
    .findLast((one) => one !== undefined);
  return textsOf(config).flatMap(({ text, at }) => {
    // A link-local address is that of NodeLocal DNSCache, which answers on the node itself.
    if (text.startsWith('169.254.')) return [];
    if (!sameFamily(text, cidr)) {
      return [problem('DNS002', at, `${text} and the service CIDR ${cidr} are of two families`)];
    }
    if (text.includes(':') || inRange(text, cidr)) return [];
    return [problem('DNS001', at, `${text} is not in the service CIDR ${cidr}`)];
  });
};

/** Where user data sets the effective number of pods; undefined when the number is computed. */
const maxPodsPlace = ({ bootstrap, node }: Evaluation): Problem['at'] | undefined => {
  const flag = node.kubelet.flags.findLast(({ name }) => name === 'max-pods');
  if (flag !== undefined) return flag.at;
  const configs = bootstrap.nodeConfigs.map((one) =>
    find(one.config.value, 'spec', 'kubelet', 'config', 'maxPods'),
  );
  const setting = find(bootstrap.settings?.toml.value, 'settings', 'kubernetes', 'max-pods');
  return (configs.findLast((one) => one !== undefined) ?? setting)?.at;
};

const pods: Check = (evaluation, { instanceType, isPrefixDelegation }) => {
  const { node, data } = evaluation;
  const found: Problem[] = [];
  const facts = instanceType === undefined ? undefined : instanceTypeFacts(instanceType);
  const at = maxPodsPlace(evaluation);
  if (facts !== undefined && at !== undefined) {
    const isWindows = data.family === 'windows';
    const limit = recommendedMaxPods(facts, { isPrefixDelegation, isWindows });
    if (node.maxPods > limit) {
      const text = `${node.maxPods} pods on ${facts.name}, which has addresses for ${limit}`;
      found.push(problem('MP001', at, text));
    }
    const computed = maxPodsOf(facts);
    const reserved = memoryOf(node.kubelet.effective.kubeReserved);
    const wanted = reservedMemoryMiB(node.maxPods);
    if (data.family !== 'bottlerocket' && node.maxPods !== computed && reserved !== wanted) {
      const text =
        `${node.maxPods} pods may run and ${reserved}Mi are reserved, as for ${computed}; it ` +
        `takes ${wanted}Mi`;
      found.push(problem('MP002', at, text));
    }
  }
  return [...found, ...expressions(evaluation, facts)];
};

const memoryOf = (reserved: unknown): number | undefined => {
  const { memory } = (reserved ?? {}) as { memory?: unknown };
  const match = /^(\d+)Mi$/.exec(String(memory));
  return match === null ? undefined : Number(match[1]);
};

const anyType = { interfaces: 3, addressesPerInterface: 10 };

const expressions = (
  { bootstrap }: Evaluation,
  facts: { readonly interfaces: number; readonly addressesPerInterface: number } | undefined,
): readonly Problem[] =>
  bootstrap.nodeConfigs.flatMap(({ config }) => {
    const expression = find(config.value, 'spec', 'kubelet', 'maxPodsExpression');
    const text = textOf(expression) ?? '';
    if (expression === undefined || text === '') return [];
    const result = evaluateMaxPods(text, facts ?? anyType);
    return result.kind === 'ok'
      ? []
      : [problem('MP003', expression.at, `maxPodsExpression: ${result.message}`)];
  });

const formWords = {
  'quoted-key-with-quotes': 'a key with quotes in it',
  'escaped-quotes': 'escaped quotes in a text',
  'mixed-list': 'a list of several types',
  'quoted-header': 'a header with a quoted key',
} as const;

const settings: Check = ({ bootstrap }) => {
  const toml = bootstrap.settings?.toml;
  if (toml === undefined) return [];
  const kubernetes = find(toml.value, 'settings', 'kubernetes');
  const unknown = kubernetes?.kind !== 'map' ? [] : [...kubernetes.members];
  return [
    ...toml.forms.map(({ at, form }) => problem('BR001', at, formWords[form])),
    ...unknown
      .filter(([key]) => !bottlerocketFields.includes(key))
      .map(([key, { keyAt }]) => {
        const near = nearestName(key, bottlerocketFields);
        const hint = near === undefined ? '' : `; did you mean ${near}?`;
        return problem('BR002', keyAt, `settings.kubernetes has no ${key}${hint}`);
      }),
  ];
};

const windows: Check = ({ bootstrap }, { launchedBy }) =>
  (launchedBy === 'own-image' ? (bootstrap.windows?.script.calls ?? []) : [])
    .filter(({ parameters }) => !parameters.has('servicecidr') && !parameters.has('dnsclusterip'))
    .map(({ at }) =>
      problem('WIN002', at, 'Start-EKSBootstrap.ps1 is called without -ServiceCIDR'),
    );

const secretName =
  /(?:^|[\s"'{,])(?:export\s+)?([A-Z0-9_]{0,64}(?:SECRET|PASSWORD|PASSWD|PRIVATE_KEY|ACCESS_KEY|API_KEY)[A-Z0-9_]{0,64})\s*[=:]\s*["']?([^\s"'$}{<]{8,})/i;
const secretValue =
  /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[pous]_[A-Za-z0-9]{36}\b/;
const urlPassword = /:\/\/[^\s:/@"']{1,200}:([^\s@"'$]{1,200})@/;

const secrets: Check = ({ data }) =>
  data.parts.flatMap((part) =>
    part.text.split('\n').flatMap((line, i) => {
      if (/^\s*#/.test(line)) return [];
      for (const pattern of [secretValue, secretName, urlPassword]) {
        const match = pattern.exec(line);
        if (match === null) continue;
        const what = pattern === secretName ? `the value of ${match[1]}` : 'a key or password';
        return [problem('SEC001', lineAt(part.at, i, match.index), `${what} stands in clear text`)];
      }
      return [];
    }),
  );

export const checks: readonly Check[] = [
  container,
  scripts,
  nodeConfigs,
  kubeletFields,
  flagQuotes,
  unsets,
  dns,
  pods,
  settings,
  windows,
  secrets,
  labelChecks,
  settingChecks,
];

/** Whether EKS or Drover adds the bootstrap, so that missing parts are not faults. */
export const isFragment = (evaluation: Evaluation, { launchedBy }: LintOptions): boolean => {
  if (launchedBy !== undefined) return launchedBy === 'managed';
  const { bootstrap } = evaluation;
  return (
    !bootstrap.nodeConfigs.some(({ config }) => clusterOfPart(config) !== undefined) &&
    bootstrap.calls.length === 0 &&
    bootstrap.joins.length === 0 &&
    !bootstrap.cloudConfigs.some(({ config }) => config.losesJoin) &&
    (bootstrap.windows?.script.calls.length ?? 0) === 0 &&
    !hasClusterSettings(bootstrap.settings?.toml.value)
  );
};

const hasClusterSettings = (value: Located | undefined): boolean => {
  const kubernetes = find(value, 'settings', 'kubernetes');
  return ['cluster-name', 'api-server', 'cluster-certificate'].some(
    (field) => memberOf(kubernetes, field) !== undefined,
  );
};
