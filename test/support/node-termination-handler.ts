// aws-node-termination-handler in queue mode as a process beside a cluster and a cloud on loopback.
// It reads its account's token and authority from a fixed path only, so it runs in a mount
// namespace of its own, with these files over /var/run. Writes only to the directory it is given.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, missing, type Ran, run } from './demo-world.ts';
import { howToInstall, peerProgram } from './peers.ts';

const name = 'aws-node-termination-handler';
const program = peerProgram(name);
const logTailChars = 3000;

/** In a user namespace when not root: a mount namespace requires root. */
const [apart, ...apartArgs] =
  process.getuid?.() === 0
    ? (['unshare', '--mount'] as const)
    : (['unshare', '--mount', '--map-root-user'] as const);

/** Installs the files of its service account, then runs the program in the same process. */
const script = `set -e
mount -t tmpfs none "$(readlink -f /var/run)"
account=/var/run/secrets/kubernetes.io/serviceaccount
mkdir -p "$account"
cp "$0/token" "$0/ca.crt" "$account"
exec "$@"`;

/** Why it cannot run here; undefined when it can. */
export const whyNoTerminationHandler = async (): Promise<string | undefined> =>
  howToInstall(name, await missing(program, ['--help'])) ??
  ((await missing(apart, [...apartArgs, 'true'])) && 'a mount namespace is not allowed here');

/** The rights that its own chart gives its account. */
const objects = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'kube-system' } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'patch', 'update'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
      { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
      { apiGroups: ['apps'], resources: ['daemonsets'], verbs: ['get'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: 'kube-system' }],
  },
];

interface Config {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string };
  }[];
}

export interface TerminationHandlerOptions {
  /** KUBECONFIG of an administrator, and endpoint, keys and region of the cloud. */
  readonly env: NodeJS.ProcessEnv;
  /** URL of the handler's SQS queue, apart from Drover's. */
  readonly queueUrl: string;
  /** For its token and authority. */
  readonly directory: string;
  readonly args?: readonly string[];
}

export interface TerminationHandler {
  readonly isAgent: (userAgent: string) => boolean;
  readonly output: () => string;
  readonly stop: () => Promise<void>;
}

const untilStarted = async (child: ChildProcess, output: () => string): Promise<void> => {
  await eventually(`${name} has started`, async () => {
    if (child.exitCode !== null)
      throw new Error(`${name} ended with ${child.exitCode}:\n${output()}`);
    return output().includes('has started successfully') ? true : undefined;
  });
};

/** Resolves when it reads its queue. */
export const startTerminationHandler = async (
  options: TerminationHandlerOptions,
): Promise<TerminationHandler> => {
  const { env, queueUrl, args = [] } = options;
  const kubectl = async (line: string, input?: string): Promise<string> => {
    const ran: Ran = await run(
      'kubectl',
      line.split(' '),
      input === undefined ? { env } : { env, input },
    );
    if (ran.code !== 0) throw new Error(`kubectl ${line}: ${ran.stderr}`);
    return ran.stdout;
  };
  await kubectl('apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  const token = await kubectl(`create token ${name} -n kube-system`);
  const config = JSON.parse(
    await kubectl('config view --minify --flatten --raw -o json'),
  ) as Config;
  const cluster = config.clusters[0]?.cluster;
  const authority = Buffer.from(cluster?.['certificate-authority-data'] ?? '', 'base64');
  const account = join(options.directory, name);
  mkdirSync(account, { recursive: true });
  writeFileSync(join(account, 'token'), token.trim(), { mode: 0o600 });
  writeFileSync(join(account, 'ca.crt'), authority);
  const server = new URL(cluster?.server ?? '');
  const flags = [
    ...['--enable-sqs-termination-draining', '--queue-url', queueUrl],
    ...['--aws-endpoint', String(env.AWS_ENDPOINT_URL)],
    ...['--aws-region', String(env.AWS_DEFAULT_REGION), '--node-name', 'none'],
    ...['--kubernetes-service-host', server.hostname, '--kubernetes-service-port', server.port],
    // Only its queue decides which instances it acts on.
    '--check-tag-before-draining=false',
    ...args,
  ];
  const child = spawn(apart, [...apartArgs, 'sh', '-c', script, account, program, ...flags], {
    env: { ...env, AWS_REGION: env.AWS_DEFAULT_REGION },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  const output = (): string => text.slice(-logTailChars);
  const stop = async (): Promise<void> => {
    // On SIGTERM it would first finish its drains, which budgets may block for long.
    child.kill('SIGKILL');
    await ended;
  };
  try {
    await untilStarted(child, output);
  } catch (error) {
    await stop();
    throw error;
  }
  return { isAgent: (agent) => agent.startsWith(`${name}/`), output, stop };
};
