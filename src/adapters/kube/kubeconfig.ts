// Finds the API server and credentials as kubectl does: --kubeconfig, else the merged files of
// KUBECONFIG, else ~/.kube/config, else the pod's service account. Never writes a file.

import { readFile } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { isatty } from 'node:tty';
import { defined } from '../../api/defined.ts';
import { isObject, type JsonObject, objectOr } from '../../api/json.ts';
import {
  type Authenticator,
  type ClientCertificate,
  fixedAuthenticator,
  tokenFileAuthenticator,
} from './auth.ts';
import { execAuthenticator } from './exec-auth.ts';
import { externalAuthenticator } from './external-auth.ts';

export interface ClusterAccess {
  /** e.g. https://127.0.0.1:6443; may have a path. */
  readonly server: string;
  /** PEM; default: the system's authorities. */
  readonly certificateAuthority?: string;
  readonly tlsServerName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly proxyUrl?: string;
}

export interface UserAccess {
  readonly authenticator: Authenticator;
  /** Impersonation headers. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

export interface KubeAccess {
  /** Name of the context, or `in-cluster`. */
  readonly context: string;
  readonly cluster: ClusterAccess;
  readonly user: UserAccess;
  /** The context's namespace; `default` when it has none. */
  readonly namespace: string;
}

/**
 * missing: no file or service account; invalid: unreadable; context: the context does not exist.
 */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
  readonly code: 'missing' | 'invalid' | 'context';
  constructor(code: KubeconfigError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface KubeconfigOptions {
  /** --kubeconfig: only this file, which must exist. */
  readonly path?: string;
  /** --context. */
  readonly context?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Directory of a pod's service account; for tests. */
  readonly serviceAccountDir?: string;
}

interface Entry {
  readonly value: JsonObject;
  /** Relative paths in the entry are relative to this. */
  readonly directory: string;
}
interface Merged {
  readonly clusters: Map<string, Entry>;
  readonly users: Map<string, Entry>;
  readonly contexts: Map<string, Entry>;
  currentContext: string | undefined;
}

const stringOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const isMissingFile = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

const readConfig = async (path: string): Promise<JsonObject | undefined> => {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw new KubeconfigError('invalid', `kubeconfig ${path} cannot be read: ${String(error)}`, {
      cause: error,
    });
  }
  let value: unknown;
  try {
    // A pod with a service account token needs no YAML parser, which costs 9 MB.
    const { parse } = await import('yaml');
    value = parse(text);
  } catch (error) {
    // Without the parser's excerpt and cause: the surrounding text may be a token.
    const [reason = ''] = error instanceof Error ? error.message.split('\n', 1) : [];
    throw new KubeconfigError('invalid', `kubeconfig ${path} is not YAML: ${reason}`);
  }
  if (value === null || value === undefined) return {};
  if (!isObject(value)) {
    throw new KubeconfigError('invalid', `kubeconfig ${path} is not a kubeconfig: no mapping`);
  }
  return value;
};

/** The first file with a cluster, user or context wins, as in kubectl; fields are not merged. */
const mergeInto = (merged: Merged, config: JsonObject, directory: string): void => {
  const add = (into: Map<string, Entry>, list: unknown, key: string): void => {
    if (!Array.isArray(list)) return;
    for (const item of list) {
      if (!isObject(item)) continue;
      const name = stringOf(item.name);
      if (name === undefined || into.has(name)) continue;
      into.set(name, { value: objectOr(item[key]), directory });
    }
  };
  add(merged.clusters, config.clusters, 'cluster');
  add(merged.users, config.users, 'user');
  add(merged.contexts, config.contexts, 'context');
  merged.currentContext ??= stringOf(config['current-context']);
};

/** PEM from `NAME-data` (base64) or the file at `NAME`; data wins. */
const pemOf = async (entry: Entry, name: string): Promise<string | undefined> => {
  const data = stringOf(entry.value[`${name}-data`]);
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  const path = stringOf(entry.value[name]);
  if (path === undefined) return undefined;
  try {
    return await readFile(resolve(entry.directory, path), 'utf8');
  } catch (error) {
    throw new KubeconfigError('invalid', `${name} ${path} cannot be read: ${String(error)}`, {
      cause: error,
    });
  }
};

const clusterOf = async (entry: Entry, name: string): Promise<ClusterAccess> => {
  const server = stringOf(entry.value.server);
  if (server === undefined || !URL.canParse(server) || !/^https?:/.test(server)) {
    throw new KubeconfigError(
      'invalid',
      `cluster ${name}: server ${server ?? '(none)'} is no http or https URL`,
    );
  }
  const certificateAuthority = await pemOf(entry, 'certificate-authority');
  const tlsServerName = stringOf(entry.value['tls-server-name']);
  const proxyUrl = stringOf(entry.value['proxy-url']);
  return {
    server,
    ...defined({ certificateAuthority, tlsServerName, proxyUrl }),
    ...(entry.value['insecure-skip-tls-verify'] === true ? { insecureSkipTlsVerify: true } : {}),
  };
};

const impersonation = (user: JsonObject): UserAccess['headers'] => {
  const as = stringOf(user.as);
  if (as === undefined) return {};
  const uid = stringOf(user['as-uid']);
  const groups = user['as-groups'];
  const extra = Object.entries(objectOr(user['as-user-extra']));
  return {
    'impersonate-user': as,
    ...defined({ 'impersonate-uid': uid }),
    ...(Array.isArray(groups) ? { 'impersonate-group': groups.map(String) } : {}),
    ...Object.fromEntries(
      extra.map(([key, values]) => [
        `impersonate-extra-${encodeURIComponent(key.toLowerCase())}`,
        Array.isArray(values) ? values.map(String) : [String(values)],
      ]),
    ),
  };
};

/** An exec command with a slash is relative to its kubeconfig; a bare name is found on PATH. */
const withAbsoluteCommand = (user: Entry): JsonObject => {
  const exec = user.value.exec;
  if (!isObject(exec)) return user.value;
  const command = stringOf(exec.command);
  if (command === undefined || !command.includes('/') || isAbsolute(command)) return user.value;
  return { ...user.value, exec: { ...exec, command: resolve(user.directory, command) } };
};

const authenticatorOf = async (
  user: Entry,
  {
    cluster,
    name,
    env,
  }: {
    readonly cluster: ClusterAccess;
    readonly name: string;
    readonly env: KubeconfigOptions['env'];
  },
): Promise<Authenticator> => {
  const { exec } = withAbsoluteCommand(user);
  if (isObject(exec)) {
    return execAuthenticator({ exec, cluster, env, isInteractive: isatty(0) });
  }
  if (isObject(user.value['auth-provider'])) {
    return externalAuthenticator({ server: cluster.server, user: user.value });
  }
  const pem = await pemOf(user, 'client-certificate');
  const key = await pemOf(user, 'client-key');
  if ((pem === undefined) !== (key === undefined)) {
    throw new KubeconfigError(
      'invalid',
      `user ${name}: client-certificate and client-key go in pairs`,
    );
  }
  const certificate: ClientCertificate | undefined =
    pem === undefined || key === undefined ? undefined : { certificate: pem, key };
  const tokenFile = stringOf(user.value.tokenFile);
  if (tokenFile !== undefined) {
    return tokenFileAuthenticator(resolve(user.directory, tokenFile), certificate);
  }
  const token = stringOf(user.value.token);
  const username = stringOf(user.value.username);
  const basic = `${username ?? ''}:${stringOf(user.value.password) ?? ''}`;
  return fixedAuthenticator({
    ...defined({ certificate }),
    ...(token !== undefined
      ? { header: `Bearer ${token}` }
      : username !== undefined
        ? { header: `Basic ${Buffer.from(basic).toString('base64')}` }
        : {}),
  });
};

const fromMerged = async (
  merged: Merged,
  { context: wanted, env }: KubeconfigOptions,
  paths: readonly string[],
): Promise<KubeAccess> => {
  const where = paths.join(', ');
  const name = wanted ?? merged.currentContext;
  if (name === undefined) {
    throw new KubeconfigError('context', `${where}: no current-context; give --context`);
  }
  const context = merged.contexts.get(name);
  if (context === undefined) {
    const known = [...merged.contexts.keys()].join(', ') || 'none';
    throw new KubeconfigError('context', `${where}: no context ${name}; known: ${known}`);
  }
  const clusterName = stringOf(context.value.cluster) ?? '';
  const cluster = merged.clusters.get(clusterName);
  if (cluster === undefined) {
    throw new KubeconfigError('context', `${where}: context ${name}: no cluster ${clusterName}`);
  }
  const userName = stringOf(context.value.user) ?? '';
  const user = merged.users.get(userName);
  if (user === undefined && userName !== '') {
    throw new KubeconfigError('context', `${where}: context ${name}: no user ${userName}`);
  }
  const anonymous: Entry = { value: {}, directory: cluster.directory };
  const access = await clusterOf(cluster, clusterName);
  const place = { cluster: access, name: userName, env };
  return {
    context: name,
    cluster: access,
    user: {
      authenticator: await authenticatorOf(user ?? anonymous, place),
      headers: impersonation((user ?? anonymous).value),
    },
    namespace: stringOf(context.value.namespace) ?? 'default',
  };
};

const inCluster = async (
  env: KubeconfigOptions['env'],
  directory: string,
): Promise<KubeAccess | undefined> => {
  const host = stringOf(env.KUBERNETES_SERVICE_HOST);
  const port = stringOf(env.KUBERNETES_SERVICE_PORT);
  if (host === undefined || port === undefined) return undefined;
  const namespace = await readFile(join(directory, 'namespace'), 'utf8').catch(() => 'default');
  let certificateAuthority: string;
  try {
    certificateAuthority = await readFile(join(directory, 'ca.crt'), 'utf8');
  } catch (error) {
    throw new KubeconfigError(
      'missing',
      `KUBERNETES_SERVICE_HOST is set but ${directory} holds no service account: ${String(error)}`,
      { cause: error },
    );
  }
  return {
    context: 'in-cluster',
    cluster: {
      server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
      certificateAuthority,
    },
    user: { authenticator: tokenFileAuthenticator(join(directory, 'token')), headers: {} },
    namespace: namespace.trim(),
  };
};

const defaultServiceAccountDir = '/var/run/secrets/kubernetes.io/serviceaccount';

const candidatePaths = (options: KubeconfigOptions): readonly string[] => {
  if (options.path !== undefined) return [options.path];
  const listed = (options.env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) return listed;
  const home = stringOf(options.env.HOME);
  return home === undefined ? [] : [join(home, '.kube', 'config')];
};

/** Throws KubeconfigError. Exec plugins and OIDC run only at the first request. */
export const loadKubeconfig = async (options: KubeconfigOptions): Promise<KubeAccess> => {
  const paths = candidatePaths(options).map((path) => resolve(path));
  const merged: Merged = {
    clusters: new Map(),
    users: new Map(),
    contexts: new Map(),
    currentContext: undefined,
  };
  const found: string[] = [];
  for (const path of paths) {
    const config = await readConfig(path);
    if (config === undefined) continue;
    mergeInto(merged, config, dirname(path));
    found.push(path);
  }
  if (found.length > 0) return fromMerged(merged, options, found);
  if (options.path === undefined) {
    const pod = await inCluster(options.env, options.serviceAccountDir ?? defaultServiceAccountDir);
    if (pod !== undefined) return pod;
  }
  throw new KubeconfigError(
    'missing',
    `no kubeconfig: ${paths.join(', ') || 'HOME and KUBECONFIG are not set'}; ` +
      'give --kubeconfig FILE or set KUBECONFIG',
  );
};
