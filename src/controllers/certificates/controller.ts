// Approves certificate signing requests of kubelets whose names and addresses match their instance
// in the cloud's records. Off by default, because EKS approves them itself. Never denies, never
// signs.

import { type EpochMs, epochMs, formatKubeTime, instanceIdOfProviderId } from '../../api/brand.ts';
import type { CloudInstance } from '../../api/cloud.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import {
  approvalWindowMs,
  decideCertificate,
  type InstanceRecord,
  nodeNameOf,
  type RequestFacts,
  type WaitingReason,
} from '../../core/identity/index.ts';
import { allSynced, Informer, WorkQueue } from '../../runtime/index.ts';
import type { BaseDeps } from '../base-deps.ts';
import { GroupDirectory } from '../group-directory.ts';
import { slim } from '../informers.ts';
import { journalApproval, tellWaiting } from './events.ts';
import {
  approvedAt,
  isKubelets,
  isPending,
  ownerKey,
  readRequest,
  type SigningRequest,
} from './requests.ts';

const type = resourceTypes.certificatesigningrequests;
/**
 * Reasons that may resolve by themselves (a node registers, a record appears, other requests are
 * decided): such a request is examined again after this interval.
 */
const againMs = 15_000;
const healing: ReadonlySet<WaitingReason> = new Set<WaitingReason>([
  'NoInstance',
  'NoNode',
  'NodeExists',
  'OtherInstance',
  'ForeignName',
  'ForeignAddress',
  'TooMany',
]);
/** Parallel passes; each calls the cloud once. */
const atOnce = 4;
const byOwner = 'owner';

export const createCertificateController = (
  deps: BaseDeps,
): { run(signal: AbortSignal): Promise<void> } => {
  const approver = new Approver(deps);
  return { run: (signal) => approver.run(signal) };
};

const recordOf = (instance: CloudInstance): InstanceRecord => {
  const { instanceId, state, privateDnsName, publicDnsName, addresses = [], launchTime } = instance;
  const launchedAt = launchTime === undefined ? Number.NaN : Date.parse(launchTime);
  return {
    instanceId,
    state,
    names: [privateDnsName, publicDnsName ?? ''].filter((name) => name !== ''),
    addresses,
    launchedAt: Number.isNaN(launchedAt) ? undefined : epochMs(launchedAt),
  };
};

class Approver {
  readonly #deps: BaseDeps;
  readonly #requests: Informer<SigningRequest>;
  readonly #directory: GroupDirectory;
  readonly #queue: WorkQueue<string>;

  constructor(deps: BaseDeps) {
    this.#deps = deps;
    this.#directory = new GroupDirectory(deps);
    this.#requests = new Informer<SigningRequest>({
      ...deps,
      type,
      project: (csr) => ({ ...csr, metadata: slim(csr.metadata) }),
      indexes: { [byOwner]: (csr) => [ownerKey(csr)] },
    });
    this.#queue = new WorkQueue({ ...deps, name: 'certificates', concurrency: atOnce });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { nodes, nodeGroups } = this.#deps;
    const stopListening = this.#requests.onChange((change) => {
      if (change.kind === 'removed') return;
      if (isKubelets(change.object) && isPending(change.object)) {
        this.#queue.add(change.object.metadata.name);
      }
    });
    const watching = this.#requests.run(signal);
    try {
      if (await allSynced([this.#requests, nodes, nodeGroups], signal)) {
        await this.#queue.run((name, inner) => this.#reconcile(name, inner), signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      stopListening();
      await watching.catch(() => undefined);
    }
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<{ readonly nextAt?: EpochMs }> {
    const { clock } = this.#deps;
    const csr = this.#requests.get({ name });
    if (csr === undefined || !isKubelets(csr) || !isPending(csr)) return {};
    const now = clock.now();
    const request = readRequest(csr, now);
    const facts = await this.#observe(csr, nodeNameOf(request.content), signal);
    const decision = decideCertificate(request, facts);
    if (decision.kind === 'approve') {
      await this.#approve(csr, decision.message, signal);
      return {};
    }
    await tellWaiting(this.#deps, csr, { waiting: decision, now, signal });
    return healing.has(decision.reason) ? { nextAt: epochMs(now + againMs) } : {};
  }

  async #approve(csr: SigningRequest, message: string, signal: AbortSignal): Promise<void> {
    const { kube, clock, journal } = this.#deps;
    const { name, resourceVersion } = csr.metadata;
    const approved = { type: 'Approved', status: 'True', reason: 'DroverApproved', message };
    const at = formatKubeTime(clock.now());
    const body = {
      metadata: { resourceVersion },
      status: { conditions: [{ ...approved, lastUpdateTime: at, lastTransitionTime: at }] },
    };
    const patch = { type: 'merge', body, subresource: 'approval' } as const;
    const written = await kube.patch(type, { name }, patch, { signal });
    if (written.kind === 'found') journalApproval(journal, csr, message);
  }

  // ---- the facts about a request ----

  async #observe(
    csr: SigningRequest,
    name: string | undefined,
    signal: AbortSignal,
  ): Promise<RequestFacts> {
    const { nodes, clock } = this.#deps;
    const kubelets = this.#requests.list().filter(isKubelets);
    const own = this.#requests
      .index(byOwner, ownerKey(csr))
      .filter(({ metadata }) => metadata.uid !== csr.metadata.uid);
    const since = clock.now() - approvalWindowMs;
    const node = name === undefined ? undefined : nodes.get({ name });
    return {
      instance: name === undefined ? undefined : await this.#instance(name, node, signal),
      node: node && { instanceId: instanceIdOfProviderId(node.spec.providerID) },
      pending: own.filter(isPending).length,
      approvedLately: own.filter((one) => (approvedAt(one) ?? 0) > since).length,
      pendingInAll: kubelets.filter(isPending).length,
      nodes: nodes.list().length,
    };
  }

  /**
   * The instance that has this name or id in the cloud's records. The node's own data only
   * determines what to look up.
   */
  async #instance(
    name: string,
    node: Node | undefined,
    signal: AbortSignal,
  ): Promise<InstanceRecord | undefined> {
    const { cloud } = this.#deps;
    const id = instanceIdOfProviderId(node?.spec.providerID);
    const ids = id === undefined ? await this.#membersOfGroups(signal) : [id];
    const found = await cloud.describeInstances(ids, { signal });
    return found
      .map(recordOf)
      .find(({ instanceId, names }) => instanceId === name || names.includes(name));
  }

  /**
   * Without a node only instances of our groups count, because the holder of a token may name any
   * other instance.
   */
  async #membersOfGroups(signal: AbortSignal): Promise<readonly string[]> {
    const groups = await this.#directory.groups(this.#deps.clock.now() - againMs, signal);
    return [...groups.values()].flatMap(({ instances }) =>
      instances.map(({ instanceId }) => instanceId),
    );
  }
}
