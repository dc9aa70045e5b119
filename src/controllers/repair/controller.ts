// Watches the health of nodes in groups with node repair: observes a group, asks core/repair,
// writes its NodeRepairs and records causes on NodeDisruptions. Drains, reboots and terminates
// nothing.
import { type EpochMs, epochMs } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import { jsonEqual } from '../../api/json.ts';
import type { Node } from '../../api/kube.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import { autoScalingGroupNameOf, type NodeGroup } from '../../api/nodegroup.ts';
import { decideRepairs, repairModeOf } from '../../core/repair/index.ts';
import {
  allSynced,
  type Change,
  NotLeader,
  type PassResult,
  WorkQueue,
} from '../../runtime/index.ts';
import { GroupDirectory } from '../group-directory.ts';
import { Applier } from './apply.ts';
import type { RepairDeps } from './deps.ts';
import { Observer } from './observe.ts';

/** Many nodes become unhealthy together: their changes are batched into one pass. */
const gatherMs = 1_000;
/** The members of a group are read again after this time. */
const membersKeptMs = 15_000;

export const createRepairController = (
  deps: RepairDeps,
): { run(signal: AbortSignal): Promise<void> } => {
  const controller = new Repairs(deps);
  return { run: (signal) => controller.run(signal) };
};

class Repairs {
  readonly #deps: RepairDeps;
  readonly #directory: GroupDirectory;
  readonly #observer: Observer;
  readonly #applier: Applier;
  readonly #queue: WorkQueue<string>;

  constructor(deps: RepairDeps) {
    this.#deps = deps;
    this.#directory = new GroupDirectory(deps);
    this.#observer = new Observer(deps);
    this.#applier = new Applier(deps);
    this.#queue = new WorkQueue({ ...deps, name: 'repair', concurrency: 1 });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { nodeGroups, nodes, disruptions, repairs } = this.#deps;
    const all = [nodeGroups, nodes, disruptions, repairs];
    if (!(await allSynced(all, signal))) return;
    const stopListening = this.#listen();
    await this.#queue.run((name, inner) => this.#reconcile(name, inner), signal);
    for (const stop of stopListening) stop();
  }

  #listen(): readonly (() => void)[] {
    const { nodeGroups, nodes, disruptions, repairs } = this.#deps;
    return [
      nodeGroups.onChange(({ object }) => this.#queue.add(object.metadata.name)),
      nodes.onChange((change) => {
        this.#observer.saw(change);
        if (concernsHealth(change)) this.#wakeAll();
      }),
      repairs.onChange(({ object }) => this.#queue.add(object.spec.nodeGroup)),
      disruptions.onChange(({ object }) => {
        const { nodeGroup } = object.spec;
        if (nodeGroup !== undefined) this.#wake(nodeGroup);
      }),
    ];
  }

  #wake(group: string): void {
    if (!this.#isConcerned(group)) return;
    this.#queue.addAfter(group, epochMs(this.#deps.clock.now() + gatherMs));
  }

  #wakeAll(): void {
    for (const { metadata } of this.#deps.nodeGroups.list()) this.#wake(metadata.name);
  }

  /** Most groups have no node repair: for them the cloud is not called. */
  #isConcerned(name: string): boolean {
    const group = this.#deps.nodeGroups.get(name);
    if (group !== undefined && repairModeOf(group) !== 'Off') return true;
    return this.#repairsOf(name).length > 0;
  }

  #repairsOf(name: string): readonly NodeRepair[] {
    return this.#deps.repairs.list().filter(({ spec }) => spec.nodeGroup === name);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<PassResult | undefined> {
    const group = this.#deps.nodeGroups.get(name);
    if (!this.#isConcerned(name)) return undefined;
    const repairs = this.#repairsOf(name);
    try {
      if (group === undefined) {
        await this.#applier.forget(repairs, signal);
        return undefined;
      }
      const nextAt = await this.#pass(group, repairs, signal);
      return nextAt === undefined ? undefined : { nextAt };
    } catch (error) {
      if (!(error instanceof NotLeader)) throw error;
      return undefined;
    }
  }

  async #pass(
    group: NodeGroup,
    repairs: readonly NodeRepair[],
    signal: AbortSignal,
  ): Promise<EpochMs | undefined> {
    const { clock } = this.#deps;
    const groups = await this.#directory.groups(clock.now() - membersKeptMs, signal);
    const scaling = groups.get(autoScalingGroupNameOf(group)) ?? afterDeletion(group);
    // A group that Auto Scaling does not know has no instances to repair.
    if (scaling === undefined) return epochMs(clock.now() + membersKeptMs);
    const observation = await this.#observer.observe(group, { scaling, repairs }, signal);
    const plan = decideRepairs(observation);
    await this.#applier.run(plan, group, signal);
    return plan.nextCheckAt;
  }
}

/** A deleted group has no members, but may have instances in quarantine, which end with it. */
const afterDeletion = ({ metadata, spec }: NodeGroup): ScalingGroup | undefined => {
  if (metadata.deletionTimestamp === undefined) return undefined;
  const { autoScalingGroupName: name = metadata.name } = spec;
  const sizes = { minSize: 0, maxSize: 0, desiredCapacity: 0 };
  return { name, ...sizes, createdAt: metadata.creationTimestamp, instances: [], tags: {} };
};

/**
 * Whether a change of a Node concerns repairs: readiness, a condition of the agent, an operator's
 * annotation, a new boot, or the Node's deletion.
 */
const concernsHealth = (change: Change<Node>): boolean => {
  if (change.kind !== 'changed') return true;
  const { object, previous } = change;
  return (
    !jsonEqual(object.status, previous.status) ||
    !jsonEqual(object.metadata.annotations, previous.metadata.annotations)
  );
};
