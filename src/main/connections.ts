// How a command finds its world, its cluster and its cloud: --data-dir, else the environment, else
// ./.drover. All settings of one command come from one of the three, never mixed. A directory is
// trusted only for loopback addresses: its content can neither run a program nor direct calls
// elsewhere.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join } from 'node:path';
import { isObject, objectOr } from '../api/json.ts';
import type { Connection } from '../cli/context.ts';
import { CommandError, exitCodes } from '../cli/context.ts';
import { type DataDir, dataDirAt, isWorldDirectory, readEnvironment } from './data-dir.ts';
import { unsafety } from './private-dir.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
type Values = Readonly<Record<string, string | undefined>>;

const defaultDirectory = '.drover';
const loopbackNames = new Set(['127.0.0.1', 'localhost', '[::1]']);
/** Any of these in the environment selects the cluster: directories are then ignored. */
const environmentMarks = ['DROVER_URL', 'KUBECONFIG', 'AWS_ENDPOINT_URL'] as const;
const userKeys = new Set(['client-certificate-data', 'client-key-data']);
const clusterKeys = new Set(['server', 'certificate-authority-data']);

/** A world listens only on loopback; a server elsewhere is not the world. */
export const isLoopback = (url: string): boolean => {
  try {
    return loopbackNames.has(new URL(url).hostname);
  } catch {
    return false;
  }
};

const entries = (value: unknown, key: string): readonly object[] =>
  (Array.isArray(value) ? value : []).map((entry) => objectOr(objectOr(entry)[key]));

/** Throws for text that is not YAML. */
const parseYaml = (text: string): unknown => {
  // Imported only when a kubeconfig is read, not by every command: 72 modules.
  const { parse } = createRequire(import.meta.url)('yaml') as typeof import('yaml');
  return parse(text);
};

/**
 * The files that KUBECONFIG lists. A value that is an existing path is one file, even with a
 * separator in it.
 */
export const kubeconfigFiles = (kubeconfig: string | undefined): readonly string[] => {
  if (kubeconfig === undefined) return [];
  if (existsSync(kubeconfig)) return [kubeconfig];
  return kubeconfig.split(delimiter).filter((path) => path !== '');
};

/** Whether a kubeconfig has a cluster with this server. */
export const namesServer = (file: string, server: string): boolean => {
  if (!existsSync(file)) return false;
  const config = objectOr(parseYaml(readFileSync(file, 'utf8')));
  return entries(objectOr(config).clusters, 'cluster').some(
    (cluster) => objectOr(cluster).server === server,
  );
};

/** Why this kubeconfig is not one that `drover up` writes, or undefined. */
const kubeconfigFault = (text: string): string | undefined => {
  let config: unknown;
  try {
    config = parseYaml(text);
  } catch {
    return 'its kubeconfig is not YAML';
  }
  if (!isObject(config)) return 'its kubeconfig is empty';
  for (const cluster of entries(config.clusters, 'cluster')) {
    if (Object.keys(cluster).some((key) => !clusterKeys.has(key))) {
      return 'its kubeconfig has settings that no world needs';
    }
    if (!isLoopback(String(objectOr(cluster).server))) return 'its kubeconfig leaves this machine';
  }
  const users = entries(config.users, 'user');
  return users.some((user) => Object.keys(user).some((key) => !userKeys.has(key)))
    ? 'its kubeconfig would run a program or use foreign credentials'
    : undefined;
};

/** Why the values of DIR/env are not those of the directory's world, or undefined. */
const environmentFault = (dir: DataDir, values: Values): string | undefined => {
  const unsafe = unsafety(dir.path);
  if (unsafe !== undefined) return `it ${unsafe.reason}`;
  if (!existsSync(dir.settingsFile)) return 'it has no settings.json';
  if (values.KUBECONFIG !== dir.kubeconfigFile) return 'its KUBECONFIG points elsewhere';
  for (const key of ['AWS_ENDPOINT_URL', 'DROVER_URL']) {
    if (!isLoopback(values[key] ?? '')) return `its ${key} leaves this machine`;
  }
  if (!existsSync(dir.kubeconfigFile)) return 'its kubeconfig is missing';
  return kubeconfigFault(readFileSync(dir.kubeconfigFile, 'utf8'));
};

/** DIR/env of the world in `directory`, or undefined without one. Throws for an invalid file. */
const worldAt = (directory: string): Values | undefined => {
  const dir = dataDirAt(directory);
  const values = readEnvironment(dir);
  if (values === undefined) return undefined;
  const fault = environmentFault(dir, values);
  if (fault === undefined) return values;
  throw new CommandError(
    exitCodes.failed,
    `${dir.path} is not believed to be a world of drover's: ${fault}; start it again with ` +
      `\`drover up --data-dir ${directory}\`, or name another with --data-dir`,
  );
};

/** The source of every setting of this command. */
const sourceOf = (
  connection: Connection,
  env: Environment,
  { nearby }: { readonly nearby: boolean },
): Values => {
  if (connection.dataDir !== undefined) {
    const values = worldAt(connection.dataDir);
    if (values !== undefined) return values;
    throw new CommandError(
      exitCodes.failed,
      `${dataDirAt(connection.dataDir).path} holds no world that was ever ready: start one with ` +
        `\`drover up --data-dir ${connection.dataDir}\``,
    );
  }
  if (!nearby || connection.kubeconfig !== undefined) return env;
  if (environmentMarks.some((key) => env[key] !== undefined)) return env;
  return worldAt(defaultDirectory) ?? env;
};

export interface ConnectionSettings {
  readonly kubeconfig: string | undefined;
  /** KUBECONFIG of the source of the other settings; differs under `--kubeconfig`. */
  readonly sourceKubeconfig: string | undefined;
  readonly droverUrl: string | undefined;
  readonly aws: {
    /** Undefined: the SDK's own rules, which read the profile's region in ~/.aws/config. */
    readonly region: string | undefined;
    readonly endpoint: string | undefined;
    readonly accessKeyId: string | undefined;
    readonly secretAccessKey: string | undefined;
    readonly sessionToken: string | undefined;
  };
}

/** With an explicit endpoint, the region occurs only in signatures. */
const regionOfEndpoints = 'us-east-1';

/**
 * The command line's order: flag, AWS_REGION, AWS_DEFAULT_REGION; then the profile's, by the SDK.
 */
const regionOf = ({ region }: Connection, values: Values): string | undefined =>
  region ||
  values.AWS_REGION ||
  values.AWS_DEFAULT_REGION ||
  (values.AWS_ENDPOINT_URL === undefined ? undefined : regionOfEndpoints);

/** `nearby: false` ignores ./.drover: for unattended processes. */
export const connectionSettings = (
  connection: Connection,
  env: Environment,
  options: { readonly nearby: boolean } = { nearby: true },
): ConnectionSettings => {
  if (connection.kubeconfig !== undefined && !existsSync(connection.kubeconfig)) {
    throw new CommandError(exitCodes.usage, `--kubeconfig ${connection.kubeconfig} does not exist`);
  }
  const values = sourceOf(connection, env, options);
  return {
    kubeconfig: connection.kubeconfig ?? values.KUBECONFIG,
    sourceKubeconfig: values.KUBECONFIG,
    droverUrl: values.DROVER_URL,
    aws: {
      region: regionOf(connection, values),
      endpoint: values.AWS_ENDPOINT_URL,
      accessKeyId: values.AWS_ACCESS_KEY_ID,
      secretAccessKey: values.AWS_SECRET_ACCESS_KEY,
      sessionToken: values.AWS_SESSION_TOKEN,
    },
  };
};

/** All of DIR/env, for `drover env`. Throws when there is no world. */
export const requireWorldEnvironment = (
  connection: Connection,
): Readonly<Record<string, string>> => {
  const directory = connection.dataDir ?? defaultDirectory;
  const values = worldAt(directory);
  if (values === undefined) {
    throw new CommandError(
      exitCodes.failed,
      connection.dataDir === undefined
        ? `no world in ./${defaultDirectory}: start one with \`drover up\`, or name its ` +
            'directory ' +
            'with --data-dir'
        : `${dataDirAt(directory).path} holds no world that was ever ready: start one with ` +
            `\`drover up --data-dir ${directory}\``,
    );
  }
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
};

/** World control needs only the world: the environment's, else the one in ./.drover. */
export const droverUrl = (connection: Connection, env: Environment): string => {
  if (connection.dataDir !== undefined) {
    const { DROVER_URL } = requireWorldEnvironment(connection);
    if (DROVER_URL !== undefined) return DROVER_URL;
  }
  const url = env.DROVER_URL ?? worldAt(defaultDirectory)?.DROVER_URL;
  if (url !== undefined) return url;
  throw new CommandError(
    exitCodes.failed,
    'no embedded world: neither --data-dir, DROVER_URL nor ./.drover names one; start it with ' +
      '`drover up`',
  );
};

/** Whether `server` is the API server of the world in these settings. */
export const isWorldsServer = (settings: ConnectionSettings, server: string): boolean => {
  const files = kubeconfigFiles(settings.kubeconfig).filter((file) => existsSync(file));
  if (settings.droverUrl === undefined || files.length === 0 || !isLoopback(server)) return false;
  const world = new URL(settings.droverUrl);
  const api = new URL(server);
  // The Kubernetes port is one above the world's, unless both were chosen freely: then the
  // kubeconfig's directory must be the world's own.
  if (Number(api.port) === Number(world.port) + 1) return true;
  return files.some((file) => isWorldDirectory(dirname(file)) && namesServer(file, server));
};

/** The world's audit log, oldest file first; readable while the world is stopped. */
export const auditFilesOf = (connection: Connection, env: Environment): readonly string[] => {
  const settings = connectionSettings(connection, env);
  if (connection.kubeconfig !== undefined || settings.droverUrl === undefined) {
    throw new CommandError(
      exitCodes.failed,
      'no embedded world whose audit log could be read: name log files, or a world with --data-dir',
    );
  }
  const { auditFile } = dataDirAt(dirname(settings.kubeconfig ?? ''));
  const name = basename(auditFile);
  const directory = dirname(auditFile);
  const numberOf = (file: string): number => Number(file.slice(name.length + 1) || 0);
  const files = (existsSync(directory) ? readdirSync(directory) : [])
    .filter((file) => file.startsWith(name) && /^(?:\.\d+)?$/.test(file.slice(name.length)))
    .sort((a, b) => numberOf(b) - numberOf(a))
    .map((file) => join(directory, file));
  if (files.length > 0) return files;
  throw new CommandError(
    exitCodes.failed,
    `${directory} holds no audit log: name log files, or the world's directory with --data-dir`,
  );
};
