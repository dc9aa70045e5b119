// What an update with one of Drover's own strategies does when a step does not succeed: a drain
// that exceeds its timeout, new nodes that do not join. Also how long blue/green keeps old nodes.
// Part of a node group's updateConfig, and of one update. No behaviour.

/** What happens when a node's drain exceeds its timeout. */
export const drainTimeoutPolicies = ['Fail', 'Skip', 'Quarantine', 'Force', 'Pause'] as const;
export type DrainTimeoutPolicy = (typeof drainTimeoutPolicies)[number];

export interface UpdateDrain {
  /** The drain timeout; default: the group's, which is 15 minutes as in EKS. */
  readonly timeoutSeconds?: number;
  /** Seconds between empty and terminated; default: 60, as in EKS. */
  readonly cooldownSeconds?: number;
  readonly onTimeout?: DrainTimeoutPolicy;
  /** With Force: seconds after the timeout until pods are deleted; default: 0. */
  readonly forceAfterSeconds?: number;
}

export interface UpdateRollback {
  readonly auto: boolean;
  /** Number of new nodes that fail to join before a rollback starts; default: 1. */
  readonly failedNewNodes?: number;
}

/** What happens in zones where no new node can be launched. */
export const shortagePolicies = ['Elsewhere', 'Minimal', 'Fail'] as const;
export type ShortagePolicy = (typeof shortagePolicies)[number];

export interface UpdateCapacity {
  readonly onShortage?: ShortagePolicy;
  /** Seconds after a failed launch until an old node of that zone is drained; default: 300. */
  readonly waitSeconds?: number;
}

/** For BLUE_GREEN: how long the empty old nodes are kept. */
export interface UpdateBlueGreen {
  /**
   * Seconds from the last old node being empty until they are terminated; default: 3600, as in GKE.
   */
  readonly soakSeconds?: number;
  /**
   * Seconds after each batch of maxUnavailable nodes before the next one starts; default 0: the
   * next node starts as soon as one is empty.
   */
  readonly batchSoakSeconds?: number;
}

/** The limit of GKE for a blue pool. */
export const maxSoakSeconds = 7 * 24 * 3600;
/**
 * Limit for a drain's timeout, the time until it forces, and the wait for capacity: the longest
 * wait of a lifecycle hook.
 */
export const maxDrainSeconds = 48 * 3600;
export const maxCooldownSeconds = 3600;

export interface UpdatePolicies {
  readonly drain?: UpdateDrain;
  /** With Quarantine: the update fails with one more than this; default: 1. */
  readonly maxQuarantined?: number;
  readonly rollback?: UpdateRollback;
  readonly capacity?: UpdateCapacity;
  readonly blueGreen?: UpdateBlueGreen;
}

/**
 * On a node whose drain exceeded its timeout and that stays cordoned until an operator has
 * inspected it.
 */
export const quarantineLabel = 'drover.dev/quarantined';

/** Maximum number of quarantined nodes that the status names. */
export const maxQuarantinedNodes = 20;
