// What an update's next step is decided on: the world as it is now, the update's own journal, the
// time. No behaviour.
import type { EpochMs } from '../../api/brand.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { HealthIssue } from '../../api/nodegroup.ts';
import type {
  MissingNode,
  NodeGroupUpdate,
  NodeGroupUpdateStatus,
  Revision,
  UpdatePace,
  UpdateShortage,
} from '../../api/nodegroup-update.ts';
import type { UpdateStatusChange, UpdateStep } from '../../api/plan.ts';
import type { HookTime, UpdateHooks } from '../../api/update-hooks.ts';
import type { Hold, Probe, ProbeResult, Wave } from '../../api/update-pacing.ts';
import type { UpdateWaitingOn } from '../../api/update-waiting.ts';
import type { HookRun } from './hooks/job.ts';
import type { Policies } from './policy.ts';
import type { BudgetLoad } from './strategies/gate.ts';

export interface UpdateInstance {
  readonly instanceId: string;
  readonly zone: string;
  readonly instanceType?: string;
  /** It counts towards the desired capacity: not terminating, not detached. */
  readonly isCounted: boolean;
  readonly isTarget: boolean;
  readonly nodeName?: string;
  readonly isReady: boolean;
  /** It is a node that is not Ready, since then. */
  readonly notReadySince?: string;
  /** Reason and message of its condition Ready. */
  readonly notReadyWhy?: string;
  /** Its node has the group's and the image's label. */
  readonly isLabelled: boolean;
  /** A new node whose hook is not over: it does not count. */
  readonly awaitsHook?: boolean;
  /** Pods that a drain would have to evict; where nobody counts them, unknown. */
  readonly pods?: number;
  /** What they ask of each budget. */
  readonly loads?: readonly BudgetLoad[];
  /** The cluster autoscaler leaves the node alone: by our annotation, or by somebody else's. */
  readonly shield?: 'ours' | 'theirs';
  /** Its node has the taint that keeps new pods away where there is another place. */
  readonly isDiscouraged?: boolean;
  /** That taint keeps them away wherever else they may go. */
  readonly isClosed?: boolean;
  /** Its node has the label of those whose drain was not over in time. */
  readonly isQuarantined?: boolean;
  /** Auto Scaling does not choose it when its group becomes smaller. */
  readonly isProtected?: boolean;
  readonly disruption?: NodeDisruption;
}

export interface UpdateSurge {
  readonly desired: number;
  readonly maxSize: number;
}

/** When the next step may begin, as far as the nodes do not say. */
export interface StepPacing {
  /** No further node is begun while there is one; absent = none. */
  readonly holds?: readonly Hold[];
  readonly waves?: readonly Wave[];
  readonly probes?: readonly Probe[];
  /**
   * What the probes found when they were last looked at; absent: something else holds, nobody
   * looks.
   */
  readonly probed?: readonly ProbeResult[];
}

export interface UpdateObservation extends StepPacing {
  readonly update: NodeGroupUpdate;
  readonly status: NodeGroupUpdateStatus;
  readonly target: Revision;
  readonly groupName: string;
  /** What people want, without the surge. */
  readonly desired: number;
  /** The update's own part of the group's size, as last written down. */
  readonly surge: UpdateSurge;
  /** The Auto Scaling group's own. */
  readonly actualDesired: number;
  /** Processes that the update suspended and that are suspended now. */
  readonly suspended: readonly string[];
  /** New instances are started from the update's template version. */
  readonly usesTarget: boolean;
  readonly instances: readonly UpdateInstance[];
  /** What is known to be wrong with the group: launches that fail, instances that do not join. */
  readonly issues: readonly HealthIssue[];
  readonly drainTimeoutMs: number;
  /** How fast earlier updates of the group went that went as this one does. */
  readonly history?: readonly (readonly UpdatePace[])[];
  /** Where the last launch failed for want of room; undefined: not looked at in this pass. */
  readonly shortages?: readonly UpdateShortage[];
  /**
   * Launches that fail now, by zone, and instances that are no Ready node yet, with EC2's launch
   * time.
   */
  readonly launches?: readonly MissingNode[];
  readonly unjoined?: readonly {
    readonly instanceId: string;
    readonly launchTime: string | undefined;
    /** Its console's last line and what that means, where it was looked at. */
    readonly why?: string;
  }[];
  /** The group's instance types in people's order, where EC2 Auto Scaling chooses among them. */
  readonly types?: readonly string[];
  /** Types are left out of it now. */
  readonly isNarrowed?: boolean;
  /** Absent: EKS'. */
  readonly policies?: Policies;
  readonly hooks?: UpdateHooks;
  /** How long hooks took in earlier updates of the group. */
  readonly hookHistory?: readonly HookTime[];
  /** What became of those that are to have run, by the names of their Jobs. */
  readonly hookRuns?: ReadonlyMap<string, HookRun>;
  /** No more nodes than that are begun; absent = as many as may be. */
  readonly limit?: number;
  /** When the pods of the instances are to be looked at again; absent: nobody has looked. */
  readonly weighedUntil?: EpochMs;
  readonly now: EpochMs;
}

/** Fields of the status and their next value. */
export type StatusChange = UpdateStatusChange;

export interface UpdateDecision {
  /** Written before any step; undefined when nothing is to be written. */
  readonly change: StatusChange | undefined;
  /** Written into the group's status before any step. */
  readonly surge: UpdateSurge;
  readonly steps: readonly UpdateStep[];
  /** The last write, after everything else is told. */
  readonly end?: Pick<NodeGroupUpdateStatus, 'status' | 'message'>;
  /** When time alone changes what is decided. */
  readonly wakeAt?: EpochMs;
  /** What rests by the strategy itself, told beside what holds. */
  readonly rests?: readonly Omit<Hold, 'since'>[];
  /** What keeps it where it is, beside holds and new nodes, which the journal has. */
  readonly waitingOn?: readonly UpdateWaitingOn[];
  /** It waits for people or for a time to come, not for the world. */
  readonly isHeld?: boolean;
  /** Instances are coming or going: what they do is seen in the cloud alone. */
  readonly isMoving?: boolean;
}
