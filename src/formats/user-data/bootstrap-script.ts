// Calls of /etc/eks/bootstrap.sh (Amazon Linux 2, Ubuntu): arguments as the script parses them,
// flags followed by their value, everything else positional. Runs nothing.
import type { Placed } from '../node/arguments.ts';
import type { Position } from '../position.ts';
import type { Field, Invocation, ReadScript } from './shell.ts';

export const bootstrapScriptPath = '/etc/eks/bootstrap.sh';

/** Each takes the next word as its value (amazon-eks-ami, the AL2 script). */
const options: ReadonlySet<string> = new Set(
  `use-max-pods b64-cluster-ca apiserver-endpoint kubelet-extra-args enable-docker-bridge
  aws-api-retry-attempts docker-config-json containerd-config-file pause-container-account
  pause-container-version dns-cluster-ip ip-family service-ipv4-cidr service-ipv6-cidr
  enable-local-outpost cluster-id container-runtime mount-bpf-fs local-disks`.split(/\s+/),
);
export const bootstrapOptions: readonly string[] = [...options];

export interface BootstrapCall {
  readonly at: Position;
  readonly clusterName: Placed | undefined;
  readonly options: ReadonlyMap<string, Placed>;
  /** Unknown flags before the name: the script takes the first one for the name. */
  readonly unknown: readonly Placed[];
  /** Unknown flags after the name, which the script ignores. */
  readonly ignored: readonly Placed[];
  /** Positional words after the first. */
  readonly strays: readonly Placed[];
}

export const placed = (field: Field, script: ReadScript): Placed => ({
  text: field.text,
  isOpaque: field.isOpaque,
  at: (offset) => script.positionOf(field.offsets[offset] ?? field.offsets.at(-1) ?? 0),
});

const callOf = (invocation: Invocation, script: ReadScript): BootstrapCall => {
  const words = invocation.fields.map((field) => placed(field, script));
  const found = new Map<string, Placed>();
  const unknown: Placed[] = [];
  const ignored: Placed[] = [];
  const positional: Placed[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === undefined) break;
    const name = word.text.startsWith('--') ? word.text.slice(2) : undefined;
    const value = words[i + 1];
    if (name !== undefined && options.has(name)) {
      if (value !== undefined) found.set(name, value);
      i++;
    } else if (name !== undefined) (positional.length === 0 ? unknown : ignored).push(word);
    else positional.push(word);
  }
  const [clusterName, ...strays] = positional;
  return { at: invocation.at, clusterName, options: found, unknown, ignored, strays };
};

const isBootstrap = ({ name }: Invocation): boolean =>
  name === bootstrapScriptPath || name.endsWith('/eks/bootstrap.sh');

/** Every call in the order of the script; recognizes calls after `sudo` and `bash`. */
export const bootstrapCalls = (script: ReadScript): readonly BootstrapCall[] =>
  script.invocations.flatMap((invocation) => {
    if (isBootstrap(invocation)) return [callOf(invocation, script)];
    const at = invocation.fields.findIndex(({ text }) => text.endsWith('/eks/bootstrap.sh'));
    if (at < 0 || !/^(?:sudo|bash|sh|exec|source|\.|eval|time|nohup)$/.test(invocation.name))
      return [];
    return [callOf({ ...invocation, fields: invocation.fields.slice(at + 1) }, script)];
  });
