// What a node group's plan is decided on: the group, its Auto Scaling group, updates and drains,
// what was looked up about either, the time. No behaviour.
import type { EpochMs } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { JsonObject } from '../../api/json.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { Candidate, Left } from '../nodegroup/index.ts';
import type { UpdateObservation } from '../update/index.ts';

/** Of a version update that has a target and has not ended. */
export interface RolloutFacts {
  readonly observation: UpdateObservation;
  /** The instance types that Auto Scaling is to choose among meanwhile; absent: as they are. */
  readonly overrides?: readonly JsonObject[];
  /** Its last step was refused for good. */
  readonly isStuck: boolean;
  /** The record of it that the group's status would not keep, and how often it was written. */
  readonly noting?: { readonly text: string; readonly times: number };
  /** The group has health probes, which have intervals of their own. */
  readonly isProbed: boolean;
}

export interface GroupObservation {
  readonly group: NodeGroup;
  readonly scaling: ScalingGroup;
  /** All that are known, of other groups too. */
  readonly updates: readonly NodeGroupUpdate[];
  readonly disruptions: readonly NodeDisruption[];
  /** The names of nodes, by the ids of their instances. */
  readonly nodeNames: ReadonlyMap<string, string>;
  /** Instances that left their group with their places. */
  readonly left: Left;
  /** The update or change that is open now, with its status as last written. */
  readonly update?: NodeGroupUpdate | undefined;
  readonly rollout?: RolloutFacts | undefined;
  /** Instances among which a scale-in chooses; absent: none has to be chosen. */
  readonly candidates?: readonly Candidate[];
  /** When what was found out about missing nodes changes by time alone. */
  readonly healthNextAt?: EpochMs | undefined;
  /** Updates whose late suspension was taken back already, by uid. */
  readonly resumedFor?: ReadonlySet<string> | undefined;
  /** Of the leader's term; absent: no other process ever leads. */
  readonly epoch?: number | undefined;
  readonly now: EpochMs;
}

/** NodeDisruptions by their names, which are instance ids. */
export type Records = ReadonlyMap<string, NodeDisruption>;

export const recordsOf = (disruptions: readonly NodeDisruption[]): Records =>
  new Map(disruptions.map((one) => [one.metadata.name, one]));
