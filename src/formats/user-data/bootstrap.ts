// Everything in user data that concerns joining a cluster, for all families: calls of bootstrap
// scripts, NodeConfigs and the effective one, Bottlerocket's settings, kubeadm. Never throws.
import type { Placed } from '../node/arguments.ts';
import type { ParseFault } from '../position.ts';
import { type BootstrapCall, bootstrapCalls } from './bootstrap-script.ts';
import { type CloudConfigPart, readCloudConfigs } from './cloud-config.ts';
import type { UserData, UserDataPart } from './document.ts';
import {
  filesOfScript,
  joinOfConfiguration,
  type KubeadmJoin,
  kubeadmJoins,
  type WrittenFile,
} from './kubeadm.ts';
import type { Located } from './located.ts';
import { mergeSpecs, type NodeConfigPart, readNodeConfig, specOf } from './node-config.ts';
import { type PowerShellScript, readPowerShell } from './powershell.ts';
import { type KnownCommand, type ReadScript, readScript } from './shell.ts';
import { parseToml, type TomlResult } from './toml.ts';

export interface ShellPart {
  readonly part: UserDataPart;
  readonly script: ReadScript;
}

export interface NodeConfigSource {
  readonly part: UserDataPart;
  readonly config: NodeConfigPart;
  /** Undefined for a part of the user data; else the file of nodeadm.d that a script writes. */
  readonly file: string | undefined;
}

export interface Bootstrap {
  readonly data: UserData;
  readonly scripts: readonly ShellPart[];
  readonly cloudConfigs: readonly CloudConfigPart[];
  readonly files: readonly WrittenFile[];
  readonly calls: readonly BootstrapCall[];
  readonly joins: readonly KubeadmJoin[];
  /** In nodeadm's merge order: user data, then nodeadm.d by name. */
  readonly nodeConfigs: readonly NodeConfigSource[];
  readonly settings: { readonly part: UserDataPart; readonly toml: TomlResult } | undefined;
  readonly windows: { readonly part: UserDataPart; readonly script: PowerShellScript } | undefined;
}

export const nodeadmDirectory = '/etc/eks/nodeadm.d/';

const shellParts = (data: UserData, known: KnownCommand | undefined): readonly ShellPart[] =>
  data.parts
    .filter(({ kind }) => kind === 'shell' || kind === 'boothook')
    .map((part) => ({ part, script: readScript(part.text, part.at, known) }));

const nodeConfigsOf = (data: UserData, files: readonly WrittenFile[]): NodeConfigSource[] => {
  const own = data.parts
    .filter(({ kind }) => kind === 'node-config')
    .map((part) => ({ part, config: readNodeConfig(part.text, part.at), file: undefined }));
  const [first] = data.parts;
  const dropped = files
    .filter(({ path }) => path.startsWith(nodeadmDirectory) && /\.(?:ya?ml|json)$/i.test(path))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .flatMap(({ path, content, at }) =>
      first === undefined ? [] : [{ part: first, config: readNodeConfig(content, at), file: path }],
    );
  return [...own, ...dropped];
};

/** `known`: output of commands within $( ), such as calls of the metadata service. */
export const readBootstrap = (data: UserData, known?: KnownCommand): Bootstrap => {
  const scripts = shellParts(data, known);
  const cloudConfigs = readCloudConfigs(data.parts);
  const all = [
    ...scripts.map(({ script }) => script),
    ...cloudConfigs.flatMap(({ config }) => config.scripts),
  ];
  const files = [
    ...cloudConfigs.flatMap(({ config }) => config.files),
    ...all.flatMap((script) => filesOfScript(script)),
  ];
  const settings = data.parts.find(({ kind }) => kind === 'settings');
  const windows = data.parts.find(({ kind }) => kind === 'powershell');
  return {
    data,
    scripts,
    cloudConfigs,
    files,
    calls: all.flatMap((script) => bootstrapCalls(script)),
    joins: joinsOf(all, files),
    nodeConfigs: nodeConfigsOf(data, files),
    settings: settings && { part: settings, toml: parseToml(settings.text, settings.at) },
    windows: windows && { part: windows, script: readPowerShell(windows.text, windows.at) },
  };
};

const joinsOf = (
  scripts: readonly ReadScript[],
  files: readonly WrittenFile[],
): readonly KubeadmJoin[] =>
  scripts
    .flatMap((script) => kubeadmJoins(script))
    .map((join) => {
      const file = files.find(({ path }) => path === join.configFile?.text);
      const configured = file === undefined ? undefined : joinOfConfiguration(file);
      return configured === undefined ? join : { ...configured, at: join.at };
    });

/**
 * nodeadm accepts all parts of the user data or none, and likewise all files of its directory or
 * none: one part that does not decode makes it ignore the others.
 */
export const acceptedConfigs = ({ data, nodeConfigs }: Bootstrap): readonly NodeConfigSource[] => {
  const whole = (sources: readonly NodeConfigSource[]): readonly NodeConfigSource[] =>
    sources.every(({ config }) => config.faults.length === 0) ? sources : [];
  const own = nodeConfigs.filter(({ file }) => file === undefined);
  const files = nodeConfigs.filter(({ file }) => file !== undefined);
  return [...(data.isLostToNodeadm ? [] : whole(own)), ...whole(files)];
};

/** The spec of the effective NodeConfig. */
export const specInForce = (bootstrap: Bootstrap): Located =>
  mergeSpecs(acceptedConfigs(bootstrap).map(({ config }) => specOf(config)));

/** A located text as one word, before it is split or unquoted. */
export const placedText = (text: string, at: ParseFault['at']): Placed => ({
  text,
  isOpaque: false,
  at: (offset) => ({ line: at.line, column: at.column + offset }),
});
