// Plans: core decides them, controllers run them, `plan`, `explain` and `--dry-run` print them. One
// is for a disruption, one for a node group. Every step is concrete, idempotent and carries its own
// precondition; no choice is left open.
import type { DisruptionCause, NodeDisruptionStatus, WaitingOn } from './disruption.ts';
import type { Json, JsonObject } from './json.ts';
import type { NodeGroupScaling, NodeGroupStatus } from './nodegroup.ts';
import type { NodeGroupUpdateStatus } from './nodegroup-update.ts';
import type { HookCall } from './update-hooks.ts';
import type { UpdateWaitingOn } from './update-waiting.ts';

export interface PodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export type Step =
  | {
      readonly kind: 'PatchNode';
      readonly node: string;
      /** Compared with the cache just before; inside the body too where the mode allows it. */
      readonly uid: string;
      readonly resourceVersion: string;
      readonly patch: 'merge' | 'json' | 'strategic';
      readonly body: Json;
      readonly why: string;
    }
  | {
      readonly kind: 'HeartbeatHook' | 'CompleteHook';
      readonly autoScalingGroupName: string;
      readonly hookName: string;
      readonly instanceId: string;
      readonly result?: 'CONTINUE' | 'ABANDON';
    }
  | {
      readonly kind: 'TerminateInstance';
      readonly instanceId: string;
      readonly decrementDesired: boolean;
    }
  | { readonly kind: 'RebootInstance'; readonly instanceId: string }
  | {
      readonly kind: 'WriteStatus';
      readonly disruption: string;
      readonly resourceVersion: string;
      readonly status: NodeDisruptionStatus;
    }
  | {
      /** A read past every cache, on whose answer the next pass decides. Changes nothing. */
      readonly kind: 'Confirm';
      readonly what: 'nodeEmpty' | 'noNode' | 'instance' | 'leaving' | 'replacement';
      /** Node name for nodeEmpty, else the instance id. */
      readonly subject: string;
      /** For leaving, where it is known; for replacement. */
      readonly autoScalingGroupName?: string;
    }
  | {
      /** Withdraws a cause that has lost its reason: what was done for it is undone. */
      readonly kind: 'WithdrawCause';
      readonly disruption: string;
      readonly causeId: string;
    }
  | {
      /** Removes the journal of a disruption that ended long ago. */
      readonly kind: 'DeleteDisruption';
      readonly disruption: string;
      readonly uid: string;
      readonly resourceVersion: string;
    };

export interface Plan {
  /** What the plan is for: the NodeDisruption's name. */
  readonly subject: string;
  /** In order; a failed step ends the pass, the next pass observes again. */
  readonly steps: readonly Step[];
  readonly waitingOn: readonly WaitingOn[];
  /** Epoch milliseconds of the next pass if nothing happens before; absent = only on change. */
  readonly nextCheckAt?: number;
}

/** What of a node that is begun waits for hooks. */
export interface StepHolds {
  readonly hold?: true;
  readonly holdTermination?: true;
}

export type UpdateStep =
  /** Marks the node and evicts nothing. */
  | { readonly kind: 'Hold'; readonly instanceId: string }
  /** Drains a held node from now on. */
  | { readonly kind: 'Lift'; readonly instanceId: string }
  /** Drains it at once, or with `hold` when it is lifted; its group starts another in its place. */
  | ({ readonly kind: 'Replace'; readonly instanceId: string } & StepHolds)
  /**
   * Drains it as Replace does, and ends it with decrement; one of EKS' surplus without the minute
   * between.
   */
  | ({
      readonly kind: 'Retire';
      readonly instanceId: string;
      readonly isSurplus?: true;
    } & StepHolds)
  /** Drained: its instance may be terminated. */
  | { readonly kind: 'LetGo'; readonly instanceId: string }
  /** Drains it, and keeps it, cordoned. */
  | { readonly kind: 'Empty'; readonly instanceId: string; readonly hold?: true }
  | { readonly kind: 'RunHook'; readonly call: HookCall }
  /** PreferNoSchedule, where nothing else is said: pods that move land on new nodes. */
  | {
      readonly kind: 'Discourage';
      readonly nodeName: string;
      readonly effect?: 'NoSchedule';
    }
  | { readonly kind: 'Encourage'; readonly nodeName: string }
  /** The cluster autoscaler takes no node of the group meanwhile. */
  | { readonly kind: 'Shield'; readonly nodeName: string }
  | { readonly kind: 'Unshield'; readonly nodeName: string }
  /** Tells by a label that the node waits for somebody to look at it. */
  | { readonly kind: 'Quarantine'; readonly nodeName: string }
  | { readonly kind: 'Unquarantine'; readonly nodeName: string }
  /** The update begins nothing more until somebody resumes it. */
  | { readonly kind: 'Pause' }
  | { readonly kind: 'Resume'; readonly processes: readonly string[] }
  /** All instance types of the group, in people's order. */
  | { readonly kind: 'RestoreTypes' }
  | { readonly kind: 'Withdraw'; readonly instanceId: string }
  /** Sets the Auto Scaling group's desired capacity: it chooses which instance goes. */
  | { readonly kind: 'Lower'; readonly desired: number }
  /** New instances are of the revision again that was there before. */
  | { readonly kind: 'RestoreTemplate' };

/** Fields of an update's status and their next value; undefined takes one away. */
export type UpdateStatusChange = {
  readonly [Field in keyof NodeGroupUpdateStatus]?: NodeGroupUpdateStatus[Field] | undefined;
};

/** An Auto Scaling group's sizes. */
export interface Sizes {
  readonly minSize: number;
  readonly maxSize: number;
  readonly desired: number;
}

/** The sizes that one call sets. */
export interface SizeChange {
  readonly minSize?: number;
  readonly maxSize?: number;
  readonly desiredCapacity?: number;
}

/** What the group's status records before the effects that follow it; the rest is what is seen. */
export interface GroupRecord {
  /** How many instances the group is to have. */
  readonly target: number;
  readonly surge: NonNullable<NodeGroupStatus['surge']>;
  readonly scaleIn: NodeGroupStatus['scaleIn'];
  readonly failure: NodeGroupStatus['failure'];
  readonly updating: NodeGroupStatus['updating'];
  /** Absent: as the status has them. */
  readonly sizeCalls?: NodeGroupStatus['sizeCalls'];
}

export type GroupStep =
  /** The spec follows sizes that were set from outside. Refused where it has changed since. */
  | {
      readonly kind: 'WriteSpecSizes';
      readonly group: string;
      readonly from: NodeGroupScaling;
      readonly scaling: NodeGroupScaling;
    }
  | { readonly kind: 'WriteGroupStatus'; readonly group: string; readonly record: GroupRecord }
  /** Refused where the update's journal has changed since. */
  | {
      readonly kind: 'WriteUpdateStatus';
      readonly update: string;
      readonly resourceVersion: string;
      readonly change: UpdateStatusChange;
    }
  /** The target of an update is looked up, and its template version made; nothing uses it yet. */
  | { readonly kind: 'PrepareUpdate'; readonly update: string; readonly desired: number }
  /** New instances are started from that version, of these types. */
  | {
      readonly kind: 'UseTemplate';
      readonly update: string;
      readonly version: string;
      /** Absent: the types stay. */
      readonly overrides?: readonly JsonObject[];
    }
  | {
      readonly kind: 'SuspendProcesses';
      readonly autoScalingGroupName: string;
      readonly processes: readonly string[];
    }
  /** What an earlier leader suspended late, for updates (by uid) that had ended by `endedAt`. */
  | {
      readonly kind: 'ResumeLate';
      readonly processes: readonly string[];
      readonly updates: readonly string[];
      readonly endedAt: string;
    }
  /** Cancels causes of requests that no longer apply. Skipped where the instance is terminating. */
  | {
      readonly kind: 'WithdrawCauses';
      readonly disruption: string;
      readonly causeIds: readonly string[];
    }
  /** Nothing is set where the sizes, or the number of members, are other than expected. */
  | {
      readonly kind: 'SetSizes';
      readonly autoScalingGroupName: string;
      readonly expected: Sizes;
      readonly members: number;
      readonly change: SizeChange;
    }
  /** Has an instance drained. */
  | {
      readonly kind: 'RecordCause';
      readonly disruption: string;
      readonly nodeName?: string;
      readonly cause: DisruptionCause;
    }
  /** Skipped where the instance is not drained any more, or the group is not above the target. */
  | {
      readonly kind: 'TerminateMember';
      readonly instanceId: string;
      readonly scaleIn: { readonly id: string; readonly target: number };
    }
  | UpdateStep
  /** Jobs of hooks that ended well go with the update. */
  | { readonly kind: 'ClearHooks'; readonly update: string }
  /** The last write of an update, after everything else is told. */
  | {
      readonly kind: 'EndUpdate';
      readonly update: string;
      readonly end: Pick<NodeGroupUpdateStatus, 'status' | 'message'>;
    };

/** Why a node group is not yet as its spec says. */
export type GroupWaiting =
  /** Nodes are being drained for a scale-in or a delete: the first 20, by NodeDisruption. */
  | {
      readonly kind: 'drains';
      readonly disruptions: readonly string[];
      readonly total: number;
    }
  /** Auto Scaling has not started so many instances yet. */
  | { readonly kind: 'instances'; readonly missing: number }
  /** Its update has not gone on. */
  | { readonly kind: 'update'; readonly update: string; readonly waitingOn: UpdateWaitingOn };

export interface GroupPlan {
  /** The node group's name. */
  readonly subject: string;
  /** In order; a failed step ends the pass, the next pass observes again. */
  readonly steps: readonly GroupStep[];
  readonly waitingOn: readonly GroupWaiting[];
  /** Epoch milliseconds of the next pass if nothing happens before; absent = the usual one. */
  readonly nextCheckAt?: number;
}
