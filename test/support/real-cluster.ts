// A real Kubernetes control plane for tests, without containers: etcd, kube-apiserver and
// kube-controller-manager (and optionally kube-scheduler) from KUBEBUILDER_ASSETS, on loopback, in
// a directory of their own. Reports why it cannot start. Has no kubelets: see fake-kubelets.ts.
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { type Authority, createAuthority, type Pem, serviceAccountKeys } from './certificates.ts';
import { freePorts, type Started, start, waitUntil } from './processes.ts';

export interface RealClusterOptions {
  /** Directory of the binaries; default KUBEBUILDER_ASSETS, else /usr/local/kubebuilder/bin. */
  readonly assets?: string;
  readonly scheduler?: boolean;
  /** Content of the audit log per request; more content slows writes. */
  readonly auditLevel?: 'Metadata' | 'Request' | 'RequestResponse';
  /** API calls per second of the controller manager; its own default is 20. */
  readonly controllerQps?: number;
}

export interface RunningCluster {
  readonly available: true;
  readonly directory: string;
  readonly server: string;
  /** Kubeconfig of a cluster administrator. */
  readonly kubeconfigPath: string;
  readonly auditLogPath: string;
  /** Writes a kubeconfig for `subject`, such as `CN=somebody`, and returns its path. */
  readonly kubeconfigFor: (subject: string) => Promise<string>;
  readonly authority: Authority;
  /** While frozen, budgets and replica counts are not updated. */
  freezeControllers(frozen: boolean): void;
  /** Ends the processes in order and removes the directory. */
  stop(): Promise<void>;
}

/** An existing cluster, or one that this test started. */
export type AnyCluster =
  | Pick<RunningCluster, 'available' | 'kubeconfigPath' | 'stop'>
  | { readonly available: false; readonly reason: string };

export type RealCluster = RunningCluster | { readonly available: false; readonly reason: string };

const controllers = [
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'root-ca-certificate-publisher-controller',
  'namespace-controller',
  'clusterrole-aggregation-controller',
  'resourcequota-controller',
  'garbage-collector-controller',
  'endpointslice-mirroring-controller',
  'deployment-controller',
  'replicaset-controller',
  'disruption-controller',
  'daemonset-controller',
  'statefulset-controller',
  'job-controller',
  'cronjob-controller',
  'ttl-after-finished-controller',
  'persistentvolume-binder-controller',
  'persistentvolume-protection-controller',
  'persistentvolumeclaim-protection-controller',
].join(',');

const serverNames = [
  '127.0.0.1',
  '10.0.0.1',
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
];

const missingBinary = (assets: string, names: readonly string[]): string | undefined =>
  names.find((name) => {
    try {
      accessSync(join(assets, name), constants.X_OK);
      return false;
    } catch {
      return true;
    }
  });

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const kubeconfigText = (server: string, ca: string, user: Pem): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'real', cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [
      {
        name: 'user',
        user: {
          'client-certificate-data': base64(user.certificate),
          'client-key-data': base64(user.key),
        },
      },
    ],
    contexts: [{ name: 'real', context: { cluster: 'real', user: 'user' } }],
    'current-context': 'real',
  });

interface Ports {
  readonly etcd: number;
  readonly peer: number;
  readonly api: number;
  readonly manager: number;
  readonly scheduler: number;
}

const choosePorts = async (): Promise<Ports> => {
  const [etcd = 0, peer = 0, api = 0, manager = 0, scheduler = 0] = await freePorts(5);
  return { etcd, peer, api, manager, scheduler };
};

/** Writes certificates, kubeconfigs and the audit policy. */
const prepare = async (
  directory: string,
  server: string,
  options: RealClusterOptions,
): Promise<Authority> => {
  const authority = await createAuthority();
  const [api, admin, manager, scheduler] = await Promise.all([
    authority.server('kube-apiserver', serverNames),
    authority.client('CN=kubernetes-admin,O=system:masters'),
    authority.client('CN=system:kube-controller-manager'),
    authority.client('CN=system:kube-scheduler'),
  ]);
  const accountKeys = serviceAccountKeys();
  const ca = authority.certificate;
  const files: Readonly<Record<string, string>> = {
    'ca.crt': ca,
    'apiserver.crt': api.certificate,
    'apiserver.key': api.key,
    'sa.pub': accountKeys.publicKey,
    'sa.key': accountKeys.privateKey,
    'admin.kubeconfig': kubeconfigText(server, ca, admin),
    'manager.kubeconfig': kubeconfigText(server, ca, manager),
    'scheduler.kubeconfig': kubeconfigText(server, ca, scheduler),
    'audit-policy.json': JSON.stringify({
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      omitStages: ['RequestReceived'],
      rules: [{ level: options.auditLevel ?? 'Metadata' }],
    }),
  };
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(directory, name), text, { mode: 0o600 });
  }
  return authority;
};

const etcdArgs = (directory: string, ports: Ports): readonly string[] => {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.peer}`;
  return [
    '--name=e2e',
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=e2e=${peer}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
};

const apiArgs = (directory: string, ports: Ports): readonly string[] => {
  const file = (name: string): string => join(directory, name);
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.api}`,
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    '--service-cluster-ip-range=10.0.0.0/24',
    `--tls-cert-file=${file('apiserver.crt')}`,
    `--tls-private-key-file=${file('apiserver.key')}`,
    `--client-ca-file=${file('ca.crt')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('sa.pub')}`,
    `--service-account-signing-key-file=${file('sa.key')}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged=true',
    '--profiling=false',
    `--audit-policy-file=${file('audit-policy.json')}`,
    `--audit-log-path=${file('audit.log')}`,
    '--audit-log-format=json',
    '--audit-log-mode=blocking',
  ];
};

const controllerArgs = (kubeconfig: string, port: number, certDir: string): readonly string[] => [
  `--kubeconfig=${kubeconfig}`,
  `--authentication-kubeconfig=${kubeconfig}`,
  `--authorization-kubeconfig=${kubeconfig}`,
  '--authentication-skip-lookup=true',
  '--bind-address=127.0.0.1',
  `--secure-port=${port}`,
  `--cert-dir=${certDir}`,
  '--leader-elect=false',
];

const managerArgs = (
  directory: string,
  ports: Ports,
  options: RealClusterOptions,
): readonly string[] => [
  ...controllerArgs(join(directory, 'manager.kubeconfig'), ports.manager, join(directory, 'kcm')),
  // Required: without it the controllers lack permissions.
  '--use-service-account-credentials=true',
  `--service-account-private-key-file=${join(directory, 'sa.key')}`,
  `--root-ca-file=${join(directory, 'ca.crt')}`,
  `--controllers=${controllers}`,
  ...(options.controllerQps === undefined
    ? []
    : [`--kube-api-qps=${options.controllerQps}`, `--kube-api-burst=${options.controllerQps * 2}`]),
];

const answersOk = (url: string): (() => Promise<boolean>) => {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  return async () => {
    try {
      const { statusCode, body } = await request(url, { dispatcher });
      await body.dump();
      if (statusCode === 200) await dispatcher.close();
      return statusCode === 200;
    } catch {
      return false;
    }
  };
};

/** Go collects its garbage less often: a third less processor time for some memory more. */
const rareCollections = { GOGC: '400' };

/** Where the binaries are. */
export const assetsOf = ({ assets }: RealClusterOptions = {}): string =>
  assets ?? process.env.KUBEBUILDER_ASSETS ?? '/usr/local/kubebuilder/bin';

/** Why no control plane can start here; undefined when it can. */
export const whyNoRealCluster = (options: RealClusterOptions = {}): string | undefined => {
  const assets = assetsOf(options);
  const names = ['etcd', 'kube-apiserver', 'kube-controller-manager'];
  const missing = missingBinary(
    assets,
    options.scheduler === true ? [...names, 'kube-scheduler'] : names,
  );
  return missing === undefined ? undefined : `no ${missing} in ${assets}; set KUBEBUILDER_ASSETS`;
};

/** Starts a control plane (4 to 5 s). `available: false` when the binaries do not exist. */
export const startRealCluster = async (options: RealClusterOptions = {}): Promise<RealCluster> => {
  const reason = whyNoRealCluster(options);
  if (reason !== undefined) return { available: false, reason };
  const assets = assetsOf(options);
  const scheduler = options.scheduler === true;
  const directory = await mkdtemp(join(tmpdir(), 'drover-real-'));
  const ports = await choosePorts();
  const server = `https://127.0.0.1:${ports.api}`;
  const started: Started[] = [];
  const run = (name: string, args: readonly string[]): void => {
    const logPath = join(directory, `${name}.log`);
    const command = join(assets, name);
    started.push(start({ name, command, args, logPath, env: rareCollections }));
  };
  const stop = async (): Promise<void> => {
    // Clients first: an API server stops at once, but hangs when etcd stops first.
    for (const process of [...started].reverse()) await process.stop();
    await rm(directory, { recursive: true, force: true });
  };
  const ready = (what: string, url: string): Promise<void> =>
    waitUntil(what, answersOk(url), { processes: started, withinMs: 60_000 });
  try {
    const authority = await prepare(directory, server, options);
    run('etcd', etcdArgs(directory, ports));
    await ready('etcd', `http://127.0.0.1:${ports.etcd}/health`);
    run('kube-apiserver', apiArgs(directory, ports));
    // Readable without authentication by the default roles, like the controllers' own /healthz.
    await ready('kube-apiserver', `${server}/readyz`);
    run('kube-controller-manager', managerArgs(directory, ports, options));
    if (scheduler) {
      const kubeconfig = join(directory, 'scheduler.kubeconfig');
      run('kube-scheduler', controllerArgs(kubeconfig, ports.scheduler, join(directory, 'sched')));
      await ready('kube-scheduler', `https://127.0.0.1:${ports.scheduler}/healthz`);
    }
    await ready('kube-controller-manager', `https://127.0.0.1:${ports.manager}/healthz`);
    return {
      available: true,
      directory,
      server,
      kubeconfigPath: join(directory, 'admin.kubeconfig'),
      auditLogPath: join(directory, 'audit.log'),
      kubeconfigFor: async (subject) => {
        const path = join(directory, `${subject.replaceAll(/\W/g, '-')}.kubeconfig`);
        const user = await authority.client(subject);
        const text = kubeconfigText(server, authority.certificate, user);
        await writeFile(path, text, { mode: 0o600 });
        return path;
      },
      authority,
      freezeControllers: (frozen) => {
        started.find(({ name }) => name === 'kube-controller-manager')?.freeze(frozen);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

/**
 * The cluster in DROVER_E2E_KUBECONFIG, which keeps everything created in it; without that, a new
 * control plane.
 */
export const anyCluster = async (options: RealClusterOptions = {}): Promise<AnyCluster> => {
  const kubeconfigPath = process.env.DROVER_E2E_KUBECONFIG ?? '';
  if (kubeconfigPath === '') return startRealCluster(options);
  return { available: true, kubeconfigPath, stop: async () => {} };
};
