// `drover agent`: the node agent on this machine and its cluster, with the wall clock and the
// machine's random source; and the read-only commands `check` and `bundle`.
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { createBundleFile, createNodeHost } from '../adapters/host/index.ts';
import { checkOnce, collectBundle, NodeAgent, rulesInForce } from '../agent/index.ts';
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
import { type Clock, type KubeApi, KubeError, type Log, NodeHostError } from '../ports/index.ts';
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
}

export const runAgent = async (options: AgentOptions, context: AgentContext): Promise<void> => {
  const { kube, clock, log, signal, nodeName } = context;
  const { hostRoot, recordFile, rules, compat } = options;
  const node =
    options.node ?? nodeName ?? (await nodeOfCredentials(kube)) ?? hostname().toLowerCase();
  log.info('watching the node', { node, hostRoot });
  const agent = await NodeAgent.begin(
    {
      host: createNodeHost({ root: hostRoot, recordFile }),
      kube,
      clock,
      random: () => machineRandom,
      log,
    },
    {
      node,
      component: compat ? 'eks-node-monitoring-agent' : 'drover-agent',
      ...defined({ rulesFile: rules }),
    },
  );
  await agent.run(signal);
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
