// Makes each NodeGroup true: creates what it asks for, carries out its sizes, labels and taints,
// ends it, and tells in its status what is there. Every 15 s and when something of it changes.
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
/** One look at the cloud serves all groups that want one within this time. */
const sharedLookMs = 5_000;
/** Where instances come and go; one look serves all groups that are updated. */
const movingLookMs = 500;
/** Nodes change in flocks, and the cloud follows: gathered into one pass. */
const gatherMs = 1_000;
/** A pass costs what all instances do: a group of thousands has so many fewer of them. */
const longestGatherMs = 5_000;
/** Where many nodes come and go, the cloud is still asked at most this often because of them. */
const busyLookMs = 4_000;
/** From so many instances on. */
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
    try {
      await allSynced(all, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    const stopListening = this.#listen();
    await this.#queue.run((name, inner) => this.#reconcile(name, inner), signal);
    for (const stop of stopListening) stop();
  }

  #listen(): readonly (() => void)[] {
    const { nodeGroups, nodes, disruptions, updates, repairs, clock } = this.#deps;
    return [
      nodeGroups.onChange(({ object }) => this.#queue.add(object.metadata.name)),
      updates.onChange(({ object }) => this.#queue.add(object.spec.nodeGroup)),
      // What a group's health says of repairs changes when one ends.
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
        // Which group it belongs to is the cloud's word, not a label's; groups are few.
        const soon = Math.max(clock.now() + gatherMs, this.#lookedAt + busyLookMs);
        for (const group of nodeGroups.list()) {
          this.#queue.addAfter(group.metadata.name, epochMs(soon));
        }
      }),
    ];
  }

  /**
   * Of a large group many records change together, and each pass costs what all its instances do:
   * they are gathered into one.
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
   * The Auto Scaling group. A request is compared with what is there now, and so is what follows an
   * effect of ours; otherwise one look serves all groups.
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
    // Never back in time: an older look would show our own change undone.
    const notBefore = Math.max(oldest, memory.lookedAt + 1);
    return (await this.#directory.groups(notBefore, signal)).get(name);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<PassResult | undefined> {
    const { nodeGroups, clock } = this.#deps;
    const group = nodeGroups.get(name);
    if (group === undefined) {
      this.#memories.forget(name);
      // Its updates are released with it.
      await releaseUpdates(this.#deps, name, { isGroupGone: true }, signal);
      return undefined;
    }
    const memory = this.#memories.of(group);
    let nextAt: EpochMs | undefined;
    try {
      if (!(group.metadata.finalizers ?? []).includes(nodeGroupFinalizer)) {
        // Without it nothing of ours stands in the cloud, or nobody waits for us any more.
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
      // Whoever leads may make it.
      mayBeMade(memory);
    }
    const regular = epochMs(clock.now() + lookEveryMs);
    return { nextAt: nextAt === undefined ? regular : epochMs(Math.min(nextAt, regular)) };
  }
}

/**
 * Heartbeats change nodes all the time; a group is concerned by who is there and who is in service.
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
