// Applies the zone shift of drain policies: after each change of a group, and every 30 s for
// members that have joined since. Records and withdraws causes with a hold; the disruption
// controller sets the marks. Queries the cloud only while a zone shift is requested or recorded.
import { type EpochMs, epochMs } from '../../api/brand.ts';
import type { ScalingInstance } from '../../api/cloud.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import { autoScalingGroupNameOf, type NodeGroup } from '../../api/nodegroup.ts';
import {
  decideZoneShift,
  isZoneShift,
  type ShiftAction,
  shiftedZonesOf,
} from '../../core/termination/index.ts';
import { allSynced, type Informer, type PassResult, WorkQueue } from '../../runtime/index.ts';
import type { BaseDeps } from '../base-deps.ts';
import { recordCause, withdrawCause } from '../causes.ts';
import { GroupDirectory } from '../group-directory.ts';
import { nodeOfInstance } from '../informers.ts';

export interface ZoneShiftDeps extends BaseDeps {
  readonly disruptions: Informer<NodeDisruption>;
}

const lookEveryMs = 30_000;

export const createZoneShiftController = (
  deps: ZoneShiftDeps,
): { run(signal: AbortSignal): Promise<void> } => {
  const shifts = new ZoneShifts(deps);
  return { run: (signal) => shifts.run(signal) };
};

class ZoneShifts {
  readonly #deps: ZoneShiftDeps;
  readonly #directory: GroupDirectory;
  readonly #queue: WorkQueue<string>;
  /** Groups in which a zone shift was observed: the end of the shift is a change, too. */
  readonly #shifted = new Set<string>();

  constructor(deps: ZoneShiftDeps) {
    this.#deps = deps;
    this.#directory = new GroupDirectory(deps);
    this.#queue = new WorkQueue({ ...deps, name: 'zone-shift', concurrency: 1 });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { nodeGroups, nodes, disruptions } = this.#deps;
    if (!(await allSynced([nodeGroups, nodes, disruptions], signal))) return;
    for (const { spec } of disruptions.list()) {
      const { nodeGroup, causes } = spec;
      if (nodeGroup === undefined || !causes.some(isZoneShift)) continue;
      this.#shifted.add(nodeGroup);
      // The node group may have been deleted.
      this.#queue.add(nodeGroup);
    }
    const stop = nodeGroups.onChange(({ object }) => {
      const { name } = object.metadata;
      const isOurs = this.#shifted.has(name) || object.spec.drain?.zoneShift !== undefined;
      if (isOurs) this.#queue.add(name);
    });
    await this.#queue.run((name, inner) => this.#pass(name, inner), signal);
    stop();
  }

  /** Throws CloudError and KubeError: the queue tries again. */
  async #pass(name: string, signal: AbortSignal): Promise<PassResult | undefined> {
    const { clock, nodeGroups, nodes, disruptions } = this.#deps;
    const group = nodeGroups.get(name);
    const now: EpochMs = clock.now();
    const zones = shiftedZonesOf(group);
    const isShifting = zones.size > 0;
    if (isShifting) this.#shifted.add(name);
    const actions = decideZoneShift(
      {
        groupName: name,
        zones,
        instances: group === undefined ? [] : await this.#membersOf(group, signal),
        disruptions: disruptions.list(),
        nodeNameOf: (instanceId) => nodeOfInstance(nodes, instanceId)?.metadata.name,
      },
      now,
    );
    for (const action of actions) await this.#apply(action, signal);
    if (!isShifting) {
      this.#shifted.delete(name);
      return undefined;
    }
    return { nextAt: epochMs(now + lookEveryMs) };
  }

  async #membersOf(group: NodeGroup, signal: AbortSignal): Promise<readonly ScalingInstance[]> {
    const groups = await this.#directory.groups(this.#deps.clock.now(), signal);
    return groups.get(autoScalingGroupNameOf(group))?.instances ?? [];
  }

  async #apply(action: ShiftAction, signal: AbortSignal): Promise<void> {
    if (action.kind === 'withdraw') await withdrawCause(this.#deps, action, signal);
    else await recordCause(this.#deps, { ...action, untilSeen: true }, signal);
  }
}
