// NodeGroupUpdateSequence (drover.dev/v1alpha1): version updates of several node groups, one after
// another. `spec` is the request; its groups and their targets are immutable. Only the controller
// writes `status`.
import type { Condition, KubeObject } from './kube.ts';
import type { NodeGroupChange, NodeGroupUpdateStatus, UpdateStrategy } from './nodegroup-update.ts';
import type { UpdatePolicies } from './update-policy.ts';

/** The target revision of nodes; empty = the newest release of the group's own version. */
export type SequenceTarget = Pick<NodeGroupChange, 'version' | 'releaseVersion' | 'launchTemplate'>;

export interface SequenceGroup {
  readonly name: string;
  /** Groups of the sequence that must be done first; absent = the previous one in the list. */
  readonly after?: readonly string[];
  /** Overrides the target of the sequence. */
  readonly target?: SequenceTarget;
}

export interface NodeGroupUpdateSequenceSpec {
  readonly groups: readonly SequenceGroup[];
  /** For every group without a target of its own. */
  readonly target?: SequenceTarget;
  /** For each update, as in a NodeGroupUpdate. */
  readonly force?: boolean;
  readonly strategy?: UpdateStrategy;
  readonly policies?: UpdatePolicies;
  /** While true, no node is started, including by the running update. */
  readonly paused?: boolean;
  /** Cannot be unset. RollBack: running updates are rolled back; completed groups stay updated. */
  readonly abort?: 'Stop' | 'RollBack';
  /** Any new text continues a sequence that Failed or was Cancelled by its update. */
  readonly resume?: string;
}

/** Pending: no node was touched. Restoring: taints are being removed. */
export const sequencePhases = ['Pending', 'Rolling', 'Restoring', 'Ended'] as const;
export type SequencePhase = (typeof sequencePhases)[number];

/** EKS' statuses of an update, and Waiting before a group's turn. */
export const sequenceGroupStates = [
  'Waiting',
  'InProgress',
  'Successful',
  'Failed',
  'Cancelled',
] as const;
export type SequenceGroupState = (typeof sequenceGroupStates)[number];

export interface SequenceGroupStatus {
  readonly name: string;
  readonly status: SequenceGroupState;
  /** The NodeGroupUpdate of the group. */
  readonly update?: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  readonly message?: string;
}

export interface NodeGroupUpdateSequenceStatus {
  readonly status: NodeGroupUpdateStatus['status'];
  readonly phase: SequencePhase;
  /** The current state in one line. */
  readonly message?: string;
  readonly groups: readonly SequenceGroupStatus[];
  readonly progress: { readonly done: number; readonly total: number };
  readonly startedAt?: string;
  readonly endedAt?: string;
  /** The sequence's result once all its taints are removed. */
  readonly ending?: Exclude<NodeGroupUpdateStatus['status'], 'InProgress'>;
  /** The generation with which it ended: a later one may continue it. */
  readonly endedGeneration?: number;
  /** Complete: True when every group has its target. */
  readonly conditions?: readonly Condition[];
}

export interface NodeGroupUpdateSequence extends KubeObject {
  readonly spec: NodeGroupUpdateSequenceSpec;
  readonly status?: NodeGroupUpdateSequenceStatus;
}

/** Set before the first node is tainted and removed after the last taint is removed. */
export const sequenceFinalizer = 'drover.dev/update-sequence';

/**
 * PreferNoSchedule on every node that is still to be updated; its value is the sequence that set
 * it. Updates never touch it: they use another key.
 */
export const awaitingTaint = 'drover.dev/awaiting-update';

/** The maximum length of a taint's value, since the sequence's name is the value. */
export const maxSequenceName = 63;

/** On a NodeGroupUpdate: the sequence that requested it; and the one that paused it. */
export const sequenceAnnotation = 'drover.dev/update-sequence';
export const pausedBySequenceAnnotation = 'drover.dev/paused-by-sequence';
