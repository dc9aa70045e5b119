// Every value that user data, or the image's bootstrap, sets on a node: the field, its source and
// place, in the order in which later ones win. Input of explain and diff.
import type { Json } from '../../api/json.ts';
import {
  type Evaluation,
  fieldOf,
  find,
  isEmptyValue,
  keepsEarlier,
  type Located,
  leavesOf,
  type Position,
  toJson,
} from '../../formats/index.ts';

export interface Setting {
  /** `kubelet.config.maxPods`, `maxPods`, `--node-labels`, `cluster.name`, `labels.team`. */
  readonly field: string;
  readonly value: Json;
  /** The image's own bootstrap, or the user data. */
  readonly setBy: 'image' | 'user data';
  /** For user data: the part, and the item in it. */
  readonly source: string;
  readonly at: Position | undefined;
  /** Why it does not override an earlier value. */
  readonly withoutEffect?: string;
}

const leaves = (value: Json, path: readonly string[] = []): readonly [string, Json][] => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [[path.join('.'), value]];
  }
  const members = Object.entries(value);
  if (members.length === 0) return [[path.join('.'), value]];
  return members.flatMap(([key, one]) => leaves(one ?? null, [...path, key]));
};

const ofImage = ({ node }: Evaluation): readonly Setting[] =>
  leaves(node.kubelet.config).map(([field, value]) => ({
    field,
    value,
    setBy: 'image',
    source: 'the image’s bootstrap',
    at: undefined,
  }));

const ofSpec = (spec: Located, source: string): readonly Setting[] =>
  leavesOf(spec).flatMap(({ path, value }): readonly Setting[] => {
    const [first, second, ...rest] = path;
    const isKubeletField = first === 'kubelet' && second === 'config' && rest.length > 0;
    const isFlags = first === 'kubelet' && second === 'flags';
    if (isFlags) return [];
    const keeps = keepsEarlier(path) && isEmptyValue(value);
    return [
      {
        field: isKubeletField ? rest.join('.') : path.join('.'),
        value: toJson(value),
        setBy: 'user data',
        source,
        at: value.at,
        ...(keeps ? { withoutEffect: 'an empty value does not override' } : {}),
      },
    ];
  });

const ofNodeConfigs = ({ bootstrap }: Evaluation): readonly Setting[] =>
  bootstrap.nodeConfigs.flatMap(({ config, part, file }) => {
    const spec = find(config.value, 'spec');
    if (spec === undefined) return [];
    const source = file ?? `part ${part.index}, NodeConfig`;
    const settings = ofSpec(spec, source);
    const [fault] = config.faults;
    if (fault === undefined && !(bootstrap.data.isLostToNodeadm && file === undefined))
      return settings;
    const why = fault === undefined ? 'nodeadm reads nothing of the document' : fault.message;
    return settings.map((setting) => ({ ...setting, withoutEffect: why }));
  });

/** Labels are merged by key over all flags, so each is a field of its own. */
const ofFlags = ({ node }: Evaluation): readonly Setting[] =>
  node.kubelet.flags.flatMap((flag): readonly Setting[] => {
    const { name, value = 'true' } = flag;
    const isOwn = value !== '' && isOfImage(node.kubelet.arguments, name);
    const common = {
      setBy: isOwn ? ('image' as const) : ('user data' as const),
      source: isOwn ? 'the image’s bootstrap' : `the flag --${name}`,
      at: isOwn ? undefined : flag.at,
    };
    if (name === 'node-labels') {
      return value
        .split(',')
        .filter((pair) => pair !== '')
        .map((pair) => {
          const at = pair.indexOf('=');
          const [key, text] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
          return { ...common, field: `labels.${key}`, value: text };
        });
    }
    const field = name === 'register-with-taints' ? 'registerWithTaints' : fieldOf(name);
    const number = /^\d+$/.test(value) ? Number(value) : value;
    return [
      { ...common, field: `--${name}`, value },
      ...(field === undefined ? [] : [{ ...common, field, value: number }]),
    ];
  });

const imageFlags: ReadonlySet<string> = new Set(
  'cloud-provider config config-dir kubeconfig node-ip runtime-cgroups container-runtime-endpoint image-credential-provider-config image-credential-provider-bin-dir pod-infra-container-image'.split(
    ' ',
  ),
);
const isOfImage = (words: readonly string[], name: string): boolean =>
  imageFlags.has(name) && words.some((word) => word.startsWith(`--${name}`));

const ofCalls = ({ bootstrap }: Evaluation): readonly Setting[] =>
  bootstrap.calls.flatMap(({ options, clusterName }) => [
    ...(clusterName === undefined
      ? []
      : [
          {
            field: 'cluster.name',
            value: clusterName.text,
            setBy: 'user data' as const,
            source: 'the call of bootstrap.sh',
            at: clusterName.at(0),
          },
        ]),
    ...[...options]
      .filter(([name]) => name !== 'kubelet-extra-args')
      .map(([name, word]) => ({
        field: `bootstrap.sh --${name}`,
        value: word.text,
        setBy: 'user data' as const,
        source: 'the call of bootstrap.sh',
        at: word.at(0),
      })),
  ]);

const ofWindows = ({ bootstrap }: Evaluation): readonly Setting[] =>
  (bootstrap.windows?.script.calls ?? []).flatMap(({ parameters }) =>
    [...parameters]
      .filter(([name]) => name !== 'kubeletextraargs')
      .map(([name, word]) => ({
        field: `Start-EKSBootstrap.ps1 -${name}`,
        value: word.text,
        setBy: 'user data' as const,
        source: 'the call of Start-EKSBootstrap.ps1',
        at: word.at(0),
      })),
  );

const ofTables = ({ bootstrap }: Evaluation): readonly Setting[] => {
  const value = bootstrap.settings?.toml.value;
  if (value === undefined) return [];
  return leavesOf(value).map(({ path, value: leaf }) => ({
    field: path.join('.'),
    value: toJson(leaf),
    setBy: 'user data' as const,
    source: 'the settings',
    at: leaf.at,
  }));
};

export const settingsOf = (evaluation: Evaluation): readonly Setting[] => [
  ...ofImage(evaluation),
  ...ofNodeConfigs(evaluation),
  ...ofTables(evaluation),
  ...ofCalls(evaluation),
  ...ofWindows(evaluation),
  ...ofFlags(evaluation),
];
