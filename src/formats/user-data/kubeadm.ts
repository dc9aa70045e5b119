// Plain cloud-init that joins a cluster with kubeadm and a bootstrap token: the command in a script or in
// runcmd, the JoinConfiguration that write_files leaves. Runs nothing.
import type { Placed } from '../node/arguments.ts';
import { begin, type Position, within } from '../position.ts';
import { placed } from './bootstrap-script.ts';
import { find, type Located, memberOf, textOf } from './located.ts';
import { type Invocation, type ReadScript, readScript } from './shell.ts';
import { parseYaml } from './yaml.ts';

export interface KubeadmJoin {
  readonly at: Position;
  readonly endpoint: Placed | undefined;
  readonly token: Placed | undefined;
  readonly caHash: Placed | undefined;
  readonly isUnsafe: boolean;
  readonly nodeName: Placed | undefined;
  readonly configFile: Placed | undefined;
}

/** A file that write_files or a here-document leaves on the node. */
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
  return {
    at: invocation.at,
    endpoint,
    isUnsafe,
    token: found.get('token') ?? found.get('discovery-token'),
    caHash: found.get('discovery-token-ca-cert-hash'),
    nodeName: found.get('node-name'),
    configFile: found.get('config'),
  };
};

export const kubeadmJoins = (script: ReadScript): readonly KubeadmJoin[] =>
  script.invocations.flatMap((invocation) => joinOf(invocation, script) ?? []);

/** Files that `cat > PATH <<EOF` and `tee PATH <<EOF` leave. */
export const filesOfScript = (script: ReadScript): readonly WrittenFile[] =>
  script.invocations.flatMap(({ name, output, input, fields }) => {
    const path =
      output ??
      (name === 'tee' ? fields.find(({ text }) => !text.startsWith('-'))?.text : undefined);
    return input === undefined || path === undefined
      ? []
      : [{ path, content: input.body, at: input.at }];
  });

export interface CloudConfig {
  readonly value: Located | undefined;
  readonly faults: readonly { readonly at: Position; readonly message: string }[];
  /** runcmd and bootcmd as scripts, each with its own places. */
  readonly scripts: readonly ReadScript[];
  readonly files: readonly WrittenFile[];
}

const commandScript = (item: Located): ReadScript | undefined => {
  const text = textOf(item);
  if (text !== undefined && item.kind === 'scalar') {
    return readScript(text, item.contentAt ?? item.at);
  }
  if (item.kind !== 'list') return undefined;
  // A list is an argument vector: no shell reads it, but a shell that is named first reads the rest.
  const words = item.items.map(
    (one) => textOf(one) ?? String(one.kind === 'scalar' ? one.value : ''),
  );
  const inner = /^(?:.*\/)?(?:ba)?sh$/.test(words[0] ?? '') ? item.items.at(-1) : undefined;
  if (inner !== undefined) return commandScript(inner);
  const script = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const read = readScript(script);
  return { ...read, positionOf: () => item.at };
};

/** Reads a cloud-config that begins at `outer` of the file that was opened. */
export const readCloudConfig = (text: string, outer: Position = begin): CloudConfig => {
  const { documents, faults } = parseYaml(text, outer);
  const value = documents[0]?.value;
  const commands = ['bootcmd', 'runcmd'].flatMap((key) => {
    const list = memberOf(value, key)?.value;
    return list?.kind === 'list' ? list.items : [];
  });
  const written = find(value, 'write_files');
  const files = (written?.kind === 'list' ? written.items : []).flatMap((item) => {
    const path = textOf(find(item, 'path'));
    const content = find(item, 'content');
    const body = textOf(content);
    if (path === undefined || content === undefined || body === undefined) return [];
    const at = content.kind === 'scalar' ? (content.contentAt ?? content.at) : content.at;
    return [{ path, content: body, at }];
  });
  return {
    value,
    faults,
    scripts: commands.flatMap((item) => commandScript(item) ?? []),
    files,
  };
};

/** A JoinConfiguration that a file holds, as the command's flags would have said it. */
export const joinOfConfiguration = ({ content, at }: WrittenFile): KubeadmJoin | undefined => {
  const { documents } = parseYaml(content, at);
  const join = documents.find(({ value }) => textOf(find(value, 'kind')) === 'JoinConfiguration');
  if (join?.value === undefined) return undefined;
  const discovery = find(join.value, 'discovery', 'bootstrapToken');
  const place = (located: Located | undefined): Placed | undefined => {
    const text = textOf(located);
    if (text === undefined || located === undefined) return undefined;
    return {
      text,
      isOpaque: false,
      at: (offset) => within(located.at, { line: 1, column: offset + 1 }),
    };
  };
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
  };
};
