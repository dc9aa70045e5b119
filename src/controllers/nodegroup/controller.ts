// Reconciles each NodeGroup: creates its Auto Scaling group, applies its sizes, labels and taints,
// deletes it, and reports its status. Runs every 15 s and when one of its objects changes.
import { type EpochMs, epochMs, instanceIdOfProviderId } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import { isReady } from '../../api/conditions.ts';
import type { Node } from '../../api/kube.ts';
import { autoScalingGroupNameOf, type NodeGroup, nodeGroupFinalizer } from '../../api/nodegroup.ts';
import {
  allSynced,
  type Change,
  NotLeader,
  type PassResult,
  WorkQueue,
} from '../../runtime/index.ts';
import { GroupDirectory } from '../group-directory.ts';
import { isInService } from '../informers.ts';
import type { NodeGroupDeps } from './deps.ts';
import { mayBeMade, PassMemories } from './memory.ts';
import { NodeRoles } from './nodes/node-roles.ts';
import { Pass } from './pass.ts';
import type { PassMemory } from './pass-input.ts';
import { releaseUpdates } from './update/records.ts';
import { addFinalizer } from './write.ts';

export type { NodeGroupDeps } from './deps.ts';

export interface NodeGroupController {
  run(signal: AbortSignal): Promise<void>;
}

const lookEveryMs = 15_000;
/** One read of the cloud serves all groups that need one within this time. */
const sharedLookMs = 5_000;
/** While instances launch or terminate; one read serves all groups that are updated. */
const movingLookMs = 500;
/** Nodes change in bursts, and then the cloud does: changes are batched into one pass. */
const gatherMs = 1_000;
/** A pass is O(instances), so large groups are reconciled less often, up to this interval. */
const longestGatherMs = 5_000;
/** Node changes cause at most one read of the cloud per this interval. */
const busyLookMs = 4_000;
/** A group with at least this many instances counts as large. */
const largeGroup = 300;
const concurrency = 4;

export const createNodeGroupController = (deps: NodeGroupDeps): NodeGroupController => {
  const controller = new NodeGroups(deps);
  return { run: (signal) => controller.run(signal) };
};

class NodeGroups {
  readonly #deps: NodeGroupDeps;
  readonly #directory: GroupDirectory;
  readonly #queue: WorkQueue<string>;
  readonly #memories = new PassMemories();
  readonly #roles: NodeRoles;
  #lookedAt = 0;

  constructor(deps: NodeGroupDeps) {
    this.#deps = deps;
    this.#directory = new GroupDirectory(deps);
    this.#roles = new NodeRoles(deps);
    this.#queue = new WorkQueue({ ...deps, name: 'nodegroup', concurrency });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { nodeGroups, nodes, disruptions, updates, repairs } = this.#deps;
    const all = [nodeGroups, nodes, disruptions, updates, repairs];
    if (!(await allSynced(all, signal))) return;
    const stopListening = this.#listen();
    await this.#queue.run((name, inner) => this.#reconcile(name, inner), signal);
    for (const stop of stopListening) stop();
  }

  #listen(): readonly (() => void)[] {
    const { nodeGroups, nodes, disruptions, updates, repairs, clock } = this.#deps;
    return [
      nodeGroups.onChange(({ object }) => this.#queue.add(object.metadata.name)),
      updates.onChange(({ object }) => this.#queue.add(object.spec.nodeGroup)),
      // A group's health about repairs changes when a repair ends.
      repairs.onChange(({ object }) => {
        if (object.status?.endedAt !== undefined) this.#queue.add(object.spec.nodeGroup);
      }),
      disruptions.onChange(({ object }) => {
        const { nodeGroup, causes } = object.spec;
        const isOurs = causes.some(({ kind }) => kind === 'ScaleIn' || kind === 'Update');
        if (isOurs && nodeGroup !== undefined) this.#recordChanged(nodeGroup);
      }),
      nodes.onChange((change) => {
        if (!matters(change)) return;
        // The cloud decides to which group a node belongs, not a label. There are few groups, so
        // all are enqueued.
        const soon = Math.max(clock.now() + gatherMs, this.#lookedAt + busyLookMs);
        for (const group of nodeGroups.list()) {
          this.#queue.addAfter(group.metadata.name, epochMs(soon));
        }
      }),
    ];
  }

  /**
   * Many records of a large group change together, and each pass is O(instances): changes are
   * batched into one pass.
   */
  #recordChanged(nodeGroup: string): void {
    const { nodeGroups, clock } = this.#deps;
    const instances = nodeGroups.get(nodeGroup)?.status?.instances ?? 0;
    if (instances < largeGroup) this.#queue.add(nodeGroup);
    else {
      const gather = Math.min(longestGatherMs, instances);
      this.#queue.addAfter(nodeGroup, epochMs(clock.now() + gather));
    }
  }

  /**
   * Reads the Auto Scaling group. After a request in the spec or an effect of Drover's it is read
   * again; otherwise groups share one read.
   */
  async #look(
    group: NodeGroup,
    memory: PassMemory,
    signal: AbortSignal,
  ): Promise<ScalingGroup | undefined> {
    const { clock, cloud } = this.#deps;
    const name = autoScalingGroupNameOf(group);
    const oldest = clock.now() - (memory.isMoving === true ? movingLookMs : sharedLookMs);
    this.#lookedAt = clock.now();
    const isNew = group.metadata.generation !== group.status?.observedGeneration;
    if (isNew || memory.actedAt >= clock.now() - sharedLookMs) {
      memory.lookedAt = clock.now();
      return (await cloud.describeGroups([name], { signal }))[0];
    }
    // An older read would not show Drover's own last change.
    const notBefore = Math.max(oldest, memory.lookedAt + 1);
    return (await this.#directory.groups(notBefore, signal)).get(name);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<PassResult | undefined> {
    const { nodeGroups, clock } = this.#deps;
    const group = nodeGroups.get(name);
    if (group === undefined) {
      this.#memories.forget(name);
      // The NodeGroup is gone, so its updates no longer need their finalizers.
      await releaseUpdates(this.#deps, name, { isGroupGone: true }, signal);
      return undefined;
    }
    const memory = this.#memories.of(group);
    let nextAt: EpochMs | undefined;
    try {
      if (!(group.metadata.finalizers ?? []).includes(nodeGroupFinalizer)) {
        // Without the finalizer Drover owns nothing in the cloud, or has already released the
        // object.
        if (group.metadata.deletionTimestamp !== undefined) return undefined;
        const held = await addFinalizer(this.#deps, group, signal);
        if (held !== undefined) {
          await nodeGroups.observedAtLeast(held.metadata.resourceVersion, signal);
        }
        return { nextAt: clock.now() };
      }
      const scaling = await this.#look(group, memory, signal);
      const pass = new Pass(this.#deps, { group, scaling, memory, roles: this.#roles, signal });
      nextAt = await pass.run();
    } catch (error) {
      if (!(error instanceof NotLeader)) throw error;
      // This process no longer leads; the current leader may create the Auto Scaling group.
      mayBeMade(memory);
    }
    const regular = epochMs(clock.now() + lookEveryMs);
    return { nextAt: nextAt === undefined ? regular : epochMs(Math.min(nextAt, regular)) };
  }
}

/**
 * Heartbeats change nodes all the time; a group needs a pass only for changes of membership and
 * readiness.
 */
const matters = (change: Change<Node>): boolean => {
  if (instanceIdOfProviderId(change.object.spec.providerID) === undefined) return false;
  if (change.kind !== 'changed') return true;
  const { object, previous } = change;
  const isAnother = object.metadata.uid !== previous.metadata.uid;
  const isReadier =
    isReady(object) !== isReady(previous) || isInService(object) !== isInService(previous);
  return isAnother || isReadier || previous.spec.providerID === undefined;
};
