// When the next step of an update may begin: maintenance windows, freezes, approval; and what holds
// it, as status, command line and plan tell it. Part of NodeGroup's `spec.updateConfig`. Decides
// nothing.

/** Open from each time that `cron` names, for so long, in the time zone's own time. */
export interface MaintenanceWindow {
  /** Five fields: minute, hour, day of month, month, day of week. */
  readonly cron: string;
  readonly durationSeconds: number;
  /** IANA name such as Europe/Berlin; default UTC. */
  readonly timeZone?: string;
}

/** Nothing begins from `from` on until `until`, whatever windows say. RFC 3339. */
export interface Freeze {
  readonly from: string;
  readonly until: string;
  readonly reason?: string;
}

export const windowDefaults = ['Open', 'Closed'] as const;
export const approvals = ['Required', 'NotRequired'] as const;

export const waveGates = ['Approval', 'Probes'] as const;

/** So much of the group is updated when the wave is over; then the update rests. */
export interface Wave {
  /** Of all nodes of the update, those of earlier waves included. */
  readonly percent: number;
  /** From the last new node of the wave being Ready; default 0. */
  readonly soakSeconds?: number;
  /** What has to be said or seen before the next wave besides. */
  readonly gates?: readonly (typeof waveGates)[number][];
}

export const probeFailurePolicies = ['Hold', 'Fail'] as const;

/** Looked at while nodes are updated: no further node is begun while it does not pass. */
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
   * So many failures in a row are told as such, and end the update where that is asked for; default
   * 3.
   */
  readonly failureThreshold?: number;
  /** Default Hold: it waits until the probe passes. */
  readonly onFailure?: (typeof probeFailurePolicies)[number];
}

/** What was found when a probe was last looked at. */
export interface ProbeResult {
  readonly name: string;
  readonly isPassing: boolean;
  /** In a row. */
  readonly failures: number;
  readonly message: string;
  readonly at: string;
}

/** Of the journal of an update: those that do not pass. */
export interface FailingProbe {
  readonly name: string;
  readonly failures: number;
  readonly message: string;
}

/** Where an update with waves is; behind the last one `number` is one more than `of`. */
export interface WaveStatus {
  readonly number: number;
  readonly of: number;
  /** So many nodes are updated when it is over. */
  readonly upTo: number;
  /** When its last new node was Ready: its soak began then. */
  readonly doneAt?: string;
}

/** The part of `spec.updateConfig` that says when a step may begin. */
export interface UpdatePacing {
  readonly windows?: readonly MaintenanceWindow[];
  /** What holds where no window is defined; default Open. */
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

/** Why an update begins nothing at the moment. Drains under way are never held. */
export interface Hold {
  readonly kind: HoldKind;
  /** One sentence, with what ends it. */
  readonly reason: string;
  readonly since: string;
  /** When it ends by itself; absent: not before somebody does something. */
  readonly until?: string;
}

/** On a NodeGroupUpdate: "true", or the hash of the plan that was looked at. */
export const approvedAnnotation = 'drover.dev/approved';
/** On a NodeGroupUpdate: the number of the wave that is approved, and all before it. */
export const approvedWaveAnnotation = 'drover.dev/approved-wave';
/** On a NodeGroupUpdate, "true": the soak of blue/green is over as soon as it has begun. */
export const soakOverAnnotation = 'drover.dev/soak-over';
/**
 * Who did, as the command line was told by the API server; a note, no proof: that is the audit
 * log's.
 */
export const approvedByAnnotation = 'drover.dev/approved-by';
/** The same of the wave: who approved the begin stays known beside it. */
export const approvedWaveByAnnotation = 'drover.dev/approved-wave-by';
