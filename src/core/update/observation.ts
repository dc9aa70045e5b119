// The input of an update's decision: the observed world, the update's own status, and the time. No
// behaviour.
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
  /** Counts towards the desired capacity: neither terminating nor detached. */
  readonly isCounted: boolean;
  readonly isTarget: boolean;
  readonly nodeName?: string;
  readonly isReady: boolean;
  /** Since when its node has not been Ready. */
  readonly notReadySince?: string;
  /** Reason and message of condition Ready. */
  readonly notReadyWhy?: string;
  /** Its node has the group's and the image's label. */
  readonly isLabelled: boolean;
  /** A new node whose hook has not ended; it does not count. */
  readonly awaitsHook?: boolean;
  /** Pods that a drain would evict; absent if they were not read. */
  readonly pods?: number;
  /** The load of its pods on each budget. */
  readonly loads?: readonly BudgetLoad[];
  /** The actor that set the scale-down-disabled annotation: Drover or a user. */
  readonly scaleDownDisabled?: 'ours' | 'theirs';
  /** Its node has Drover's PreferNoSchedule or NoSchedule taint. */
  readonly hasOutdatedTaint?: boolean;
  /** The effect of that taint is NoSchedule. */
  readonly isClosed?: boolean;
  /** Its node has the label of nodes whose drain timed out. */
  readonly isQuarantined?: boolean;
  /** Protected from scale-in by Auto Scaling. */
  readonly isProtected?: boolean;
  readonly disruption?: NodeDisruption;
}

export interface UpdateSurge {
  readonly desired: number;
  readonly maxSize: number;
}

/** What limits the start of the next step, apart from the nodes themselves. */
export interface StepPacing {
  /** No further node begins while a hold exists; absent: none. */
  readonly holds?: readonly Hold[];
  readonly waves?: readonly Wave[];
  readonly probes?: readonly Probe[];
  /** Latest probe results; absent: probes do not run while another hold exists. */
  readonly probed?: readonly ProbeResult[];
}

export interface UpdateObservation extends StepPacing {
  readonly update: NodeGroupUpdate;
  readonly status: NodeGroupUpdateStatus;
  readonly target: Revision;
  readonly groupName: string;
  /** Desired size without the surge. */
  readonly desired: number;
  /** The update's part of the group's size, as last recorded. */
  readonly surge: UpdateSurge;
  /** Desired capacity of the Auto Scaling group. */
  readonly actualDesired: number;
  /** Processes that the update suspended and that are still suspended. */
  readonly suspended: readonly string[];
  /** New instances are launched from the update's template version. */
  readonly usesTarget: boolean;
  readonly instances: readonly UpdateInstance[];
  /** Health issues of the group: failed launches, instances that do not join. */
  readonly issues: readonly HealthIssue[];
  readonly drainTimeoutMs: number;
  /** Pace of earlier updates of the group with the same strategy and maxUnavailable. */
  readonly history?: readonly (readonly UpdatePace[])[];
  /** Zones whose last launch failed for lack of capacity; undefined: not read in this pass. */
  readonly shortages?: readonly UpdateShortage[];
  /**
   * Launches that currently fail, by zone, and instances that are not a Ready node, with EC2's
   * launch time.
   */
  readonly launches?: readonly MissingNode[];
  readonly unjoined?: readonly {
    readonly instanceId: string;
    readonly launchTime: string | undefined;
    /** The last line of its console output and what it means, if it was read. */
    readonly why?: string;
  }[];
  /** The group's instance types in the order of the spec, if Auto Scaling chooses among them. */
  readonly types?: readonly string[];
  /** Some types are skipped at present. */
  readonly isNarrowed?: boolean;
  /** Absent: EKS' values. */
  readonly policies?: Policies;
  readonly hooks?: UpdateHooks;
  /** Hook times of earlier updates of the group. */
  readonly hookHistory?: readonly HookTime[];
  /** State of hook runs by the names of their Jobs. */
  readonly hookRuns?: ReadonlyMap<string, HookRun>;
  /** Maximum number of further nodes that may begin; absent: unlimited. */
  readonly limit?: number;
  /** When the pods of the instances must be read again; absent: they were not read. */
  readonly podsReadUntil?: EpochMs;
  readonly now: EpochMs;
}

/** Fields of the status and their next value. */
export type StatusChange = UpdateStatusChange;

export interface UpdateDecision {
  /** Written before any step; undefined: no write. */
  readonly change: StatusChange | undefined;
  /** Written to the group's status before any step. */
  readonly surge: UpdateSurge;
  readonly steps: readonly UpdateStep[];
  /** The last write, after everything else. */
  readonly end?: Pick<NodeGroupUpdateStatus, 'status' | 'message'>;
  /** The earliest time at which the passage of time changes the decision. */
  readonly wakeAt?: EpochMs;
  /** Holds set by the strategy, reported together with the others. */
  readonly rests?: readonly Omit<Hold, 'since'>[];
  /** What the update waits for besides holds and new nodes, which are in the status. */
  readonly waitingOn?: readonly UpdateWaitingOn[];
  /** The update waits for an operator or a time, not for the cluster. */
  readonly isHeld?: boolean;
  /** Instances are launching or terminating. Only the cloud shows their progress. */
  readonly isMoving?: boolean;
}
