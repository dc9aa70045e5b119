// NodeGroupUpdateSequence (drover.dev/v1alpha1): version updates of several node groups, one after
// another. `spec` is what was asked; groups and what they are to become never change. `status` is
// written by the controller alone.
import type { Condition, KubeObject } from './kube.ts';
import type { NodeGroupChange, NodeGroupUpdateStatus, UpdateStrategy } from './nodegroup-update.ts';
import type { UpdatePolicies } from './update-policy.ts';

/** What nodes are to be made of; nothing = the newest release of the group's own version. */
export type SequenceTarget = Pick<NodeGroupChange, 'version' | 'releaseVersion' | 'launchTemplate'>;

export interface SequenceGroup {
  readonly name: string;
  /** Groups of the sequence that must be done before; absent = the one before it in the list. */
  readonly after?: readonly string[];
  /** Instead of the sequence's own. */
  readonly target?: SequenceTarget;
}

export interface NodeGroupUpdateSequenceSpec {
  readonly groups: readonly SequenceGroup[];
  /** Of every group that has none of its own. */
  readonly target?: SequenceTarget;
  /** Of each update, as in a NodeGroupUpdate. */
  readonly force?: boolean;
  readonly strategy?: UpdateStrategy;
  readonly policies?: UpdatePolicies;
  /** Nothing new is begun while it is set, nor by the update that runs. */
  readonly paused?: boolean;
  /**
   * Set once, it stays. RollBack: the updates that run go back; groups that are done stay as they
   * are.
   */
  readonly abort?: 'Stop' | 'RollBack';
  /** Any new text makes a sequence that Failed or was Cancelled by its update go on. */
  readonly resume?: string;
}

/** Pending: no node was touched. Restoring: marks are taken off. */
export const sequencePhases = ['Pending', 'Rolling', 'Restoring', 'Ended'] as const;
export type SequencePhase = (typeof sequencePhases)[number];

/** EKS' words of an update, and Waiting for one whose turn has not come. */
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
  /** The NodeGroupUpdate that carries it out. */
  readonly update?: string;
  /** Which try it is, from 1 on. */
  readonly attempt: number;
  readonly message?: string;
}

export interface NodeGroupUpdateSequenceStatus {
  readonly status: NodeGroupUpdateStatus['status'];
  readonly phase: SequencePhase;
  /** Why it is where it is, in one line. */
  readonly message?: string;
  readonly groups: readonly SequenceGroupStatus[];
  readonly progress: { readonly done: number; readonly total: number };
  readonly startedAt?: string;
  readonly endedAt?: string;
  /** How it ends when all marks are off. */
  readonly ending?: Exclude<NodeGroupUpdateStatus['status'], 'InProgress'>;
  /** The generation with which it ended: a later one may make it go on. */
  readonly endedGeneration?: number;
  /** Complete: True when every group is of its target. */
  readonly conditions?: readonly Condition[];
}

export interface NodeGroupUpdateSequence extends KubeObject {
  readonly spec: NodeGroupUpdateSequenceSpec;
  readonly status?: NodeGroupUpdateSequenceStatus;
}

/** Stands before the first mark, until the last one is off. */
export const sequenceFinalizer = 'drover.dev/update-sequence';

/**
 * PreferNoSchedule on every node that is still to be rolled; its value is the sequence whose mark
 * it is. No update ever touches it: theirs has a key of its own.
 */
export const awaitingTaint = 'drover.dev/awaiting-update';

/** The value of a taint is no longer. */
export const maxSequenceName = 63;

/** On a NodeGroupUpdate: the sequence that asked for it; and the one that paused it. */
export const sequenceAnnotation = 'drover.dev/update-sequence';
export const pausedBySequenceAnnotation = 'drover.dev/paused-by-sequence';
