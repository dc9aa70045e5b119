// Exec plugins of a kubeconfig (`aws eks get-token`, `aws-iam-authenticator token`), by the
// protocol client.authentication.k8s.io: one JSON document on standard output, kept until it
// expires. The answer holds a secret: no error repeats it.
import { type ChildProcess, spawn } from 'node:child_process';
import { defined } from '../../api/defined.ts';
import { type JsonObject, objectOr } from '../../api/json.ts';
import { parseJson } from '../../api/parse-json.ts';
import type { Authenticator, Authorization } from './auth.ts';

/** Plugins answer within seconds; those that prompt a user take longer. */
const answerMs = { alone: 60_000, withPerson: 600_000 } as const;
const maxAnswerBytes = 1024 * 1024;
const maxErrorLength = 400;
/** Time before its expiry in which a token is not used: it would expire in transit. */
const spareMs = 5_000;
const apiGroup = 'client.authentication.k8s.io';
const versions: readonly string[] = [
  `${apiGroup}/v1`,
  `${apiGroup}/v1beta1`,
  `${apiGroup}/v1alpha1`,
];

export interface ExecCluster {
  readonly server: string;
  readonly certificateAuthority?: string;
  readonly tlsServerName?: string;
  readonly insecureSkipTlsVerify?: boolean;
}

export interface ExecOptions {
  /** The kubeconfig's `exec`; a command with a slash is already absolute. */
  readonly exec: JsonObject;
  readonly cluster: ExecCluster;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a user can answer the plugin: standard input is a terminal. */
  readonly isInteractive: boolean;
}

interface Credential {
  readonly authorization: Authorization;
  /** Milliseconds since 1970. Undefined: the credential is used until the server refuses it. */
  readonly expiresAt: number | undefined;
}

const wallMs = (): number => performance.timeOrigin + performance.now();

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const clusterInfo = ({ server, ...more }: ExecCluster): JsonObject => {
  const { certificateAuthority: ca, tlsServerName, insecureSkipTlsVerify } = more;
  return {
    server,
    ...defined({ 'tls-server-name': tlsServerName }),
    ...defined({ 'insecure-skip-tls-verify': insecureSkipTlsVerify }),
    ...(ca === undefined
      ? {}
      : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
  };
};

const environmentOf = (options: ExecOptions, apiVersion: string, interactive: boolean) => {
  const { exec, cluster, env } = options;
  const list = Array.isArray(exec.env) ? exec.env : [];
  const own = list.map((one): [string, string] => {
    const { name, value } = objectOr(one);
    return [String(name), String(value)];
  });
  const spec = {
    interactive,
    ...(exec.provideClusterInfo === true ? { cluster: clusterInfo(cluster) } : {}),
  };
  const info = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec });
  return { ...env, ...Object.fromEntries(own), KUBERNETES_EXEC_INFO: info };
};

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Child processes may keep its output open, so it is waited for only up to the timeout. */
const ended = (child: ChildProcess, timeoutMs: number): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const output: Buffer[] = [];
    let size = 0;
    let errors = '';
    const giveUp = (): void => {
      child.kill('SIGKILL');
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const timer = setTimeout(giveUp, timeoutMs);
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxAnswerBytes) output.push(chunk);
      else giveUp();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      if (errors.length < maxErrorLength) errors += chunk.toString('utf8');
    });
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, output: Buffer.concat(output).toString('utf8'), errors: errors.trim() });
    });
  });

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Parses the plugin's output; errors never contain a part of it. */
const readCredential = (command: string, apiVersion: string, output: string): Credential => {
  let answer: JsonObject;
  try {
    answer = objectOr(parseJson(output));
  } catch {
    throw new Error(`exec plugin ${command} printed no JSON`);
  }
  if (answer.kind !== 'ExecCredential' || answer.apiVersion !== apiVersion) {
    const printed = `${String(answer.apiVersion)} ${String(answer.kind)}`.slice(0, 100);
    throw new Error(`exec plugin ${command} printed ${printed}, not ${apiVersion} ExecCredential`);
  }
  const status = objectOr(answer.status);
  const token = text(status.token);
  const certificate = text(status.clientCertificateData);
  const key = text(status.clientKeyData);
  if ((certificate === undefined) !== (key === undefined)) {
    throw new Error(`exec plugin ${command} printed a certificate or a key without the other`);
  }
  if (token === undefined && certificate === undefined) {
    throw new Error(`exec plugin ${command} printed no token and no certificate`);
  }
  const expiry = text(status.expirationTimestamp);
  const expiresAt = expiry === undefined ? undefined : Date.parse(expiry);
  if (Number.isNaN(expiresAt)) {
    throw new Error(`exec plugin ${command} printed an expirationTimestamp that is not a time`);
  }
  return {
    authorization: {
      ...defined({ header: token === undefined ? undefined : `Bearer ${token}` }),
      ...(certificate === undefined || key === undefined
        ? {}
        : { certificate: { certificate, key } }),
    },
    expiresAt,
  };
};

const runPlugin = async (options: ExecOptions): Promise<Credential> => {
  const { exec, isInteractive } = options;
  const command = text(exec.command) ?? '';
  const apiVersion = text(exec.apiVersion) ?? '';
  if (command === '') throw new Error('the kubeconfig has an exec plugin without a command');
  if (!versions.includes(apiVersion)) {
    const known = versions.join(', ');
    throw new Error(`exec plugin ${command}: apiVersion ${apiVersion || '(none)'} is not ${known}`);
  }
  const mode = text(exec.interactiveMode) ?? 'IfAvailable';
  if (mode === 'Always' && !isInteractive) {
    throw new Error(`exec plugin ${command} asks a person, and standard input is not a terminal`);
  }
  const interactive = isInteractive && mode !== 'Never';
  const args = Array.isArray(exec.args) ? exec.args.map(String) : [];
  const timeout = interactive ? answerMs.withPerson : answerMs.alone;
  let end: Ended;
  try {
    const child = spawn(command, args, {
      env: environmentOf(options, apiVersion, interactive),
      stdio: interactive ? ['inherit', 'pipe', 'inherit'] : ['ignore', 'pipe', 'pipe'],
    });
    end = await ended(child, timeout);
  } catch (error) {
    const hint = text(exec.installHint);
    const why = isMissing(error) ? 'is not installed' : `cannot be run: ${String(error)}`;
    throw new Error(`exec plugin ${command} ${why}${hint === undefined ? '' : `; ${hint}`}`, {
      cause: error,
    });
  }
  if (end.code === 0) return readCredential(command, apiVersion, end.output);
  const how =
    end.code === null
      ? `gave no answer of at most 1 MiB within ${timeout / 1000} s`
      : `exited ${end.code}`;
  throw new Error(`exec plugin ${command} ${how}${end.errors === '' ? '' : `: ${end.errors}`}`);
};

/** Runs the plugin at the first request, when its answer expires, and after a 401. */
export const execAuthenticator = (options: ExecOptions): Authenticator => {
  let kept: Promise<Credential> | undefined;
  const ask = (): Promise<Credential> => {
    const asked = runPlugin(options);
    kept = asked;
    // A failure is not cached: the next request runs the plugin again.
    asked.catch(() => {
      if (kept === asked) kept = undefined;
    });
    return asked;
  };
  return {
    current: async () => {
      const before = kept;
      if (before !== undefined) {
        const { expiresAt, authorization } = await before;
        if (expiresAt === undefined || wallMs() < expiresAt - spareMs) return authorization;
        // Concurrent requests that find it expired run the plugin once.
        if (kept === before) kept = undefined;
      }
      return (await (kept ?? ask())).authorization;
    },
    renew: () => {
      kept = undefined;
      return true;
    },
  };
};
