// What an update by one of Drover's own strategies does when a step does not succeed: a drain that
// is not over in time, new nodes that do not join; and how long blue/green keeps old nodes. Part of
// a node group's updateConfig, and of one update. No behaviour.

/** What happens when a node's drain is not over in time. */
export const drainTimeoutPolicies = ['Fail', 'Skip', 'Quarantine', 'Force', 'Pause'] as const;
export type DrainTimeoutPolicy = (typeof drainTimeoutPolicies)[number];

export interface UpdateDrain {
  /**
   * A drain is not over in time after so long; default: the group's, which is 15 minutes as EKS'.
   */
  readonly timeoutSeconds?: number;
  /** Between empty and terminate; default: 60, as EKS. */
  readonly cooldownSeconds?: number;
  readonly onTimeout?: DrainTimeoutPolicy;
  /** With Force: pods are deleted so long after the timeout; default: 0. */
  readonly forceAfterSeconds?: number;
}

export interface UpdateRollback {
  readonly auto: boolean;
  /** So many new nodes that do not join begin the way back; default: 1. */
  readonly failedNewNodes?: number;
}

/** What becomes of zones in which no new node can be started. */
export const shortagePolicies = ['Elsewhere', 'Minimal', 'Fail'] as const;
export type ShortagePolicy = (typeof shortagePolicies)[number];

export interface UpdateCapacity {
  readonly onShortage?: ShortagePolicy;
  /** Waited after a failed launch until a node of that zone goes; default: 300. */
  readonly waitSeconds?: number;
}

/** Of BLUE_GREEN: how long the nodes of before are kept when they are empty. */
export interface UpdateBlueGreen {
  /** From the last old node being empty until they are terminated; default: 3600, as GKE. */
  readonly soakSeconds?: number;
  /**
   * After each maxUnavailable of them before the next are begun; default: 0, each place is used
   * again at once.
   */
  readonly batchSoakSeconds?: number;
}

/** GKE keeps a blue pool no longer either. */
export const maxSoakSeconds = 7 * 24 * 3600;
/**
 * Of a drain's timeout, of the time until it is forced, and of the wait for room: as a lifecycle
 * hook's longest.
 */
export const maxDrainSeconds = 48 * 3600;
export const maxCooldownSeconds = 3600;

export interface UpdatePolicies {
  readonly drain?: UpdateDrain;
  /** With Quarantine: one more and the update fails; default: 1. */
  readonly maxQuarantined?: number;
  readonly rollback?: UpdateRollback;
  readonly capacity?: UpdateCapacity;
  readonly blueGreen?: UpdateBlueGreen;
}

/**
 * On a node whose drain was not over in time and that stays cordoned until somebody has looked at
 * it.
 */
export const quarantineLabel = 'drover.dev/quarantined';

/** The status tells no more of them by name. */
export const maxQuarantinedNodes = 20;
