// The input of a node group's plan: the group, its Auto Scaling group, updates, drains, what was
// read about them, and the time. No behaviour.
import type { EpochMs } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { JsonObject } from '../../api/json.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { Candidate, Left } from '../nodegroup/index.ts';
import type { UpdateObservation } from '../update/index.ts';

/** A version update that has a target and has not ended. */
export interface RolloutFacts {
  readonly observation: UpdateObservation;
  /** Instance types for Auto Scaling to choose among during the update; absent: unchanged. */
  readonly overrides?: readonly JsonObject[];
  /** The update's last step was rejected, and retrying cannot help. */
  readonly isStuck: boolean;
  /**
   * The record that the API server did not store in the group's status, and how often it was
   * written.
   */
  readonly noting?: { readonly text: string; readonly times: number };
  /** The group has health probes, which run at their own intervals. */
  readonly isProbed: boolean;
}

export interface GroupObservation {
  readonly group: NodeGroup;
  readonly scaling: ScalingGroup;
  /** All known updates, those of other groups included. */
  readonly updates: readonly NodeGroupUpdate[];
  readonly disruptions: readonly NodeDisruption[];
  /** Node names by instance id. */
  readonly nodeNames: ReadonlyMap<string, string>;
  /** Instances that left the group with decrement. */
  readonly left: Left;
  /** The update or change in progress, with its status as last written. */
  readonly update?: NodeGroupUpdate | undefined;
  readonly rollout?: RolloutFacts | undefined;
  /** Instances among which a scale-in chooses; absent: there is nothing to choose. */
  readonly candidates?: readonly Candidate[];
  /** When a finding about missing nodes changes without any event. */
  readonly healthNextAt?: EpochMs | undefined;
  /** UIDs of the updates whose late suspension was already undone. */
  readonly resumedFor?: ReadonlySet<string> | undefined;
  /** The leader's term; absent: no other process ever leads. */
  readonly epoch?: number | undefined;
  readonly now: EpochMs;
}

/** NodeDisruptions by name, which is the instance id. */
export type Records = ReadonlyMap<string, NodeDisruption>;

export const recordsOf = (disruptions: readonly NodeDisruption[]): Records =>
  new Map(disruptions.map((one) => [one.metadata.name, one]));
