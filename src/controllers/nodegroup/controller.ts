// Keeps each NodeGroup's status true to its Auto Scaling group and nodes, every 15 s and when nodes
// change, and lets `spec.scaling.desired` follow changes made from outside. Writes only what
// changed, and nothing into the cloud.
import { type EpochMs, epochMs, instanceIdOfProviderId } from '../../api/brand.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import type { NodeGroup, NodeGroupStatus } from '../../api/nodegroup.ts';
import type { Clock, CloudApi, Journal, KubeApi, Log, Random } from '../../ports/index.ts';
import {
  type Change,
  type Informer,
  mergePatchBetween,
  type PassResult,
  WorkQueue,
} from '../../runtime/index.ts';
import { GroupDirectory } from '../group-directory.ts';
import { isReady, nodeOfInstance } from '../informers.ts';
import { decideNodeGroup, type NodeGroupDecision } from './decide.ts';
import { journalStatus, journalWriteBack } from './events.ts';

export interface NodeGroupDeps {
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Journal;
  readonly nodeGroups: Informer<NodeGroup>;
  readonly nodes: Informer<Node>;
  /** Asked just before each effect; default: always. */
  readonly isLeader?: () => boolean;
}

export interface NodeGroupController {
  run(signal: AbortSignal): Promise<void>;
}

const lookEveryMs = 15_000;
/** One look at the cloud serves all groups that want one within this time. */
const sharedLookMs = 5_000;
/** Nodes change in flocks, and the cloud follows: gathered into one pass. */
const gatherMs = 1_000;
/** Where many nodes come and go, the cloud is still asked at most this often because of them. */
const busyLookMs = 4_000;
const concurrency = 4;

export const createNodeGroupController = (deps: NodeGroupDeps): NodeGroupController => {
  const controller = new NodeGroups(deps);
  return { run: (signal) => controller.run(signal) };
};

class NodeGroups {
  readonly #deps: NodeGroupDeps;
  readonly #directory: GroupDirectory;
  readonly #queue: WorkQueue<string>;
  #lookedAt = 0;

  constructor(deps: NodeGroupDeps) {
    this.#deps = deps;
    this.#directory = new GroupDirectory(deps);
    this.#queue = new WorkQueue({ ...deps, name: 'nodegroup', concurrency });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { nodeGroups, nodes, clock } = this.#deps;
    try {
      await Promise.all([nodeGroups.synced(signal), nodes.synced(signal)]);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    const stopListening = [
      nodeGroups.onChange(({ object }) => this.#queue.add(object.metadata.name)),
      nodes.onChange((change) => {
        if (!changesReadiness(change)) return;
        // Which group it belongs to is the cloud's word, not a label's; groups are few.
        const soon = Math.max(clock.now() + gatherMs, this.#lookedAt + busyLookMs);
        for (const group of nodeGroups.list()) {
          this.#queue.addAfter(group.metadata.name, epochMs(soon));
        }
      }),
    ];
    await this.#queue.run((name, inner) => this.#reconcile(name, inner), signal);
    for (const stop of stopListening) stop();
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<PassResult | undefined> {
    const { nodeGroups, clock } = this.#deps;
    const group = nodeGroups.get(name);
    if (group === undefined) return undefined;
    const decision = await this.#decide(group, signal);
    const written = await this.#apply(group, decision, signal);
    if (written !== undefined) await nodeGroups.observedAtLeast(written, signal);
    const nextAt: EpochMs = epochMs(clock.now() + lookEveryMs);
    return { nextAt };
  }

  /** Throws CloudError. */
  async #decide(group: NodeGroup, signal: AbortSignal): Promise<NodeGroupDecision> {
    const { clock, nodes } = this.#deps;
    this.#lookedAt = clock.now();
    const known = group.spec.autoScalingGroupName;
    const groups = await this.#directory.groups(clock.now() - sharedLookMs, signal);
    return decideNodeGroup({
      group,
      scaling: groups.get(known),
      isReady: (instanceId) => {
        const node = nodeOfInstance(nodes, instanceId);
        return node !== undefined && isReady(node);
      },
      now: clock.now(),
    });
  }

  /** The spec first: dying in between, the next pass finds the same difference and goes on. */
  async #apply(
    group: NodeGroup,
    decision: NodeGroupDecision,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { kube, journal, isLeader } = this.#deps;
    const { name } = group.metadata;
    if (isLeader?.() === false) return undefined;
    let current = group;
    if (decision.desired !== undefined) {
      const { resourceVersion } = group.metadata;
      const spec = { scaling: { desired: decision.desired } };
      const body = { metadata: { resourceVersion }, spec };
      const patch = { type: 'merge', body } as const;
      const type = resourceTypes.nodegroups;
      const patched = await kube.patch<NodeGroup>(type, { name }, patch, { signal });
      if (patched.kind === 'gone') return undefined;
      journalWriteBack(journal, group, decision.desired);
      current = patched.object;
    }
    const status = decision.status(current.metadata.generation);
    const changed = await this.#writeStatus(current, status, signal);
    if (changed !== undefined) journalStatus(journal, group, status);
    return changed ?? (current === group ? undefined : current.metadata.resourceVersion);
  }

  /** The resourceVersion of the write, undefined when there was nothing to write. */
  async #writeStatus(
    group: NodeGroup,
    status: NodeGroupStatus,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const difference = mergePatchBetween(group.status, status);
    if (difference === undefined || this.#deps.isLeader?.() === false) return undefined;
    const { name, resourceVersion } = group.metadata;
    const patched = await this.#deps.kube.patch<NodeGroup>(
      resourceTypes.nodegroups,
      { name },
      {
        type: 'merge',
        body: { metadata: { resourceVersion }, status: difference },
        subresource: 'status',
      },
      { signal },
    );
    return patched.kind === 'found' ? patched.object.metadata.resourceVersion : undefined;
  }
}

/** Heartbeats and labels change nodes all the time; the group's status shows readiness alone. */
const changesReadiness = (change: Change<Node>): boolean => {
  if (instanceIdOfProviderId(change.object.spec.providerID) === undefined) return false;
  if (change.kind !== 'changed') return true;
  const { object, previous } = change;
  return isReady(object) !== isReady(previous) || previous.spec.providerID === undefined;
};
