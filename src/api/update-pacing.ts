// When the next step of an update may begin: maintenance windows, freezes, approval; and what holds
// it, as the status, the command line and plans report it. Part of NodeGroup's `spec.updateConfig`.
// Decides nothing.

/** Opens at each time that `cron` names, for `durationSeconds`, in the time zone's local time. */
export interface MaintenanceWindow {
  /** Five fields: minute, hour, day of month, month, day of week. */
  readonly cron: string;
  readonly durationSeconds: number;
  /** IANA name such as Europe/Berlin; default UTC. */
  readonly timeZone?: string;
}

/** No node is started from `from` until `until`, even in an open window. RFC 3339. */
export interface Freeze {
  readonly from: string;
  readonly until: string;
  readonly reason?: string;
}

export const windowDefaults = ['Open', 'Closed'] as const;
export const approvals = ['Required', 'NotRequired'] as const;

export const waveGates = ['Approval', 'Probes'] as const;

/** A share of the group to update, after which the update pauses. */
export interface Wave {
  /** Percentage of all nodes of the update, earlier waves included. */
  readonly percent: number;
  /** Seconds after the wave's last new node is Ready; default 0. */
  readonly soakSeconds?: number;
  /** What the next wave waits for in addition. */
  readonly gates?: readonly (typeof waveGates)[number][];
}

export const probeFailurePolicies = ['Hold', 'Fail'] as const;

/** Checked while nodes are updated: no further node is started while it fails. */
export interface Probe {
  readonly name: string;
  readonly http?: { readonly url: string; readonly expectedStatus?: number };
  readonly condition?: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace?: string;
    readonly name: string;
    readonly type: string;
    readonly status?: 'True' | 'False' | 'Unknown';
  };
  /** Default 30. */
  readonly intervalSeconds?: number;
  /**
   * Number of consecutive failures before the probe counts as failing, and fails the update where
   * requested; default 3.
   */
  readonly failureThreshold?: number;
  /** Default Hold: the update waits until the probe passes. */
  readonly onFailure?: (typeof probeFailurePolicies)[number];
}

/** The last result of a probe. */
export interface ProbeResult {
  readonly name: string;
  readonly isPassing: boolean;
  /** Consecutive failures. */
  readonly failures: number;
  readonly message: string;
  readonly at: string;
}

/** From the journal of an update: probes that fail. */
export interface FailingProbe {
  readonly name: string;
  readonly failures: number;
  readonly message: string;
}

/** The current wave of an update; after the last one `number` is `of` + 1. */
export interface WaveStatus {
  readonly number: number;
  readonly of: number;
  /** Number of updated nodes at the end of the wave. */
  readonly upTo: number;
  /** When its last new node was Ready and its soak started. */
  readonly doneAt?: string;
}

/** The part of `spec.updateConfig` that defines when a step may begin. */
export interface UpdatePacing {
  readonly windows?: readonly MaintenanceWindow[];
  /** Whether steps may begin if no window is defined; default Open. */
  readonly windowDefault?: (typeof windowDefaults)[number];
  readonly freezes?: readonly Freeze[];
  readonly approval?: (typeof approvals)[number];
  readonly waves?: readonly Wave[];
  readonly probes?: readonly Probe[];
}

export const holdKinds = [
  'Paused',
  'Approval',
  'Window',
  'Freeze',
  'Soak',
  'WaveApproval',
  'WaveProbes',
  'Probe',
] as const;
export type HoldKind = (typeof holdKinds)[number];

/** Why an update starts no node at present. Drains in progress are never held. */
export interface Hold {
  readonly kind: HoldKind;
  /** One sentence that says what ends the hold. */
  readonly reason: string;
  readonly since: string;
  /** When it ends by itself; absent: an operator must act. */
  readonly until?: string;
}

/** On a NodeGroupUpdate: "true", or the hash of the reviewed plan. */
export const approvedAnnotation = 'drover.dev/approved';
/** On a NodeGroupUpdate: the number of the approved wave; earlier waves are approved too. */
export const approvedWaveAnnotation = 'drover.dev/approved-wave';
/** On a NodeGroupUpdate, "true": ends the blue/green soak as soon as it has begun. */
export const soakOverAnnotation = 'drover.dev/soak-over';
/**
 * The approver, as the API server reported it to the command line. A note, not a proof: use the
 * audit log for that.
 */
export const approvedByAnnotation = 'drover.dev/approved-by';
/** The same for the current wave. The approver of the start stays recorded beside it. */
export const approvedWaveByAnnotation = 'drover.dev/approved-wave-by';
