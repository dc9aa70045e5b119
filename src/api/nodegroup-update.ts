// NodeGroupUpdate (drover.dev/v1alpha1): one update of a node group, EKS' Update. `spec` is what
// was asked and never changes, but for `paused` and `abort`; `status` is written by the controller
// alone.
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
  /** Of a VersionUpdate; nothing of the three = the newest release of the group's own version. */
  readonly version?: string;
  readonly releaseVersion?: string;
  readonly launchTemplate?: NonNullable<NodeGroupSpec['launchTemplate']>;
}

/** A finding of the preflight that somebody accepted by name. */
export interface Waiver {
  readonly check: string;
  readonly reason?: string;
  readonly by?: string;
}

export interface NodeGroupUpdateSpec {
  readonly nodeGroup: string;
  readonly type: 'ConfigUpdate' | 'VersionUpdate';
  /** Of a VersionUpdate; default Update. */
  readonly action?: 'Update' | 'Rollback';
  /** Pods that are left after the drain's time are deleted instead of ending the update. */
  readonly force?: boolean;
  /** Nodes are replaced although their launch template would have the same content, as on EKS. */
  readonly replaceEqual?: boolean;
  /** Default: that of the group. */
  readonly strategy?: UpdateStrategy;
  /** Why it was asked for, where the controller asked. */
  readonly reason?: string;
  /** Of this update alone, before those of the group. */
  readonly policies?: UpdatePolicies;
  readonly waivers?: readonly Waiver[];
  /** Of the plan that was looked at and that the command line found to hold still: a record. */
  readonly planHash?: string;
  /** By that plan, from the begin on. */
  readonly predicted?: { readonly p50Seconds: number; readonly p90Seconds: number };
  /** Nothing new is begun while it is set; may change while the update runs. */
  readonly paused?: boolean;
  /** Set once, it stays. */
  readonly abort?: 'Stop' | 'RollBack';
  /** As EKS tells them: type and value, both texts. */
  readonly params: readonly { readonly type: string; readonly value: string }[];
  readonly change: NodeGroupChange;
}

export type { Revision };

/**
 * EKS' two, and ours, which make exactly as many new nodes as are needed: SURGE a few at a time,
 * BLUE_GREEN all of them before the first old one is touched.
 */
export const updateStrategies = ['DEFAULT', 'MINIMAL', 'SURGE', 'BLUE_GREEN'] as const;
export type UpdateStrategy = (typeof updateStrategies)[number];

/**
 * Policies, hooks and the care for autoscalers and zones are of these; EKS' strategies do as EKS
 * does.
 */
export const isOwnStrategy = (strategy: string | undefined): boolean =>
  strategy === 'SURGE' || strategy === 'BLUE_GREEN';

/**
 * docs/designs/updates.md; Applied is of ConfigUpdates: the change stands in the NodeGroup.
 * Pending: nothing is begun, `holds` says why.
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

/** RFC 3339: half of such updates are over before the first, nine of ten before the second. */
export interface UpdateEta {
  readonly p50: string;
  readonly p90: string;
}

/** A zone in which the last launch failed for want of room. */
export interface UpdateShortage {
  readonly zone: string;
  /** EKS' code, and EC2's words. */
  readonly code: string;
  readonly message: string;
  readonly at: string;
}

/** A new node that was asked for and is none: its launch fails, or its instance has not joined. */
export interface MissingNode {
  /** Of a launch that failed: absent where Auto Scaling names no zone. */
  readonly zone?: string;
  /** It runs, and is no node that counts. */
  readonly instanceId?: string;
  /** EKS' code, and what EC2 says or what is seen. */
  readonly code: string;
  readonly message: string;
  readonly since: string;
}

/** An instance type of the group that is left out while it is updated, and why. */
export interface SkippedType {
  readonly type: string;
  readonly message: string;
}

/** New nodes of a zone that are not of the group's first instance type: it had no room there. */
export interface UpdateFallback {
  readonly zone: string;
  readonly type: string;
  readonly nodes: number;
}

/** How many nodes were done when. */
export interface UpdatePace {
  readonly at: string;
  readonly done: number;
  /** Nothing was begun from then on. */
  readonly paused?: boolean;
}

export interface UpdateProgress {
  /** Nodes that are to be replaced or retired, the done ones included. */
  readonly total: number;
  readonly done: number;
  readonly draining: number;
  readonly failed: number;
  /** Of BLUE_GREEN: empty, and kept until the soak is over. */
  readonly emptied?: number;
  /** Of those that failed: left cordoned, each with a new node beside it. */
  readonly quarantined?: number;
  /** Absent where there is no ground for it: too few nodes seen, or paused. */
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
  /** Applied: the NodeGroup's generation from which on the change stands in it. */
  readonly generation?: number;
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly errors?: readonly HealthIssue[];
  /** Why it is where it is, in one line. */
  readonly message?: string;
  readonly strategy?: UpdateStrategy;
  readonly from?: Revision;
  readonly target?: Revision;
  /** Before the first effect. */
  readonly original?: UpdateSizes;
  /** What of EC2 Auto Scaling's processes was running and is suspended while the update runs. */
  readonly suspends?: readonly string[];
  /** The leader's term in which that was noted; absent where no other process ever leads. */
  readonly suspendedIn?: number;
  /** What keeps the next step from beginning now; drains under way go on. */
  readonly holds?: readonly Hold[];
  /** Their kinds, with commas between. */
  readonly held?: string;
  readonly hooks?: readonly HookStatus[];
  /** How long hooks took that were done. */
  readonly hookTimes?: readonly HookTime[];
  /** How long pods took to stop on the nodes that it drained; written with its end. */
  readonly stopTimes?: readonly StopTimes[];
  /** Webhooks of hooks that are over, while it goes on. */
  readonly webhooksDone?: readonly string[];
  /** Where its group has waves. */
  readonly wave?: WaveStatus;
  readonly failingProbes?: readonly FailingProbe[];
  /** How many nodes may be out of service at once. */
  readonly maxUnavailable?: number;
  /** How many instances more than asked for the update began with. */
  readonly surge?: number;
  readonly progress?: UpdateProgress;
  /** Last 20 changes of `progress.done`: what the end is predicted by, also of later updates. */
  readonly pace?: readonly UpdatePace[];
  /** Where there was no room for a new node when last one was wanted. */
  readonly shortages?: readonly UpdateShortage[];
  /** What is known of new nodes that are waited for, first 20. */
  readonly missing?: readonly MissingNode[];
  readonly skippedTypes?: readonly SkippedType[];
  readonly fallbacks?: readonly UpdateFallback[];
  /** Nothing moves since then: new instances do not become nodes. */
  readonly waitingSince?: string;
  /** When each phase began, in order. */
  readonly phases?: readonly { readonly phase: UpdatePhase; readonly at: string }[];
  /** First 20 of the nodes whose drain failed. */
  readonly failedNodes?: readonly {
    readonly instanceId: string;
    readonly node?: string;
    readonly message: string;
    /** What was done about it, where the update went on. */
    readonly outcome?: 'Skipped' | 'Quarantined' | 'Paused';
  }[];
  /** It goes back by itself when it has ended, and why. */
  readonly goesBack?: string;
  /** It paused itself then; `message` says why. */
  readonly pausedSince?: string;
  /** New nodes more than asked for that could not be drained when all was set back: they stay. */
  readonly leftover?: number;
  /** The version of the derived template with which new nodes are again what they were before. */
  readonly restored?: string;
  /** Failed or aborted: how it ends when everything is set back. */
  readonly ending?: 'Failed' | 'Cancelled';
}

export interface NodeGroupUpdate extends KubeObject {
  readonly spec: NodeGroupUpdateSpec;
  readonly status?: NodeGroupUpdateStatus;
}

/** On an update that a changed spec asked for: the generation that did. */
export const byGenerationAnnotation = 'drover.dev/by-generation';

/**
 * On an update that has another's turn than that of its creation, as
 * core/update/records/succession.ts writes it: a rollback that follows by itself, and one that was
 * made once more after its object had vanished.
 */
export const turnAnnotation = 'drover.dev/turn';

/**
 * On a version update from before its first effect until its end: what it did is taken back before
 * it goes.
 */
export const updateFinalizer = 'drover.dev/update';

/** Asked to stop; to delete it is to ask so. */
export const isStopAsked = ({ metadata, spec }: NodeGroupUpdate): boolean =>
  spec.abort !== undefined || metadata.deletionTimestamp !== undefined;

/** EKS' word; an update that nobody has looked at yet is in progress. */
export const updateStatusOf = ({ status }: NodeGroupUpdate): NodeGroupUpdateStatus['status'] =>
  status?.status ?? 'InProgress';
