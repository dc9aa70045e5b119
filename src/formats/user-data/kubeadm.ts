// Plain cloud-init that joins a cluster with kubeadm and a bootstrap token: the command in a script
// or in runcmd, and the JoinConfiguration from write_files. Runs nothing.
import type { Placed } from '../node/arguments.ts';
import { type ParseFault, type Position, within } from '../position.ts';
import { placed } from './bootstrap-script.ts';
import { find, kindOf, type Located, textOf, toJson } from './located.ts';
import type { Invocation, ReadScript } from './shell.ts';
import { parseYaml } from './yaml.ts';

export interface KubeadmJoin {
  readonly at: Position;
  readonly endpoint: Placed | undefined;
  readonly token: Placed | undefined;
  readonly caHash: Placed | undefined;
  readonly isUnsafe: boolean;
  readonly nodeName: Placed | undefined;
  readonly configFile: Placed | undefined;
  /** A kubeconfig with the API server and its authority, and optionally credentials. */
  readonly discoveryFile: Placed | undefined;
  /** Undefined when the command's flags are sufficient. */
  readonly configuration?: JoinConfiguration;
}

/** Fields that only a JoinConfiguration has: kubeadm join has no flags for them. */
export interface JoinConfiguration {
  /** `v1beta4`; undefined when it is not one of kubeadm's. */
  readonly version: string | undefined;
  readonly at: Position;
  /** `--name=value` for the kubelet. */
  readonly kubeletArguments: readonly Placed[];
  /** Values of a wrong type, which kubeadm does not decode. */
  readonly faults: readonly ParseFault[];
  /** A map up to v1beta3, a list from v1beta4. */
  readonly argumentsForm: 'map' | 'list' | undefined;
  /** In the form of the kubelet's flag: `key=value:Effect`. */
  readonly taints: readonly { readonly text: string; readonly at: Position }[];
}

/** A file that write_files or a here-document writes on the node. */
export interface WrittenFile {
  readonly path: string;
  readonly content: string;
  readonly at: Position;
}

const joinOf = (invocation: Invocation, script: ReadScript): KubeadmJoin | undefined => {
  const words = [{ text: invocation.name, offsets: [], isOpaque: false }, ...invocation.fields].map(
    (field) => placed(field, script),
  );
  const at = words.findIndex(({ text }) => text === 'kubeadm' || text.endsWith('/kubeadm'));
  if (at < 0 || words[at + 1]?.text !== 'join') return undefined;
  const found = new Map<string, Placed>();
  let endpoint: Placed | undefined;
  let isUnsafe = false;
  for (let i = at + 2; i < words.length; i++) {
    const word = words[i];
    const match = /^--([\w-]+)(=)?/.exec(word?.text ?? '');
    if (word === undefined) break;
    if (match === null) endpoint ??= word;
    else if (match[1] === 'discovery-token-unsafe-skip-ca-verification') isUnsafe = true;
    else if (match[2] !== undefined) {
      const { length } = match[0];
      const value = {
        ...word,
        text: word.text.slice(length),
        at: (o: number) => word.at(o + length),
      };
      found.set(match[1] ?? '', value);
    } else if (words[i + 1] !== undefined) {
      found.set(match[1] ?? '', words[++i] ?? word);
    }
  }
  const discoveryFile = found.get('discovery-file');
  return {
    at: invocation.at,
    endpoint,
    isUnsafe,
    token:
      found.get('token') ?? found.get(discoveryFile ? 'tls-bootstrap-token' : 'discovery-token'),
    caHash: found.get('discovery-token-ca-cert-hash'),
    nodeName: found.get('node-name'),
    configFile: found.get('config'),
    discoveryFile,
  };
};

export const kubeadmJoins = (script: ReadScript): readonly KubeadmJoin[] =>
  script.invocations.flatMap((invocation) => joinOf(invocation, script) ?? []);

/** Files written by `cat > PATH <<EOF` and `tee PATH <<EOF`. */
export const filesOfScript = (script: ReadScript): readonly WrittenFile[] =>
  script.invocations.flatMap(({ name, output, input, fields }) => {
    const path =
      output ??
      (name === 'tee' ? fields.find(({ text }) => !text.startsWith('-'))?.text : undefined);
    return input === undefined || path === undefined
      ? []
      : [{ path, content: input.body, at: input.at }];
  });

const place = (located: Located | undefined): Placed | undefined => {
  const text = textOf(located);
  if (text === undefined || located === undefined) return undefined;
  return {
    text,
    isOpaque: false,
    at: (offset) => within(located.at, { line: 1, column: offset + 1 }),
  };
};

const wordOf = (value: Located | undefined): string =>
  value?.kind === 'scalar' && value.value !== null ? String(toJson(value)) : '';

/** `--name=value`; places are those within the value. */
const argument = (name: string, value: Located): Placed => ({
  text: `--${name}=${wordOf(value)}`,
  isOpaque: false,
  at: (offset) => within(value.at, { line: 1, column: Math.max(0, offset - name.length - 3) + 1 }),
});

const argumentsOf = (extra: Located | undefined): readonly Placed[] => {
  if (extra?.kind === 'map') {
    return [...extra.members].map(([name, { value }]) => argument(name, value));
  }
  return (extra?.kind === 'list' ? extra.items : []).flatMap((item) => {
    const name = textOf(find(item, 'name'));
    return name === undefined
      ? []
      : [argument(name, find(item, 'value') ?? { ...nothing, at: item.at })];
  });
};

const nothing = { kind: 'scalar', value: null } as const;

/** Go's decoder reads null as an empty text, and refuses a number or a boolean. */
const textFault = (what: string, value: Located | undefined): readonly ParseFault[] => {
  if (value === undefined || (value.kind === 'scalar' && value.value === null)) return [];
  if (textOf(value) !== undefined) return [];
  const remedy = value.kind === 'scalar' ? `: write ${JSON.stringify(String(value.value))}` : '';
  return [{ at: value.at, message: `${what} is ${kindOf(value)}, not a text${remedy}` }];
};

/** Faults of a list of objects whose named fields must be text. */
const itemFaults = (
  what: string,
  value: Located | undefined,
  fields: readonly string[],
): readonly ParseFault[] =>
  (value?.kind === 'list' ? value.items : []).flatMap((item) =>
    item.kind === 'map'
      ? fields.flatMap((field) => textFault(`${field} of ${what}`, find(item, field)))
      : [{ at: item.at, message: `an item of ${what} is ${kindOf(item)}, not an object` }],
  );

const formFault = (
  what: string,
  value: Located | undefined,
  forms: readonly Located['kind'][],
): readonly ParseFault[] =>
  value === undefined ||
  forms.includes(value.kind) ||
  (value.kind === 'scalar' && value.value === null)
    ? []
    : [{ at: value.at, message: `${what} is ${kindOf(value)}` }];

const registrationFaults = (registration: Located | undefined): readonly ParseFault[] => {
  const extra = find(registration, 'kubeletExtraArgs');
  const taints = find(registration, 'taints');
  const named = extra?.kind === 'list' ? extra.items : [];
  return [
    ...textFault('name', find(registration, 'name')),
    ...formFault('kubeletExtraArgs', extra, ['map', 'list']),
    ...(extra?.kind === 'map' ? [...extra.members] : []).flatMap(([name, { value }]) =>
      textFault(`${name} of kubeletExtraArgs`, value),
    ),
    ...itemFaults('kubeletExtraArgs', extra, ['name', 'value']),
    ...named
      .filter((item) => item.kind === 'map' && wordOf(find(item, 'name')) === '')
      .map(({ at }) => ({ at, message: 'an item of kubeletExtraArgs has no name' })),
    ...formFault('taints', taints, ['list']),
    ...itemFaults('taints', taints, ['key', 'value', 'effect']),
  ];
};

const configurationOf = (value: Located): JoinConfiguration => {
  const registration = find(value, 'nodeRegistration');
  const extra = find(registration, 'kubeletExtraArgs');
  const taints = find(registration, 'taints');
  const version = find(value, 'apiVersion');
  return {
    version: /^kubeadm\.k8s\.io\/(v\w+)$/.exec(textOf(version) ?? '')?.[1],
    at: version?.at ?? value.at,
    kubeletArguments: argumentsOf(extra),
    faults: registrationFaults(registration),
    argumentsForm: extra?.kind === 'map' || extra?.kind === 'list' ? extra.kind : undefined,
    taints: (taints?.kind === 'list' ? taints.items : []).map((item) => {
      const worth = wordOf(find(item, 'value'));
      const key = `${wordOf(find(item, 'key'))}${worth === '' ? '' : `=${worth}`}`;
      return { text: `${key}:${wordOf(find(item, 'effect'))}`, at: item.at };
    }),
  };
};

/** The JoinConfiguration in a file, in the form of the command's flags. */
export const joinOfConfiguration = ({ content, at }: WrittenFile): KubeadmJoin | undefined => {
  const { documents } = parseYaml(content, at);
  const join = documents.find(({ value }) => textOf(find(value, 'kind')) === 'JoinConfiguration');
  if (join?.value === undefined) return undefined;
  const discovery = find(join.value, 'discovery', 'bootstrapToken');
  const hashes = find(discovery, 'caCertHashes');
  const unsafe = find(discovery, 'unsafeSkipCAVerification');
  return {
    at: join.at,
    endpoint: place(find(discovery, 'apiServerEndpoint')),
    token: place(find(discovery, 'token') ?? find(join.value, 'discovery', 'tlsBootstrapToken')),
    caHash: place(hashes?.kind === 'list' ? hashes.items[0] : undefined),
    isUnsafe: unsafe?.kind === 'scalar' && unsafe.value === true,
    nodeName: place(find(join.value, 'nodeRegistration', 'name')),
    configFile: undefined,
    discoveryFile: place(find(join.value, 'discovery', 'file', 'kubeConfigPath')),
    configuration: configurationOf(join.value),
  };
};
