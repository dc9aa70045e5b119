// NodeRepair (drover.dev/v1alpha1): one unhealthy episode of one instance. `spec` names the
// instance and the start of the episode, `status` is the journal of decisions and actions.
// NodeRepairPolicy is the part of NodeGroup.spec that EKS lacks. Nothing here decides.
import type { KubeObject } from './kube.ts';

/** Conditions by the names in eksctl's documentation, mapped to their actual names. */
export const eksctlConditions: Readonly<Record<string, string>> = {
  AcceleratedInstanceNotReady: 'AcceleratedHardwareReady',
  NetworkNotReady: 'NetworkingReady',
};

export const repairActions = ['Replace', 'Reboot', 'Quarantine', 'NoAction'] as const;
export type RepairAction = (typeof repairActions)[number];

/** Drover's own rule for one condition; the most specific rule applies, after EKS' overrides. */
export interface NodeRepairRule {
  readonly condition: string;
  /** A reason, or a prefix of one followed by `*`; absent = every reason. */
  readonly reason?: string;
  readonly waitSeconds?: number;
  /** Tried in this order, each once; default: Replace. */
  readonly actions?: readonly RepairAction[];
}

/** Drover's additions to EKS' nodeRepairConfig. */
export interface NodeRepairPolicy {
  /** Audit decides and reports, and changes nothing. Default: Enforce where repair is enabled. */
  readonly mode?: 'Audit' | 'Enforce';
  readonly rules?: readonly NodeRepairRule[];
  /** Drain timeout for a node with a Ready kubelet; default: the group's own. */
  readonly drainTimeoutSeconds?: number;
  /** An instance that has not joined after this is repaired; 0 = never. Default: 15 minutes. */
  readonly startupTimeoutSeconds?: number;
  /** A node that is healthy for this long has recovered. Default: 3 minutes. */
  readonly healthyDelaySeconds?: number;
  /** Repairs start again this long after a breaker has closed. Default: 5 minutes. */
  readonly stormCooldownSeconds?: number;
  /**
   * Before a Replace or a Reboot, the node agent is asked for its logs, for 60 s at most. Default:
   * false.
   */
  readonly collectBundle?: boolean;
  /** For the action Quarantine: the instance leaves its group and is kept for inspection. */
  readonly quarantine?: {
    /** The instance is terminated this long after it left the group. Default: 24 hours. */
    readonly timeLimitSeconds?: number;
    /** Beyond this number, nodes are replaced instead. Default: 1. */
    readonly maxInstances?: number;
  };
}

/** On a node: `hold` prevents its repair, `now` skips its wait. On a NodeGroup: `hold`. */
export const repairAnnotation = 'drover.dev/repair';
/** On a NodeGroup: zones that a zonal shift moves traffic away from, separated by commas. */
export const zonalShiftAnnotation = 'drover.dev/zonal-shift';
/** On a node: `now` and `when-failed` keep its instance for forensics, `false` does not. */
export const preserveAnnotation = 'drover.dev/preserve';

/** See docs/designs/repair.md, one section per phase. */
export const repairPhases = [
  'Waiting',
  'Blocked',
  'WouldRepair',
  'Repairing',
  'Verifying',
  'Quarantined',
  'Succeeded',
  'Failed',
  'Cancelled',
] as const;
export type RepairPhase = (typeof repairPhases)[number];

export const endedRepairPhases: readonly RepairPhase[] = ['Succeeded', 'Failed', 'Cancelled'];

/** Why an eligible node is not repaired. */
export const repairBlockers = [
  'hold',
  'preserve',
  'update',
  'draining',
  'groupUnhealthy',
  'zoneOutage',
  'zonalShift',
  'controlPlane',
  'sameSignal',
  'cooldown',
  'parallel',
  'ledger',
  'ineffective',
] as const;
export type RepairBlockerKind = (typeof repairBlockers)[number];

export interface RepairBlocker {
  readonly kind: RepairBlockerKind;
  readonly message: string;
  /** RFC 3339; absent where it does not end by time. */
  readonly until?: string;
}

/** One condition of the episode, and when it first appeared; flapping does not change that time. */
export interface RepairFinding {
  readonly condition: string;
  readonly reason: string;
  readonly since: string;
  readonly message?: string;
}

/** The log bundle asked for before an attempt acts. Without `outcome` the repair waits for it. */
export interface RepairBundle {
  readonly requestedAt: string;
  readonly endedAt?: string;
  readonly outcome?: 'Collected' | 'NotCollected';
  /** Where it is, or why there is none. */
  readonly message?: string;
}

export interface RepairAttempt {
  readonly action: RepairAction;
  /**
   * The id of its cause on the NodeDisruption. It records the intent and is written before the
   * cause.
   */
  readonly causeId: string;
  readonly startedAt: string;
  /** Boot id of the machine at that time: a different one shows that the reboot has happened. */
  readonly bootId?: string;
  readonly bundle?: RepairBundle;
  readonly endedAt?: string;
  readonly outcome?: 'Succeeded' | 'Failed';
  readonly message?: string;
}

/** Blockers that an operator may override when requesting a repair. */
export const overrulableBlockers = [
  'groupUnhealthy',
  'zoneOutage',
  'zonalShift',
  'controlPlane',
  'sameSignal',
  'cooldown',
  'parallel',
  'ineffective',
] as const satisfies readonly RepairBlockerKind[];
export type OverrulableBlocker = (typeof overrulableBlockers)[number];

/** Actions that an operator may request. */
export const requestableActions = [
  'Replace',
  'Reboot',
  'Quarantine',
] as const satisfies readonly RepairAction[];

/** A repair requested by an operator: without a wait, whether or not the node is healthy. */
export type RepairRequest = {
  readonly action: (typeof requestableActions)[number];
  readonly at: string;
  readonly by?: string;
  readonly overrule?: readonly OverrulableBlocker[];
};

/** Condition and reason of an episode that begins with a request. */
export const requestedEpisode = { condition: 'Operator', reason: 'RepairRequested' } as const;

export interface NodeRepairSpec {
  readonly nodeGroup: string;
  readonly instanceId: string;
  readonly node?: { readonly name: string; readonly uid: string };
  readonly availabilityZone?: string;
  /** Start of the episode, from which waits are counted. RFC 3339. */
  readonly unhealthySince: string;
  readonly condition: string;
  readonly reason: string;
  readonly requested?: RepairRequest;
}

export interface NodeRepairStatus {
  readonly phase: RepairPhase;
  readonly message?: string;
  readonly findings?: readonly RepairFinding[];
  /** The next action. */
  readonly action?: RepairAction;
  readonly eligibleAt?: string;
  readonly blockedBy?: readonly RepairBlocker[];
  /** A breaker has closed; the group starts no repair before this time. */
  readonly cooldownUntil?: string;
  readonly attempts?: readonly RepairAttempt[];
  /** The instance that replaced it. */
  readonly replacement?: string;
  /** The detached instance is terminated at this time. */
  readonly quarantinedUntil?: string;
  readonly endedAt?: string;
}

export interface NodeRepair extends KubeObject {
  readonly spec: NodeRepairSpec;
  readonly status?: NodeRepairStatus;
}

/** Code of a group's health issue and condition: several repairs in a row did not help. */
export const repairIneffective = 'RepairIneffective';

/** Number of ended repairs that are kept per group. */
export const keptRepairs = 20;
