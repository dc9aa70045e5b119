// Plans: core decides them, controllers run them, `plan`, `explain` and `--dry-run` print them. One
// type is for a disruption, one for a node group. Every step is concrete, idempotent and carries
// its own precondition; no choice is left open.
import type { DisruptionCause, NodeDisruptionStatus, WaitingOn } from './disruption.ts';
import type { Json, JsonObject } from './json.ts';
import type { LifecycleStep } from './lifecycle-steps.ts';
import type { HealthIssue, NodeGroupScaling, NodeGroupStatus } from './nodegroup.ts';
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
      /**
       * Compared with the cache just before the call; most patches also carry it as a precondition.
       */
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
      /** The instance is in no Auto Scaling group. */
      readonly isDetached?: true;
    }
  /** Takes the instance out of its group, which launches another one. */
  | {
      readonly kind: 'DetachInstance';
      readonly instanceId: string;
      readonly autoScalingGroupName: string;
    }
  | { readonly kind: 'RebootInstance'; readonly instanceId: string }
  | {
      readonly kind: 'WriteStatus';
      readonly disruption: string;
      readonly resourceVersion: string;
      readonly status: NodeDisruptionStatus;
    }
  | {
      /**
       * Reads from the API past every cache; the next pass decides on the answer. Changes nothing.
       */
      readonly kind: 'Confirm';
      readonly what: 'nodeEmpty' | 'noNode' | 'instance' | 'leaving' | 'replacement';
      /** Node name for nodeEmpty, else the instance id. */
      readonly subject: string;
      /** For leaving, where known; for replacement. */
      readonly autoScalingGroupName?: string;
    }
  | {
      /** Withdraws a cause that has lost its reason; its effects are undone. */
      readonly kind: 'WithdrawCause';
      readonly disruption: string;
      readonly causeId: string;
    }
  | {
      /** Deletes the journal of a disruption that ended long ago. */
      readonly kind: 'DeleteDisruption';
      readonly disruption: string;
      readonly uid: string;
      readonly resourceVersion: string;
    };

export interface Plan {
  /** The NodeDisruption's name. */
  readonly subject: string;
  /** In order; a failed step ends the pass, the next pass observes again. */
  readonly steps: readonly Step[];
  readonly waitingOn: readonly WaitingOn[];
  /** Epoch milliseconds of the next pass if no event arrives earlier; absent = only on change. */
  readonly nextCheckAt?: number;
}

/** Which parts of a node's drain wait for hooks. */
export interface StepHolds {
  readonly hold?: true;
  readonly holdTermination?: true;
}

export type UpdateStep =
  /** Cordons and taints the node and evicts nothing. */
  | { readonly kind: 'Hold'; readonly instanceId: string }
  /** Ends the hold of a node and drains it. */
  | { readonly kind: 'Lift'; readonly instanceId: string }
  /** Drains it at once, or with `hold` when the hold ends; the group launches a replacement. */
  | ({ readonly kind: 'Replace'; readonly instanceId: string } & StepHolds)
  /**
   * Drains it like Replace, then terminates it and decrements the desired size. Surplus nodes of
   * EKS' strategies are terminated without a cooldown.
   */
  | ({
      readonly kind: 'Retire';
      readonly instanceId: string;
      readonly isSurplus?: true;
    } & StepHolds)
  /** Allows the termination of a drained instance. */
  | { readonly kind: 'LetGo'; readonly instanceId: string }
  /** Drains it and keeps it cordoned. */
  | { readonly kind: 'Empty'; readonly instanceId: string; readonly hold?: true }
  | { readonly kind: 'RunHook'; readonly call: HookCall }
  /**
   * Sets the taint on old nodes with effect PreferNoSchedule, or `effect`, so that evicted pods
   * move to new nodes.
   */
  | {
      readonly kind: 'Discourage';
      readonly nodeName: string;
      readonly effect?: 'NoSchedule';
    }
  | { readonly kind: 'Encourage'; readonly nodeName: string }
  /** Sets the scale-down-disabled annotation, so that the cluster autoscaler keeps the nodes. */
  | { readonly kind: 'Shield'; readonly nodeName: string }
  | { readonly kind: 'Unshield'; readonly nodeName: string }
  /** Labels the node for inspection by an operator. */
  | { readonly kind: 'Quarantine'; readonly nodeName: string }
  | { readonly kind: 'Unquarantine'; readonly nodeName: string }
  /** The update starts no further node until an operator resumes it. */
  | { readonly kind: 'Pause' }
  | { readonly kind: 'Resume'; readonly processes: readonly string[] }
  /** Restores all instance types of the group, in the user's order. */
  | { readonly kind: 'RestoreTypes' }
  | { readonly kind: 'Withdraw'; readonly instanceId: string }
  /** Sets the Auto Scaling group's desired size; Auto Scaling chooses the instance to terminate. */
  | { readonly kind: 'Lower'; readonly desired: number }
  /** Restores the previous revision for new instances. */
  | { readonly kind: 'RestoreTemplate' };

/** Fields of an update's status and their next values; undefined removes a field. */
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

/** What the group's status records before the effects that follow; the rest is observed. */
export interface GroupRecord {
  /** The number of instances that the group should have. */
  readonly target: number;
  readonly surge: NonNullable<NodeGroupStatus['surge']>;
  readonly scaleIn: NodeGroupStatus['scaleIn'];
  readonly failure: NodeGroupStatus['failure'];
  readonly updating: NodeGroupStatus['updating'];
  /** Absent: unchanged. */
  readonly sizeCalls?: NodeGroupStatus['sizeCalls'];
  /** What a release waits for; absent: the group is not released. */
  readonly releasing?: readonly GroupWaiting[];
}

export type GroupStep =
  | LifecycleStep
  | Extract<Step, { kind: 'PatchNode' }>
  /** Sets the spec to sizes that were set from outside. Fails if the spec has changed since. */
  | {
      readonly kind: 'WriteSpecSizes';
      readonly group: string;
      readonly from: NodeGroupScaling;
      readonly scaling: NodeGroupScaling;
    }
  | { readonly kind: 'WriteGroupStatus'; readonly group: string; readonly record: GroupRecord }
  /** Fails if the update's status has changed since. */
  | {
      readonly kind: 'WriteUpdateStatus';
      readonly update: string;
      readonly resourceVersion: string;
      readonly change: UpdateStatusChange;
    }
  /** Resolves the target of an update and creates its template version, which nothing uses yet. */
  | { readonly kind: 'PrepareUpdate'; readonly update: string; readonly desired: number }
  /** New instances are launched from that version, with these types. */
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
  /**
   * Resumes processes that an earlier leader suspended late, for updates (by uid) that had ended by
   * `endedAt`.
   */
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
  /** Sets nothing where the sizes, or the number of members, differ from the expected ones. */
  | {
      readonly kind: 'SetSizes';
      readonly autoScalingGroupName: string;
      readonly expected: Sizes;
      readonly members: number;
      readonly change: SizeChange;
    }
  /** Requests the drain of an instance. */
  | {
      readonly kind: 'RecordCause';
      readonly disruption: string;
      readonly nodeName?: string;
      readonly cause: DisruptionCause;
    }
  /** Skipped where the instance is not drained, or the group is not above the target. */
  | {
      readonly kind: 'TerminateMember';
      readonly instanceId: string;
      readonly scaleIn: { readonly id: string; readonly target: number };
    }
  | UpdateStep
  /** Deletes the Jobs of hooks that succeeded. */
  | { readonly kind: 'ClearHooks'; readonly update: string }
  /** The last write of an update, after everything else is recorded. */
  | {
      readonly kind: 'EndUpdate';
      readonly update: string;
      readonly end: Pick<NodeGroupUpdateStatus, 'status' | 'message'>;
    };

/** What a node group waits for until it matches its spec. */
export type GroupWaiting =
  /** Nodes are being drained for a scale-in or a delete: the first 20, by NodeDisruption. */
  | {
      readonly kind: 'drains';
      readonly disruptions: readonly string[];
      readonly total: number;
    }
  /** The number of instances that Auto Scaling has not launched yet. */
  | { readonly kind: 'instances'; readonly missing: number }
  /** An adoption or a release: whether the owner's tag is Drover's. */
  | { readonly kind: 'tag'; readonly autoScalingGroupName: string }
  /** A creation: the group of remote access, which the launch template names by its id. */
  | { readonly kind: 'securityGroup'; readonly name: string }
  /** A release: cancelled drains that are not undone yet, and NodeRepairs that have not ended. */
  | { readonly kind: 'undoing'; readonly drains: number }
  | { readonly kind: 'repairs'; readonly repairs: number }
  /** A release: instances are drained in these hooks. */
  | { readonly kind: 'hooks'; readonly hooks: readonly string[] }
  /** A delete: NodeRepairs that keep detached instances. */
  | { readonly kind: 'quarantine'; readonly repairs: readonly string[] }
  /** A delete: an answer without the Auto Scaling group does not prove that it is gone. */
  | { readonly kind: 'absence'; readonly autoScalingGroupName: string }
  /** A delete: instances that were launched again. */
  | { readonly kind: 'members'; readonly total: number }
  /** What its update waits for. */
  | { readonly kind: 'update'; readonly update: string; readonly waitingOn: UpdateWaitingOn };

export interface GroupPlan {
  /** The node group's name. */
  readonly subject: string;
  /** In order; a failed step ends the pass, the next pass observes again. */
  readonly steps: readonly GroupStep[];
  readonly waitingOn: readonly GroupWaiting[];
  /** Why the plan has no step; retrying cannot help. */
  readonly refusal?: HealthIssue;
  /**
   * Epoch milliseconds of the next pass if no event arrives earlier; absent = the usual interval.
   */
  readonly nextCheckAt?: number;
}
