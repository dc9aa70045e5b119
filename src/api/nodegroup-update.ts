// NodeGroupUpdate (drover.dev/v1alpha1): one update of a node group, EKS' Update. `spec` is the
// request and immutable except for `paused` and `abort`; only the controller writes `status`.
import type { KubeObject, Taint } from './kube.ts';
import type {
  HealthIssue,
  NodeGroupSpec,
  NodeRepairConfig,
  Revision,
  UpdateConfig,
} from './nodegroup.ts';
import type { StopTimes } from './stop-times.ts';
import type { HookStatus, HookTime } from './update-hooks.ts';
import type { FailingProbe, Hold, WaveStatus } from './update-pacing.ts';
import type { UpdatePolicies } from './update-policy.ts';

export interface NodeGroupChange {
  readonly scaling?: {
    readonly minSize?: number;
    readonly maxSize?: number;
    readonly desired?: number;
  };
  readonly addLabels?: Readonly<Record<string, string>>;
  readonly removeLabels?: readonly string[];
  readonly addTaints?: readonly Taint[];
  readonly removeTaints?: readonly Taint[];
  readonly updateConfig?: UpdateConfig;
  readonly nodeRepairConfig?: NodeRepairConfig;
  /** For a VersionUpdate; none of the three = the newest release of the group's own version. */
  readonly version?: string;
  readonly releaseVersion?: string;
  readonly launchTemplate?: NonNullable<NodeGroupSpec['launchTemplate']>;
}

/** A preflight finding that an operator accepted by name. */
export interface Waiver {
  readonly check: string;
  readonly reason?: string;
  readonly by?: string;
}

export interface NodeGroupUpdateSpec {
  readonly nodeGroup: string;
  readonly type: 'ConfigUpdate' | 'VersionUpdate';
  /** For a VersionUpdate; default Update. */
  readonly action?: 'Update' | 'Rollback';
  /** Pods that remain after the drain timeout are deleted instead of failing the update. */
  readonly force?: boolean;
  /** Nodes are replaced even if their launch template would have the same content, as on EKS. */
  readonly replaceEqual?: boolean;
  /** Default: the group's strategy. */
  readonly strategy?: UpdateStrategy;
  /** The reason, where the controller requested the update. */
  readonly reason?: string;
  /** For this update only; they take precedence over the group's. */
  readonly policies?: UpdatePolicies;
  readonly waivers?: readonly Waiver[];
  /**
   * Hash of the plan that was reviewed and that the command line found unchanged: a record only.
   */
  readonly planHash?: string;
  /** The prediction of that plan, in seconds from the start. */
  readonly predicted?: { readonly p50Seconds: number; readonly p90Seconds: number };
  /** While true, no node is started; may change during the update. */
  readonly paused?: boolean;
  /** Cannot be unset. */
  readonly abort?: 'Stop' | 'RollBack';
  /** As EKS returns them: type and value, both texts. */
  readonly params: readonly { readonly type: string; readonly value: string }[];
  readonly change: NodeGroupChange;
}

export type { Revision };

/**
 * EKS' two, and Drover's own, which launch exactly as many new nodes as needed: SURGE a few at a
 * time, BLUE_GREEN all of them before the first old one is drained.
 */
export const updateStrategies = ['DEFAULT', 'MINIMAL', 'SURGE', 'BLUE_GREEN'] as const;
export type UpdateStrategy = (typeof updateStrategies)[number];

/**
 * Policies, hooks and the handling of autoscalers and zones apply to these only; EKS' strategies
 * behave as in EKS.
 */
export const isOwnStrategy = (strategy: string | undefined): boolean =>
  strategy === 'SURGE' || strategy === 'BLUE_GREEN';

/**
 * docs/designs/updates.md. Applied is for ConfigUpdates: the NodeGroup contains the change.
 * Pending: no node is started, `holds` gives the reason.
 */
export const updatePhases = [
  'Applied',
  'Pending',
  'Preparing',
  'ScalingUp',
  'Marking',
  'Rolling',
  'Soaking',
  'ScalingDown',
  'Restoring',
  'Ended',
] as const;
export type UpdatePhase = (typeof updatePhases)[number];

/** RFC 3339: half of such updates end before the first, nine of ten before the second. */
export interface UpdateEta {
  readonly p50: string;
  readonly p90: string;
}

/** A zone in which the last launch failed for lack of capacity. */
export interface UpdateShortage {
  readonly zone: string;
  /** EKS' code, and EC2's message. */
  readonly code: string;
  readonly message: string;
  readonly at: string;
}

/**
 * A requested node that has not joined: its launch fails, or its instance has not become a node.
 */
export interface MissingNode {
  /** For a failed launch: absent where Auto Scaling names no zone. */
  readonly zone?: string;
  /** The running instance that has not joined. */
  readonly instanceId?: string;
  /** EKS' code, and EC2's message or what is known about the node. */
  readonly code: string;
  readonly message: string;
  readonly since: string;
}

/** An instance type that is not launched during the update, and why. */
export interface SkippedType {
  readonly type: string;
  readonly message: string;
}

/**
 * New nodes in a zone that are not of the group's first instance type, because it had no capacity.
 */
export interface UpdateFallback {
  readonly zone: string;
  readonly type: string;
  readonly nodes: number;
}

/** Number of completed nodes over time. */
export interface UpdatePace {
  readonly at: string;
  readonly done: number;
  /** The update was paused at this time. */
  readonly paused?: boolean;
}

export interface UpdateProgress {
  /** Nodes to replace or to terminate, completed ones included. */
  readonly total: number;
  readonly done: number;
  readonly draining: number;
  readonly failed: number;
  /** For BLUE_GREEN: empty nodes that are kept until the soak ends. */
  readonly emptied?: number;
  /** Failed nodes that stay cordoned, each with a replacement. */
  readonly quarantined?: number;
  /** Absent without enough data: too few nodes completed, or paused. */
  readonly eta?: UpdateEta;
}

export interface UpdateSizes {
  readonly minSize: number;
  readonly maxSize: number;
  readonly desired: number;
}

export interface NodeGroupUpdateStatus {
  readonly status: 'InProgress' | 'Successful' | 'Failed' | 'Cancelled';
  readonly phase?: UpdatePhase;
  /** For Applied: the first generation of the NodeGroup that contains the change. */
  readonly generation?: number;
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly errors?: readonly HealthIssue[];
  /** The current state in one line. */
  readonly message?: string;
  readonly strategy?: UpdateStrategy;
  readonly from?: Revision;
  readonly target?: Revision;
  /** Sizes before the update changed anything. */
  readonly original?: UpdateSizes;
  /** EC2 Auto Scaling processes that were running and are suspended during the update. */
  readonly suspends?: readonly string[];
  /** The leader's term in which this was recorded; absent without leader election. */
  readonly suspendedIn?: number;
  /** What keeps the next step from starting. Drains in progress continue. */
  readonly holds?: readonly Hold[];
  /** Kinds of all holds, separated by commas. */
  readonly held?: string;
  readonly hooks?: readonly HookStatus[];
  /** Durations of completed hooks. */
  readonly hookTimes?: readonly HookTime[];
  /** How long pods took to stop on the nodes that it drained; written at its end. */
  readonly stopTimes?: readonly StopTimes[];
  /** Ids of the webhooks that ended during this update. */
  readonly webhooksDone?: readonly string[];
  /** Set where its group has waves. */
  readonly wave?: WaveStatus;
  readonly failingProbes?: readonly FailingProbe[];
  /** Maximum number of nodes out of service at once. */
  readonly maxUnavailable?: number;
  /** Number of instances added at the start. */
  readonly surge?: number;
  readonly progress?: UpdateProgress;
  /** The last 20 changes of `progress.done`; they predict the end, also of later updates. */
  readonly pace?: readonly UpdatePace[];
  /** Zones without capacity for a new node at the last attempt. */
  readonly shortages?: readonly UpdateShortage[];
  /** The first 20 new nodes that the update waits for, with what is known about them. */
  readonly missing?: readonly MissingNode[];
  readonly skippedTypes?: readonly SkippedType[];
  readonly fallbacks?: readonly UpdateFallback[];
  /** Since when the update waits for new instances to become nodes. */
  readonly waitingSince?: string;
  /** Start of each phase, in order. */
  readonly phases?: readonly { readonly phase: UpdatePhase; readonly at: string }[];
  /** The first 20 nodes whose drain failed. */
  readonly failedNodes?: readonly {
    readonly instanceId: string;
    readonly node?: string;
    readonly message: string;
    /** What was done about the failed drain, if the update continued. */
    readonly outcome?: 'Skipped' | 'Quarantined' | 'Paused';
  }[];
  /** Why an automatic rollback follows this update. */
  readonly goesBack?: string;
  /** When the update paused itself; `message` gives the reason. */
  readonly pausedSince?: string;
  /** Surplus nodes that could not be drained at the end and stay. */
  readonly leftover?: number;
  /**
   * The version of the derived launch template that restored the previous revision for new nodes.
   */
  readonly restored?: string;
  /** Result of a failed or aborted update once everything is restored. */
  readonly ending?: 'Failed' | 'Cancelled';
}

export interface NodeGroupUpdate extends KubeObject {
  readonly spec: NodeGroupUpdateSpec;
  readonly status?: NodeGroupUpdateStatus;
}

/** On an update that a changed spec requested: the generation of that spec. */
export const byGenerationAnnotation = 'drover.dev/by-generation';

/**
 * Position among the group's updates, where it differs from the order of creation: an automatic
 * rollback, or an update recreated after its object was deleted. core/update/records/succession.ts
 * writes it.
 */
export const turnAnnotation = 'drover.dev/turn';

/**
 * Set on a version update from before its first effect until its end, so that its changes are
 * reverted before the object is deleted.
 */
export const updateFinalizer = 'drover.dev/update';

/** A stop was requested; deleting the object requests it too. */
export const isStopAsked = ({ metadata, spec }: NodeGroupUpdate): boolean =>
  spec.abort !== undefined || metadata.deletionTimestamp !== undefined;

/** EKS' status; an update that the controller has not seen yet is in progress. */
export const updateStatusOf = ({ status }: NodeGroupUpdate): NodeGroupUpdateStatus['status'] =>
  status?.status ?? 'InProgress';
