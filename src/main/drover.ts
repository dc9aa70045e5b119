// Entry point of the command line: reads environment and arguments, handles signals and exit codes;
// passes everything else to the commands.

import { userInfo } from 'node:os';
import { CommanderError } from 'commander';
import { epochMs, parseTime } from '../api/brand.ts';
import { defined } from '../api/defined.ts';
import {
  type CliContext,
  type ClusterFacts,
  type ClusterTarget,
  CommandError,
  type Connection,
  type ControllerOptions,
  exitCodes,
} from '../cli/context.ts';
import { visibleText } from '../cli/visible.ts';
import type { DateReader } from '../ports/index.ts';
import {
  auditFilesOf,
  connectionSettings,
  droverUrl,
  isWorldsServer,
  kubeconfigFiles,
  requireWorldEnvironment,
} from './connections.ts';
import type { ControllerPage } from './controller-page.ts';
import { explainFailure } from './failure.ts';
import { mayBeMixed, mixture } from './mixed-endpoints.ts';
import { createTerminal } from './terminal.ts';
import { version } from './version.ts';
import { wallClock } from './wall-clock.ts';

const startedAt = performance.now() - process.uptime() * 1000;
const env = process.env;

/** In a container a user often has an id but no name. */
const systemUserName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
};

const interrupted = new AbortController();
const onSignal = (): void => {
  // A second ^C ends at once; the first requests a clean stop.
  if (interrupted.signal.aborted) process.exit(130);
  interrupted.abort();
};
process.on('SIGINT', onSignal);
process.on('SIGTERM', onSignal);

// A closed reader (`| head`) is not a failure: the command completes its work.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

/** The User-Agent header of the commands' clients. */
const commandAgent = `drover-cli/${version}`;
/** Unattended processes need explicit settings and ignore ./.drover. */
interface Finding {
  readonly nearby: boolean;
}
const byHand: Finding = { nearby: true };
const unattended: Finding = { nearby: false };

const kubeAccess = async (connection: Connection, finding: Finding) => {
  const { loadKubeconfig } = await import('../adapters/kube/index.ts');
  const { kubeconfig } = connectionSettings(connection, env, finding);
  const files = kubeconfigFiles(kubeconfig);
  // If KUBECONFIG lists several files, loadKubeconfig reads and merges them itself.
  const path = files.length === 1 ? files[0] : undefined;
  return loadKubeconfig({
    env,
    ...defined({ path, context: connection.context }),
  });
};

const kubeClient = async (
  connection: Connection,
  userAgent: string,
  finding: Finding,
  more: { readonly dates?: DateReader; readonly isLight?: boolean } = {},
) => {
  const { createKubeClient } = await import('../adapters/kube/index.ts');
  const access = await kubeAccess(connection, finding);
  return createKubeClient({ ...access, userAgent, ...more });
};

/** Refuses a cluster and an AWS endpoint of which only one is an embedded world. */
const requireOneTarget = async (connection: Connection, finding: Finding): Promise<void> => {
  const settings = connectionSettings(connection, env, finding);
  if (connection.allowMixedEndpoints === true || !mayBeMixed(settings)) return;
  const { cluster } = await kubeAccess(connection, finding);
  const why = mixture(settings, cluster.server);
  if (why !== undefined) throw new CommandError(exitCodes.usage, why);
};

const awsOptions = (connection: Connection, userAgent: string, finding: Finding) => {
  const { aws } = connectionSettings(connection, env, finding);
  const { region, endpoint, accessKeyId, secretAccessKey, sessionToken } = aws;
  return {
    ...defined({ region, endpoint }),
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : {
          credentials: {
            accessKeyId,
            secretAccessKey,
            ...defined({ sessionToken }),
          },
        }),
    userAgent,
  };
};

const awsCloud = async (connection: Connection, userAgent: string, finding: Finding) => {
  await requireOneTarget(connection, finding);
  const { createAwsCloud } = await import('../adapters/aws/index.ts');
  return createAwsCloud(awsOptions(connection, userAgent, finding));
};

const awsProvisioning = async (connection: Connection) => {
  await requireOneTarget(connection, byHand);
  const { createAwsProvisioning } = await import('../adapters/aws/index.ts');
  return createAwsProvisioning(awsOptions(connection, commandAgent, byHand), wallClock);
};

const awsLogQueries = async (connection: Connection) => {
  const { createAwsLogQueries } = await import('../adapters/aws/index.ts');
  return createAwsLogQueries(awsOptions(connection, commandAgent, byHand));
};

const readBytes = async (path: string): Promise<Uint8Array> => {
  const { readFile } = await import('node:fs/promises');
  const { buffer } = await import('node:stream/consumers');
  try {
    // Not opened by name: a socket cannot be opened a second time.
    return path === '-' ? await buffer(process.stdin) : await readFile(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(exitCodes.usage, `cannot read ${path}: ${why}`);
  }
};

const readInput = async (path: string): Promise<string> =>
  new TextDecoder().decode(await readBytes(path));

const writeOutput = async (path: string, text: string): Promise<void> => {
  const { writeFile } = await import('node:fs/promises');
  try {
    await writeFile(path, text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(exitCodes.usage, `cannot write ${path}: ${why}`);
  }
};

const hostAt = async (root: string) => {
  const { createHost } = await import('../adapters/host/index.ts');
  return createHost(root);
};

const metadataAt = async (endpoint: string | undefined) => {
  const { createMetadata, endpointFault } = await import('../adapters/host/index.ts');
  const asked = endpoint ?? env.AWS_EC2_METADATA_SERVICE_ENDPOINT;
  const fault = asked === undefined ? undefined : endpointFault(asked);
  if (fault !== undefined) throw new CommandError(exitCodes.usage, fault);
  return createMetadata(asked);
};

const worldControl = async (connection: Connection) => {
  const { createWorldControl } = await import('./world-control.ts');
  return createWorldControl(droverUrl(connection, env));
};

const clusterFacts = async (connection: Connection): Promise<ClusterFacts> => {
  const elsewhere: ClusterFacts = { embedded: false, now: wallClock.now() };
  const settings = connectionSettings(connection, env);
  if (connection.kubeconfig !== undefined || settings.droverUrl === undefined) return elsewhere;
  const { cluster } = await kubeAccess(connection, byHand);
  if (!isWorldsServer(settings, cluster.server)) return elsewhere;
  try {
    const status = await (await worldControl(connection)).status();
    const now = parseTime(String(status.now));
    return now === undefined ? elsewhere : { embedded: true, now: epochMs(now) };
  } catch {
    // An unreachable world is not reported here: the first request to the cluster does that.
    return elsewhere;
  }
};

const clusterTarget = async (connection: Connection): Promise<ClusterTarget> => {
  const { context, cluster } = await kubeAccess(connection, byHand);
  return { context, server: cluster.server };
};

const agentCommands = (
  signal: AbortSignal,
): Pick<CliContext, 'agent' | 'agentCheck' | 'agentBundle'> => ({
  agent: async (options) => {
    const [{ runAgent }, log] = await Promise.all([import('./agent.ts'), createLog('info')]);
    const kube = await kubeClient(options.connection, `drover-agent/${version}`, unattended, {
      isLight: true,
    });
    try {
      const own = { nodeName: env.NODE_NAME, version };
      await runAgent(options, { kube, clock: wallClock, log, signal, ...own });
    } finally {
      await kube.close();
    }
  },
  agentCheck: async (options) => {
    const { runAgentCheck } = await import('./agent.ts');
    return runAgentCheck(options, { clock: wallClock, signal }, readInput);
  },
  agentBundle: async (options) => {
    const { runAgentBundle } = await import('./agent.ts');
    return runAgentBundle(options, { clock: wallClock, signal, nodeName: env.NODE_NAME });
  },
});

/** The page of the controller, if it has one, and the journal that it shows. */
const openPage = async (
  connection: Connection,
  settings: { readonly port: number; readonly actions: boolean } | undefined,
  outside: Pick<ControllerPage, 'kube' | 'serverClock' | 'log' | 'signal'>,
) => {
  if (settings === undefined) return { journal: {}, closePage: async () => undefined };
  const [{ startControllerPage }, { JournalRing }, kube] = await Promise.all([
    import('./controller-page.ts'),
    import('../page/index.ts'),
    import('../adapters/kube/index.ts'),
  ]);
  const journal = new JournalRing();
  const withToken = async (token: string) => {
    const { cluster } = await kubeAccess(connection, unattended);
    const authenticator = kube.fixedAuthenticator({ header: `Bearer ${token}` });
    const user = { authenticator, headers: {} };
    return kube.createKubeClient({ cluster, user, userAgent: `drover-page/${version}` });
  };
  const closePage = await startControllerPage({ ...settings, ...outside, journal, withToken });
  return { journal: { journal }, closePage };
};

const controller = async (
  { connection, ...settings }: ControllerOptions,
  signal: AbortSignal,
): Promise<void> => {
  const [{ runController, userAgentOf }, { createHttp }, runtime, counting, probes, log] =
    await Promise.all([
      import('./controller.ts'),
      import('../adapters/http/index.ts'),
      import('../runtime/index.ts'),
      import('../adapters/metrics/index.ts'),
      import('./probes.ts'),
      createLog('info'),
    ]);
  const agent = userAgentOf(settings.compat, version);
  // Every answer of the API server corrects the clock with which the controllers write and
  // compare.
  const serverClock = new runtime.ServerClock(wallClock);
  const kube = await kubeClient(connection, agent, unattended, { dates: serverClock });
  try {
    const cloud = await awsCloud(connection, agent, unattended);
    const { POD_NAME: podName } = env;
    const own = podName === undefined ? {} : { podName };
    const http = createHttp({ allowLoopback: settings.allowLoopbackWebhooks });
    const clocks = { clock: wallClock, serverClock };
    const metrics = counting.createMetrics({ version });
    const routes = {
      '/healthz': () => ({ status: 200, body: 'ok\n' }),
      '/readyz': probes.readyRoute({ kube, clock: wallClock, log }),
    };
    const close = await probes.startProbes(settings.probes, { metrics, log, routes });
    const { journal, closePage } = await openPage(connection, settings.page, {
      ...{ kube, serverClock, log, signal },
    });
    const outside = { kube, cloud, http, metrics, ...journal };
    try {
      await runController(settings, { ...outside, ...clocks, log, signal, ...own });
    } finally {
      await closePage();
      await close();
    }
  } finally {
    await kube.close();
  }
};

const createContext = (): CliContext => {
  const terminal = createTerminal(process.stdout, process.stderr, () => process.stdin);
  const { signal } = interrupted;
  return {
    ...terminal,
    clock: wallClock,
    signal,
    userName: env.USER ?? systemUserName(),
    kube: (connection) => kubeClient(connection, commandAgent, byHand, { isLight: true }),
    cluster: clusterFacts,
    target: clusterTarget,
    cloud: (connection) => awsCloud(connection, commandAgent, byHand),
    provisioning: awsProvisioning,
    http: async (options) => (await import('../adapters/http/index.ts')).createHttp(options),
    readFile: readInput,
    readBytes,
    writeFile: writeOutput,
    host: hostAt,
    metadata: metadataAt,
    openLog: async (path) => (await import('../adapters/logs/index.ts')).openLogFile(path),
    auditFiles: async (connection) => auditFilesOf(connection, env),
    logQueries: awsLogQueries,
    endSurges: async (kube, now) =>
      (await import('../controllers/disruption/index.ts')).endSurges(kube, now),
    world: worldControl,
    environment: (connection) => requireWorldEnvironment(connection),
    up: async (options) => {
      const [{ up }, log] = await Promise.all([import('./up.ts'), createLog('warn')]);
      await up(options, {
        out: terminal.out,
        log,
        signal,
        sinceStartMs: () => performance.now() - startedAt,
      });
    },
    ...agentCommands(signal),
    controller: (options) => controller(options, signal),
  };
};

const createLog = async (usual: 'info' | 'warn') => {
  const { createLog: create, logLevels } = await import('../adapters/log/index.ts');
  const wanted = logLevels.find((level) => level === env.DROVER_LOG);
  return create({ level: wanted ?? usual });
};

/** Loads only the requested command, if it can be loaded separately. */
const programFor = async (words: readonly string[], context: CliContext) => {
  const { buildOneCommand } = await import('../cli/one-command.ts');
  const alone = await buildOneCommand(words[0], context);
  return alone ?? (await import('../cli/program.ts')).buildProgram(context, version);
};

const main = async (): Promise<number> => {
  const context = createContext();
  try {
    const words = process.argv.slice(2);
    const asked = words.length === 1 && words[0] === '--version' ? ['version'] : words;
    await (await programFor(asked, context)).parseAsync(asked, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has already printed its message; help and version are not failures.
      return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    }
    const { message, exitCode } = explainFailure(error);
    // Messages contain names and texts from the user's files.
    context.err(`drover: ${visibleText(message)}`);
    if (env.DROVER_LOG === 'debug' && error instanceof Error) context.err(error.stack ?? '');
    return exitCode;
  }
};

process.exitCode = await main();
