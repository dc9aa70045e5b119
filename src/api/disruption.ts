// NodeDisruption (drover.dev/v1alpha1): one instance taken out of service. `spec` is the request
// (causes, written by intake, the CLI, updates and repairs), `status` the journal of its execution.
// Nothing here decides.
import type { Condition, KubeObject } from './kube.ts';
import type { StopTimes } from './stop-times.ts';

export const causeKinds = [
  'ScaleIn',
  'SpotInterruption',
  'RebalanceRecommendation',
  'Maintenance',
  'StateChange',
  'LifecycleHook',
  'Update',
  'Repair',
  'Manual',
] as const;
export type CauseKind = (typeof causeKinds)[number];

/** What happens to the drained instance, weakest first. If causes differ, the strongest applies. */
export const followUps = ['Release', 'Reboot', 'Detach', 'Replace', 'Terminate'] as const;
export type FollowUp = (typeof followUps)[number];

/** A lifecycle hook whose action Drover must complete. Times are RFC 3339. */
export interface HookRef {
  readonly autoScalingGroupName: string;
  readonly name: string;
  /** The message's token; absent for a hook found by polling: calls then use the instance id. */
  readonly token?: string;
  readonly startedAt: string;
  readonly heartbeatTimeoutSeconds: number;
  readonly globalTimeoutSeconds: number;
}

/** The cloud's answer about a cause that a notice reported, since `at` (RFC 3339). */
export type Confirmation = {
  /** Pending: not answered yet. Refuted: not true, or not any more. Only Confirmed evicts pods. */
  readonly state: 'Pending' | 'Confirmed' | 'Refuted';
  readonly at: string;
  readonly reason: string;
};

/** The time of the maintenance, as its message says. RFC 3339. */
export type MaintenanceWindow = {
  readonly startsAt?: string;
  readonly endsAt?: string;
};

export interface DisruptionCause {
  readonly kind: CauseKind;
  /** Key for merging duplicates: the same id never adds a second cause. */
  readonly id: string;
  readonly receivedAt: string;
  /** Absolute; absent = no deadline of its own. */
  readonly deadline?: string;
  readonly onDeadline: 'force' | 'fail';
  readonly followUp: FollowUp;
  /** The instance has left its Auto Scaling group: EC2 is asked to terminate it. */
  readonly isDetached?: boolean;
  readonly hook?: HookRef;
  readonly requestedBy?: string;
  readonly reason?: string;
  /** While true, the node is cordoned and its pods are not evicted. */
  readonly hold?: boolean;
  /**
   * Earliest time at which this cause deletes pods regardless of their grace period; its deadline
   * is later.
   */
  readonly forceFrom?: string;
  /** Seconds between the end of the drain and our termination of the instance; absent = 0. */
  readonly cooldownSeconds?: number;
  /** While true, the drained instance is not terminated. */
  readonly holdTermination?: boolean;
  /** When `holdTermination` was set to false. */
  readonly terminationFreeAt?: string;
  /** Set when the cause was withdrawn (undrain, cancelled event); it then has no effect. */
  readonly cancelledAt?: string;
  /** Set for causes from notices; absent for causes of operators and of Drover itself. */
  readonly confirmation?: Confirmation;
  /** Set for maintenance that a message announced. */
  readonly window?: MaintenanceWindow;
}

export interface NodeDisruptionSpec {
  readonly instanceId?: string;
  readonly nodeName?: string;
  readonly nodeGroup?: string;
  readonly causes: readonly DisruptionCause[];
}

/** See docs/designs/termination.md, one section per phase. */
export const disruptionPhases = [
  'Pending',
  'Marking',
  'Draining',
  'Completing',
  'Undoing',
  'Ended',
] as const;
export type DisruptionPhase = (typeof disruptionPhases)[number];

export type DisruptionOutcome =
  | 'Drained'
  | 'Forced'
  | 'Failed'
  | 'Cancelled'
  | 'NothingToDrain'
  | 'InstanceGone';

/** Labels, taints and cordon that Drover set on the node and must remove. */
export interface OwnedMarks {
  readonly excludeLabel: boolean;
  readonly unschedulable: boolean;
  readonly taint: boolean;
  readonly annotation: boolean;
}

export interface HookStatus {
  readonly autoScalingGroupName: string;
  readonly name: string;
  readonly state: 'Open' | 'Completed' | 'Expired' | 'Gone';
  readonly token?: string;
  readonly lastHeartbeatAt?: string;
  /** When the hook ends even with heartbeats: min(global timeout, 100 heartbeats). */
  readonly endsAt: string;
  readonly result?: 'CONTINUE' | 'ABANDON';
}

/**
 * A pod that must be Ready before its budget allows another eviction, and the reason why it is not.
 */
export interface UnreadyPod {
  readonly pod: string;
  /** Its node; absent before it is scheduled. */
  readonly node?: string;
  /** The subnet of the instance of that node. */
  readonly subnet?: string;
  /**
   * Reason given by the kubelet or the scheduler: FailedCreatePodSandBox, ImagePullBackOff,
   * Unschedulable, ...
   */
  readonly reason: string;
  readonly message: string;
  readonly since: string;
  /** Number of further unready pods of the budget. */
  readonly others?: number;
}

/** What a drain waits for; rendered by core/explain for CLI, events and page. */
export type WaitingOn =
  | {
      /** Here and below `pod` and `budgets` are `namespace/name`, `owner` is `Kind/name`. */
      readonly kind: 'pdb';
      readonly pod: string;
      readonly budgets: readonly string[];
      readonly owner?: string;
      readonly message: string;
      /** True if no change of the pods' health can free this budget. */
      readonly neverAllows: boolean;
      /** What frees the budget, if the health of its pods alone cannot. */
      readonly freedBy?: 'scaleUp';
      /**
       * For a budget that waits for Ready pods: the pod that has been unready for longest. Looked
       * up after a while.
       */
      readonly unready?: UnreadyPod;
      readonly since?: string;
      readonly forceAt?: string;
    }
  | {
      /**
       * The application moves the pod itself: a refused eviction request is its signal to do so.
       * Further requests follow at a bounded rate.
       */
      readonly kind: 'selfMoving';
      readonly pod: string;
      readonly budgets: readonly string[];
      readonly owner?: string;
      /** The admission webhook that denied the request; absent where a budget refused it. */
      readonly webhook?: string;
      /** The words of the webhook, or of the API server about the budget. */
      readonly message: string;
      /** Number of eviction requests in a row that were refused. */
      readonly requests: number;
      readonly since?: string;
      readonly requestAgainAt: string;
      readonly forceAt?: string;
    }
  | {
      readonly kind: 'multiplePdbs';
      readonly pod: string;
      readonly budgets: readonly string[];
      readonly owner?: string;
      readonly since?: string;
      readonly forceAt?: string;
    }
  | {
      /** A refused eviction used up an allowed disruption, restored at `until`. */
      readonly kind: 'budgetHeld';
      readonly pod: string;
      readonly budget: string;
      readonly until: string;
      readonly forceAt?: string;
    }
  | {
      readonly kind: 'termination';
      readonly pod: string;
      readonly since: string;
      readonly graceEndsAt: string;
      readonly why: 'grace' | 'kubelet' | 'finalizers';
      readonly finalizers?: readonly string[];
    }
  | {
      readonly kind: 'evictionError';
      readonly pod: string;
      readonly code: string;
      readonly message: string;
      readonly since?: string;
      readonly retryAt?: string;
      readonly forceAt?: string;
    }
  | {
      /** Pods of lower tiers remain. */
      readonly kind: 'tier';
      readonly pod: string;
      readonly podsBefore: number;
      /** The lowest priority of its tier; absent in records of earlier releases. */
      readonly priority?: number;
      /** When its tier begins, whatever remains; absent: no time is set. */
      readonly until?: string;
      readonly forceAt?: string;
    }
  | {
      /** Its owner asked not to evict it; it is evicted at `until`. */
      readonly kind: 'doNotEvict';
      readonly pod: string;
      readonly owner?: string;
      /** `key=value`. */
      readonly annotation: string;
      readonly until: string;
      readonly forceAt?: string;
    }
  | {
      /** A pod of a Job, which may complete; it is evicted at `until`. */
      readonly kind: 'job';
      readonly pod: string;
      readonly owner?: string;
      readonly until: string;
      readonly forceAt?: string;
    }
  | {
      /**
       * The last running replicas of an owner are evicted one at a time, each after a Ready
       * replacement.
       */
      readonly kind: 'replacement';
      readonly pod: string;
      readonly owner: string;
      readonly forceAt?: string;
    }
  | {
      /** The owner placed a pod on the draining node again; it was evicted once and now stays. */
      readonly kind: 'boomerang';
      readonly pod: string;
      readonly owner?: string;
    }
  | { readonly kind: 'marks'; readonly node: string }
  /** Other nodes of the batch are still being marked; nothing is evicted before that. */
  | { readonly kind: 'batch'; readonly nodes: readonly string[]; readonly until: string }
  | { readonly kind: 'settling'; readonly until: string }
  /** Its Deployment is scaled up first; the pod is evicted at `until` if it still exists. */
  | {
      readonly kind: 'surge';
      readonly pod: string;
      readonly owner: string;
      readonly message: string;
      readonly until: string;
      readonly forceAt?: string;
    }
  /** Load balancers still send to the node (`evictions`) or still deregister it (`end`). */
  | {
      readonly kind: 'deregistration';
      readonly node: string;
      readonly stage: 'evictions' | 'end';
      /** Names of the target groups, at most 20. */
      readonly targetGroups: readonly string[];
      readonly until: string;
    }
  /** The pods are gone, but volumes are still attached to the node: the first 20, by name. */
  | {
      readonly kind: 'volumes';
      readonly node: string;
      readonly volumes: readonly string[];
      readonly until: string;
    }
  /**
   * Drained; the instance is terminated at `until`, so that load balancers can deregister it first.
   */
  | { readonly kind: 'cooldown'; readonly until: string }
  /**
   * Drained; the instance is not terminated before its turn. `by` names what decides the turn, as
   * `update NAME`.
   */
  | { readonly kind: 'terminationHold'; readonly by: string }
  /**
   * The node is cordoned; nothing is evicted before its turn. `by` names what decides the turn, as
   * `update NAME`.
   */
  | { readonly kind: 'hold'; readonly by: string }
  /** Not cordoned yet: too many nodes are out of service, or the replacement is not Ready. */
  | { readonly kind: 'turn'; readonly message: string }
  | {
      readonly kind: 'hook';
      readonly autoScalingGroupName: string;
      readonly hookName: string;
      readonly message: string;
      readonly retryAt?: string;
    }
  | { readonly kind: 'api'; readonly what: string; readonly message: string }
  | { readonly kind: 'instance'; readonly message: string };

/** Pods that returned to the cordoned node after their eviction, and their owner. */
export interface Boomerang {
  readonly owner: string;
  readonly podUids: readonly string[];
}

export interface NodeDisruptionStatus {
  readonly observedGeneration?: number;
  /** Term of the leader that wrote this status; a new leader writes its own before it acts. */
  readonly leaderEpoch?: number;
  /** 1 for the first episode; a cause that arrives after the end opens the next. */
  readonly episode: number;
  readonly phase: DisruptionPhase;
  readonly outcome?: DisruptionOutcome;
  readonly message?: string;
  readonly startedAt?: string;
  readonly markedAt?: string;
  /** When the pods were gone, where the drain then waits for something else. */
  readonly emptyAt?: string;
  readonly drainedAt?: string;
  readonly endedAt?: string;
  /** When the last hold ended and evictions started. Absent where there was none. */
  readonly heldUntil?: string;
  /**
   * The earliest deadline of the causes in force that delete pods at their deadline; if none does,
   * the latest deadline of the others.
   */
  readonly deadline?: string;
  readonly onDeadline?: 'force' | 'fail';
  readonly followUp?: FollowUp;
  readonly node?: { readonly name: string; readonly uid: string };
  readonly ownedMarks?: OwnedMarks;
  readonly hooks?: readonly HookStatus[];
  /** Written before the first pod is deleted by force: the intent of every such deletion. */
  readonly forcingSince?: string;
  /** The intent to reboot, and the boot id before the reboot. */
  readonly reboot?: { readonly askedAt: string; readonly bootId?: string };
  /** Ids of the causes that earlier episodes handled. */
  readonly handledCauses?: readonly string[];
  /** Written with Completing: the causes that it completes. A newer one opens the next episode. */
  readonly completingCauses?: readonly string[];
  /** The previous episode: its outcome, deadline, causes and pods. */
  readonly previous?: {
    readonly episode: number;
    readonly outcome?: DisruptionOutcome;
    readonly message?: string;
    readonly startedAt?: string;
    readonly deadline?: string;
    readonly endedAt?: string;
    readonly causes?: readonly CauseKind[];
    readonly podsTotal?: number;
  };
  readonly boomerangs?: readonly Boomerang[];
  /** Written at the end of the drain. */
  readonly stopTimes?: readonly StopTimes[];
  /** When the progress below was last written; the intervals increase. */
  readonly progressAt?: string;
  readonly podsTotal?: number;
  readonly podsRemaining?: number;
  /** The first 20; the rest is only counted. */
  readonly waitingOn?: readonly WaitingOn[];
  readonly waitingOnTotal?: number;
  readonly conditions?: readonly Condition[];
}

export interface NodeDisruption extends KubeObject {
  readonly spec: NodeDisruptionSpec;
  readonly status?: NodeDisruptionStatus;
}

/**
 * Labels, taints and annotations of this API group, and the other labels that Drover sets on nodes.
 */
export const marks = {
  excludeFromLoadBalancers: 'node.kubernetes.io/exclude-from-external-load-balancers',
  disruptedTaint: 'drover.dev/disrupted',
  annotation: 'drover.dev/marks',
} as const;
