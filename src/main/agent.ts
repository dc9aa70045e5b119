// `drover agent`: the node agent on this machine and its cluster, with the wall clock and the
// machine's random source; and the read-only commands `check` and `bundle`.
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { memoryUsage, uptime } from 'node:process';
import { createBundleFile, createNodeHost, removeOldBundles } from '../adapters/host/index.ts';
import {
  AgentMetrics,
  type BundleStore,
  checkOnce,
  collectBundle,
  NodeAgent,
  rulesInForce,
} from '../agent/index.ts';
import type { AgentReport } from '../api/agent-report.ts';
import { formatTime } from '../api/brand.ts';
import { defined } from '../api/defined.ts';
import { objectOr } from '../api/json.ts';
import type { KubeObject, ResourceType } from '../api/kube.ts';
import {
  type AgentBundleOptions,
  type AgentBundleResult,
  type AgentCheckOptions,
  type AgentOptions,
  CommandError,
  exitCodes,
} from '../cli/context.ts';
import {
  type Clock,
  type KubeApi,
  KubeError,
  type Log,
  type NodeHost,
  NodeHostError,
} from '../ports/index.ts';
import { machineRandom } from './machine-random.ts';

const selfReviews: ResourceType = {
  group: 'authentication.k8s.io',
  version: 'v1',
  resource: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
};
const nodeUser = 'system:node:';
const nodeClaim = 'authentication.kubernetes.io/node-name';

type Review = KubeObject & { readonly status?: object };

/** A kubelet's credentials, and a token bound to a pod, identify their node. */
const nodeOfCredentials = async (kube: KubeApi): Promise<string | undefined> => {
  try {
    const review = await kube.create<Review>(selfReviews, {});
    const { username, extra } = objectOr(objectOr(review.status).userInfo);
    const claims = objectOr(extra)[nodeClaim];
    const claim: unknown = Array.isArray(claims) ? claims[0] : undefined;
    if (typeof claim === 'string') return claim;
    const isNode = typeof username === 'string' && username.startsWith(nodeUser);
    return isNode ? username.slice(nodeUser.length) : undefined;
  } catch (error) {
    if (error instanceof KubeError) return undefined;
    throw error;
  }
};

export interface AgentContext {
  readonly kube: KubeApi;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** `NODE_NAME`. */
  readonly nodeName: string | undefined;
  readonly version: string;
}

/** The module is loaded only where a port is given: it costs memory on every node. */
const serve = async (
  { probes }: AgentOptions,
  { log, version, clock }: AgentContext,
): Promise<{ readonly metrics?: AgentMetrics; readonly close: () => Promise<void> }> => {
  if (probes.port === undefined) return { close: async () => undefined };
  const { startProbes } = await import('./probes.ts');
  const metrics = new AgentMetrics({
    version,
    startedAtSeconds: Math.round(clock.now() / 1000 - uptime()),
    residentBytes: () => memoryUsage.rss(),
  });
  const routes = { '/healthz': () => ({ status: 200, body: 'ok\n' }) };
  return { metrics, close: await startProbes(probes, { metrics, log, routes }) };
};

/** Includes the bundle that is being written, of this node. A bundle has at most 50 MiB. */
const keptBundles = 5;
/** The name of a file has 255 bytes at most. */
const maxNodeName = 80;

const bundleStore = (parts: {
  readonly host: NodeHost;
  readonly clock: Clock;
  readonly node: string;
  readonly directory: string;
}): BundleStore => ({
  collect: async (name, endsAt, signal) => {
    const { directory, ...from } = parts;
    // The directory may be shared by nodes; their names contain no underscore.
    const prefix = `drover-bundle-${from.node.slice(0, maxNodeName)}_`;
    await removeOldBundles({ directory, prefix, kept: keptBundles - 1 });
    const path = join(directory, `${prefix}${name}.tar.gz`);
    const writer = createBundleFile(path);
    const { bytes } = await collectBundle({ ...from, writer, endsAt, signal });
    return { path, bytes };
  },
});

export const runAgent = async (options: AgentOptions, context: AgentContext): Promise<void> => {
  const { kube, clock, log, signal, nodeName } = context;
  const { hostRoot, recordFile, rules, compat, bundleDirectory } = options;
  const node =
    options.node ?? nodeName ?? (await nodeOfCredentials(kube)) ?? hostname().toLowerCase();
  log.info('watching the node', { node, hostRoot });
  const host = createNodeHost({ root: hostRoot, recordFile });
  const bundles =
    bundleDirectory === undefined
      ? undefined
      : bundleStore({ host, clock, node, directory: bundleDirectory });
  const { metrics, close } = await serve(options, context);
  try {
    const agent = await NodeAgent.begin(
      {
        host,
        kube,
        clock,
        random: () => machineRandom,
        log,
        ...defined({ metrics, bundles }),
      },
      {
        node,
        component: compat ? 'eks-node-monitoring-agent' : 'drover-agent',
        ...defined({ rulesFile: rules }),
      },
    );
    await agent.run(signal);
  } finally {
    await close();
  }
};

/** The rules with the file of `--rules`; an error in it is a usage error. */
const rulesOf = (text: string | undefined, path: string) => {
  const { rules, fault } = rulesInForce(text);
  if (fault === undefined) return rules;
  throw new CommandError(exitCodes.usage, `${path}:${fault}`);
};

export const runAgentCheck = async (
  { hostRoot, rules }: AgentCheckOptions,
  context: { readonly clock: Clock; readonly signal: AbortSignal },
  readFile: (path: string) => Promise<string>,
): Promise<AgentReport> => {
  const text = rules === undefined ? undefined : await readFile(rules);
  return checkOnce({
    host: createNodeHost({ root: hostRoot, recordFile: '/dev/null' }),
    random: machineRandom,
    rules: rulesOf(text, rules ?? ''),
    ...context,
  });
};

export const runAgentBundle = async (
  { hostRoot, node, file }: AgentBundleOptions,
  context: {
    readonly clock: Clock;
    readonly signal: AbortSignal;
    readonly nodeName: string | undefined;
  },
): Promise<AgentBundleResult> => {
  const { clock, signal, nodeName } = context;
  const name = node ?? nodeName ?? hostname().toLowerCase();
  const time = formatTime(clock.now()).slice(0, 19).replace(/[-:]/g, '');
  const safe = name.replace(/[^\w.-]/g, '_');
  const path = resolve(file ?? `drover-bundle-${safe}-${time}.tar.gz`);
  const host = createNodeHost({ root: hostRoot, recordFile: '/dev/null' });
  try {
    const writer = createBundleFile(path);
    const { manifest, bytes } = await collectBundle({ host, clock, node: name, writer, signal });
    const missing = manifest.entries.filter(({ status }) => status === 'missing').length;
    return { path, bytes, entries: manifest.entries.length - missing, missing };
  } catch (error) {
    if (!(error instanceof NodeHostError)) throw error;
    throw new CommandError(exitCodes.failed, error.message, { cause: error });
  }
};
