// `drover up`: wires the embedded world as a process: state, time, listeners, faces, controllers,
// in order of their dependencies.
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import { createWorld, type World, worldRegion } from '../../world/index.ts';
import { microsPerMs, microsPerSecond, Tables } from '../../world/kernel/index.ts';
import { AuditFile } from '../adapters/audit/index.ts';
import { createMetrics, type ReadableMetrics } from '../adapters/metrics/index.ts';
import type { Pki } from '../adapters/signer/pki.ts';
import { openSqliteStore } from '../adapters/store/index.ts';
import { objectOr } from '../api/json.ts';
import type { UpOptions } from '../cli/context.ts';
import { JournalRing } from '../page/index.ts';
import { type Log, type Store, StoreError } from '../ports/index.ts';
import {
  createFrontListener,
  createKubeListener,
  listenOnLoopback,
  Pacer,
} from '../serve/index.ts';
import { createAwsFront } from './aws-front.ts';
import { createControlRoutes } from './control-routes.ts';
import {
  type DataDir,
  damagedFile,
  dataDirAt,
  environmentOf,
  hasAnswered,
  lostFile,
  movedTo,
  newSettings,
  prepareDirectory,
  readSettings,
  type Settings,
  unwritable,
  writeEnvironment,
  writePrivate,
  writeSettings,
} from './data-dir.ts';
import { demoCluster, seedDemo, seedEmpty } from './demo.ts';
import { startEmbeddedControllers } from './embedded.ts';
import { renderKubeconfig } from './kubeconfig.ts';
import { createWorldPage, pageLink, pageLinkRoute } from './page.ts';
import { type Signer, startSigning } from './signing.ts';
import { version } from './version.ts';
import { WorldAgents } from './world-agents.ts';

const defaultPort = 8700;
/** Enough for days of a demo, small enough for a laptop: 5 files of 64 MiB. */
const auditMaxBytes = 64 * 1024 * 1024;
const auditFilesKept = 4;
/**
 * A new demo starts this long before the present and is advanced at full speed, so that nodes are
 * Ready and pods run (11 to 14 s of world time) before the `ready` line.
 */
const demoPastMicros = 60 * microsPerSecond;
/** How long open requests may take to finish at shutdown. */
const closeWithinMs = 2000;

export interface UpDeps {
  readonly out: (line: string) => void;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Milliseconds since the start of the process, for the ready line. */
  readonly sinceStartMs: () => number;
}

const loadTables = (store: Store): Tables => {
  const tables = new Tables();
  for (const { table, key, value } of store.load()) tables.restore(table, key, value);
  return tables;
};

/** Worlds of earlier versions have no certificate for an external controller. */
type EarlierPki = Omit<Pki, 'controller'> & Partial<Pki>;

const readPki = ({ pkiFile }: DataDir): EarlierPki | undefined => {
  if (!existsSync(pkiFile)) return undefined;
  try {
    const parsed: unknown = JSON.parse(readFileSync(pkiFile, 'utf8'));
    const { ca, server } = objectOr(parsed);
    const isPair = (one: unknown): boolean => typeof objectOr(one).certificate === 'string';
    if (!isPair(ca) || !isPair(server)) throw new Error('it holds no certificates');
    return parsed as EarlierPki;
  } catch (error) {
    throw damagedFile(pkiFile, error);
  }
};

const loadPki = async (dir: DataDir, stored: Settings | undefined): Promise<Pki> => {
  const parsed = readPki(dir);
  // Nodes and clients trust the lost authority.
  if (parsed === undefined && hasAnswered(stored)) throw lostFile(dir.pkiFile, 'missing');
  if (parsed?.controller !== undefined) return { ...parsed, controller: parsed.controller };
  // Used once in a world's lifetime and costs 40 MB, so it is imported only here.
  const { addController, createPki } = await import('../adapters/signer/index.ts');
  const now = Date.now();
  const pki = await (parsed === undefined ? createPki(now) : addController(parsed, now));
  writePrivate(dir.pkiFile, JSON.stringify(pki));
  return pki;
};

/** Never creates a new state beside the files of a world that has been ready. */
const openStore = ({ databaseFile }: DataDir, stored: Settings | undefined): Store => {
  if (hasAnswered(stored)) {
    if (!existsSync(databaseFile)) throw lostFile(databaseFile, 'missing');
    if (statSync(databaseFile).size === 0) throw lostFile(databaseFile, 'empty');
  }
  return openSqliteStore(databaseFile);
};

const chosenPorts = (options: UpOptions, stored: Settings | undefined): [number, number] => {
  if (options.port !== undefined) return [options.port, options.port === 0 ? 0 : options.port + 1];
  if (stored !== undefined && stored.frontPort !== 0) return [stored.frontPort, stored.kubePort];
  return [defaultPort, defaultPort + 1];
};

const kubeEndpoint = (port: number): string => `https://127.0.0.1:${port}`;

const randomSeed = (): number => Math.floor(Math.random() * 2 ** 32);

export const up = async (options: UpOptions, deps: UpDeps): Promise<void> => {
  // Files from here on contain keys, tokens and Secrets: only their owner may read them.
  process.umask(0o077);
  const dir = dataDirAt(options.dataDir);
  const stored = readSettings(dir);
  const undo = prepareDirectory(dir);
  const closers: Closer[] = [];
  let begun: Begun;
  try {
    begun = await begin({ options, deps, dir, stored, closers });
  } catch (error) {
    await closeAll(closers);
    // Files that another drover created at the same time must not be removed.
    const theirs = error instanceof StoreError && error.code === 'locked';
    if (stored === undefined && !theirs) undo();
    throw error;
  }
  announce(deps, options, begun.settings, begun.world);
  try {
    await begun.ended;
  } finally {
    await closeAll(closers);
  }
};

/** Cleanup at the end, whatever the reason; runs in reverse order. */
type Closer = () => void | Promise<void>;

const closeAll = async (closers: readonly Closer[]): Promise<void> => {
  for (const closer of closers.toReversed()) await closer();
};

interface Begun {
  readonly settings: Settings;
  readonly world: World;
  /** Settles when the world has stopped; rejects with the reason when it failed. */
  readonly ended: Promise<unknown>;
}

interface Beginning {
  readonly options: UpOptions;
  readonly deps: UpDeps;
  readonly dir: DataDir;
  readonly stored: Settings | undefined;
  readonly closers: Closer[];
}

const openWorld = (options: {
  readonly settings: () => Settings;
  /** How long before the present a new world starts. */
  readonly pastMicros: number;
  readonly store: Store;
  readonly audit: AuditFile;
  readonly pki: Pki;
}): World => {
  const { settings, pastMicros, store, audit, pki } = options;
  return createWorld({
    seed: settings().seed,
    startAt: Date.now() * microsPerMs - pastMicros,
    tables: loadTables(store),
    audit: (event) => audit.write(event),
    auditLog: audit,
    endpoint: () => `http://127.0.0.1:${settings().frontPort}`,
    clusterAccess: () => ({
      endpoint: kubeEndpoint(settings().kubePort),
      formerEndpoints: settings().formerKubePorts.map(kubeEndpoint),
      certificateAuthorityData: Buffer.from(pki.ca.certificate).toString('base64'),
    }),
  });
};

/** The certificate library costs 40 MB: it is loaded for the first certificate request. */
const signWith =
  ({ ca }: Pki): Signer =>
  async (order) => {
    const { signRequest } = await import('../adapters/signer/index.ts');
    return signRequest(ca, order, Date.now());
  };

/** Every step until the world answers and its state is on disk. */
const begin = async ({ options, deps, dir, stored, closers }: Beginning): Promise<Begun> => {
  const { log } = deps;
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  deps.signal.addEventListener('abort', stop, { once: true });
  let settings = stored ?? newSettings({ seed: options.seed ?? randomSeed(), demo: options.demo });
  // Written first, so that a directory left incomplete by a crash is recognized as Drover's.
  if (stored === undefined) writeSettings(dir, settings);
  const store = openStore(dir, stored);
  closers.push(() => store.close());
  const audit = openAudit(dir, log);
  const pki = await loadPki(dir, stored);
  const pastMicros = settings.demo ? demoPastMicros : 0;
  const world = openWorld({ settings: () => settings, pastMicros, store, audit, pki });
  if (hasAnswered(stored) && !world.restored) throw lostFile(dir.databaseFile, 'empty');
  const pacer = new Pacer({
    kernel: world.kernel,
    wallMs: () => performance.now(),
    speed: options.speed,
    settle: () => new Promise((resolve) => setImmediate(resolve)),
    commit: () => commit(world, store, audit),
  });
  closers.push(() => {
    if (pacer.whole) commit(world, store, audit);
  });
  const metrics = createMetrics({ version });
  const journal = new JournalRing();
  const hasJournal = options.controller;
  const actions = options.pageActions;
  const { signal } = stopping;
  const outside = { pki, log, metrics, stop, signal, settings: () => settings };
  const listeners = createListeners({ world, pacer, journal, hasJournal, actions, ...outside });
  closers.push(() => close([listeners.front, listeners.kube]));
  const chosen = chosenPorts(options, stored);
  const frontPort = await listenOnLoopback(listeners.front, chosen[0]);
  const kubePort = await listenOnLoopback(listeners.kube, chosen[1]);
  settings = movedTo(settings, { frontPort, kubePort });
  const seed = settings.demo ? seedDemo : seedEmpty;
  if (!world.restored) pacer.enter(() => seed(world));
  const running = pacer.run(signal);
  startSigning({ world, pacer, log, sign: signWith(pki), signal });
  new WorldAgents(world, { log, signal });
  const controllers = options.controller
    ? startEmbeddedControllers({
        world,
        log,
        metrics,
        journal,
        signal,
        allowLoopbackWebhooks: options.allowLoopbackWebhooks,
      })
    : Promise.resolve();
  // A failed world stops the process with its error, which no later error may hide.
  running.catch(stop);
  controllers.catch(stop);
  closers.push(async () => {
    stop();
    await Promise.allSettled([running, controllers]);
  });
  closers.unshift(() => rmSync(dir.pidFile, { force: true }));
  // `ended` reports a failure, not this wait.
  if (!world.restored && pastMicros > 0) await pacer.advance(pastMicros).catch(() => undefined);
  writeForClients(dir, settings, pki);
  await pacer.committed();
  return { settings, world, ended: Promise.all([running, controllers]) };
};

const openAudit = (dir: DataDir, log: Log): AuditFile => {
  const onError = (error: unknown): void =>
    log.error('audit events are being lost', { error: String(error) });
  try {
    return new AuditFile({
      file: dir.auditFile,
      maxBytes: auditMaxBytes,
      keep: auditFilesKept,
      onError,
    });
  } catch (error) {
    throw unwritable(dir.auditFile, error);
  }
};

const createListeners = (options: {
  readonly world: World;
  readonly pacer: Pacer;
  readonly pki: Pki;
  readonly log: Log;
  readonly metrics: ReadableMetrics;
  readonly stop: () => void;
  readonly settings: () => Settings;
  readonly journal: JournalRing;
  readonly hasJournal: boolean;
  readonly actions: boolean;
  readonly signal: AbortSignal;
}): { readonly front: Server; readonly kube: Server } => {
  const { world, pacer, pki, log, metrics, stop, settings, ...more } = options;
  const { token } = settings();
  const control = {
    ...createControlRoutes(world, pacer, stop),
    'GET /drover/v1/page': pageLinkRoute(() => settings().frontPort, token),
  };
  const aws = createAwsFront({ world, pacer, settings: settings(), log });
  const onError = (error: unknown): void => {
    // A failed commit is reported once, by the ending process.
    if (pacer.whole) log.error('a request failed inside the world', { error: String(error) });
  };
  const front = createFrontListener(
    {
      aws: aws.handle,
      control,
      page: createWorldPage({ world, pacer, log, control, token, ...more }),
      metrics: () => metrics.read(),
      token,
    },
    { port: () => settings().frontPort, onError },
  );
  const kube = createKubeListener(
    {
      kube: world.kube,
      pacer,
      tls: { ca: pki.ca.certificate, cert: pki.server.certificate, key: pki.server.key },
      authenticateToken: async (token) =>
        world.kube.userOfToken(token) ?? (await aws.userOfToken(token)),
      // Few clients send YAML, and the parser would slow every start.
      parseYaml: async (text) => (await import('./request-yaml.ts')).parseRequestYaml(text),
    },
    { port: () => settings().kubePort, onError },
  );
  return { front, kube };
};

const writeForClients = (dir: DataDir, settings: Settings, pki: Pki): void => {
  writeSettings(dir, settings);
  const { clusterName } = demoCluster;
  const cluster = { pki, port: settings.kubePort, clusterName, region: worldRegion };
  writePrivate(dir.kubeconfigFile, renderKubeconfig({ ...cluster, as: 'admin' }));
  writePrivate(dir.controllerKubeconfigFile, renderKubeconfig({ ...cluster, as: 'controller' }));
  writeEnvironment(dir, environmentOf(dir, settings, worldRegion));
  writePrivate(dir.pidFile, `${process.pid}\n`);
};

const commit = (world: World, store: Store, audit: AuditFile): void => {
  world.kernel.checkpoint();
  const changes = world.kernel.tables.takeChanges();
  if (changes.length > 0) store.commit(changes);
  audit.flush();
};

const close = async (
  servers: readonly {
    readonly close: (done: () => void) => unknown;
    readonly closeAllConnections: () => void;
    readonly closeIdleConnections: () => void;
  }[],
): Promise<void> => {
  await Promise.all(
    servers.map(
      (server) =>
        new Promise<void>((resolve) => {
          const timer = setTimeout(() => server.closeAllConnections(), closeWithinMs);
          server.close(() => {
            clearTimeout(timer);
            resolve();
          });
          server.closeIdleConnections();
        }),
    ),
  );
};

const emptyHints = `This world has no cluster yet. Make one, with two nodes:
  npx --no drover create cluster --name my-cluster --nodes 2
  kubectl get nodes`;

const clusterHints = `  kubectl get nodes
  kubectl get pods -A -o wide
  aws autoscaling describe-auto-scaling-groups --endpoint-url "$AWS_ENDPOINT_URL"
  npx --no drover get ng
Take a node out of service, and see what happens to it:
  npx --no drover drain NODE --dry-run`;

const announce = (deps: UpDeps, options: UpOptions, settings: Settings, world: World): void => {
  const seconds = (deps.sinceStartMs() / 1000).toFixed(2);
  const dir = options.dataDir === '.drover' ? '' : ` --data-dir ${options.dataDir}`;
  const resumed = world.restored ? ', resumed where it was' : '';
  deps.out(
    `ready in ${seconds} s: AWS http://127.0.0.1:${settings.frontPort}, ` +
      `Kubernetes https://127.0.0.1:${settings.kubePort}${resumed}`,
  );
  deps.out(`page  ${pageLink(settings.frontPort, settings.token)}`);
  const hints = world.aws.clusterNames().length === 0 ? emptyHints : clusterHints;
  deps.out(`
In another shell:
  eval "$(npx --no drover env${dir})"
${hints}
^C stops the world; its state stays in ${options.dataDir}.`);
};
