// What the page shows: one snapshot, then deltas of the same rows. Served as JSON at /page/v1/; the
// texts are those of `drover explain`. Times are RFC 3339, in the time of the API server or of the
// world, never of the reader. Nothing here decides.
import type { DisruptionOutcome, DisruptionPhase } from './disruption.ts';
import type { RepairPhase } from './node-repair.ts';
import type { NodeGroupUpdateStatus, UpdatePace, UpdatePhase } from './nodegroup-update.ts';

/** Raised when a reader of the previous version would misread a document. */
export const pageVersion = 1;

/** Documents are bounded: `left` counts the omitted rows. */
export const pageLimits = {
  nodes: 10_000,
  groups: 1_000,
  updates: 100,
  drains: 2_000,
  repairs: 500,
  budgets: 500,
  journal: 500,
} as const;

/** What a row waits for: why, since when, until when, and what happens then. */
export interface PageWait {
  /** One sentence of core/explain. */
  readonly text: string;
  /** The cause in short; rows with the same cause form one entry of the list of waits. */
  readonly cause: string;
  readonly since: string | null;
  readonly until: string | null;
  /** At `until`: pods are deleted, the drain fails, or (null) the wait just ends. */
  readonly atEnd: 'force' | 'fail' | null;
  /** Further things that it waits for. */
  readonly more: number;
}

/**
 * The state of a node as one letter, everywhere the same: J joining, C cordoned, D draining,
 * E empty and cooling, T terminating, X unhealthy, H held, P under pressure; empty: ready.
 */
export const phaseLetters = ['', 'J', 'C', 'D', 'E', 'T', 'X', 'H', 'P'] as const;
export type PhaseLetter = (typeof phaseLetters)[number];

export interface PageNode {
  /** The name of the Node. */
  readonly key: string;
  /** Null: the node belongs to no node group. */
  readonly group: string | null;
  readonly zone: string | null;
  readonly type: string | null;
  readonly isSpot: boolean;
  readonly instance: string | null;
  /** The kubelet's version. */
  readonly version: string | null;
  /** Another image or launch template than its group's, or than the target of its update. */
  readonly isOld: boolean;
  readonly letter: PhaseLetter;
  readonly health: string;
  /** The first finding: condition and reason. */
  readonly finding: string | null;
  readonly isCordoned: boolean;
  /** Requested by its pods, as a share of what is allocatable; null where that is unknown. */
  readonly cpu: number | null;
  readonly memory: number | null;
  readonly pods: number;
  readonly created: string;
  readonly drain: string | null;
  readonly repair: string | null;
  readonly wait: PageWait | null;
}

export interface PageIssue {
  readonly code: string;
  readonly message: string;
  readonly remedy: string | null;
}

/** The disruption ledger: the group's nodes out of service by cause, and the limit. */
export interface PageLedger {
  readonly limit: number;
  readonly update: number;
  readonly repair: number;
  /** Taken out of service by notices of the cloud, which no limit delays. */
  readonly notice: number;
  readonly other: number;
}

export interface PageGroup {
  readonly key: string;
  /** False: nodes carry the group's label, and no NodeGroup exists. */
  readonly isManaged: boolean;
  readonly cluster: string | null;
  readonly state: string;
  readonly desired: number | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly ready: number;
  readonly version: string | null;
  readonly release: string | null;
  readonly types: readonly string[];
  readonly capacity: string | null;
  readonly strategy: string | null;
  readonly ledger: PageLedger | null;
  readonly issues: readonly PageIssue[];
  /** The open update. */
  readonly update: string | null;
  readonly wait: PageWait | null;
}

export interface PageHold {
  readonly kind: string;
  readonly reason: string;
  readonly since: string;
  readonly until: string | null;
}

export interface PageUpdate {
  readonly key: string;
  readonly group: string;
  /** Type of the update, such as VersionUpdate or Rollback. */
  readonly what: string;
  readonly strategy: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly status: NodeGroupUpdateStatus['status'];
  readonly phase: UpdatePhase | null;
  readonly message: string;
  readonly isPaused: boolean;
  readonly abort: 'Stop' | 'RollBack' | null;
  readonly created: string;
  readonly started: string | null;
  readonly ended: string | null;
  readonly total: number | null;
  readonly done: number;
  readonly draining: number;
  readonly failed: number;
  /** Half of such updates end before the first, nine of ten before the second. */
  readonly eta: { readonly p50: string; readonly p90: string } | null;
  /** The prediction of the reviewed plan, in seconds from the start. */
  readonly predicted: { readonly p50: number; readonly p90: number } | null;
  readonly maxUnavailable: number | null;
  readonly holds: readonly PageHold[];
  readonly issues: readonly PageIssue[];
  readonly pace: readonly UpdatePace[];
  readonly phases: readonly { readonly phase: UpdatePhase; readonly at: string }[];
  readonly wait: PageWait | null;
}

export interface PageDrain {
  readonly key: string;
  readonly node: string;
  readonly group: string | null;
  readonly causes: readonly string[];
  readonly phase: DisruptionPhase;
  readonly outcome: DisruptionOutcome | null;
  readonly message: string | null;
  readonly followUp: string | null;
  readonly podsLeft: number | null;
  readonly podsTotal: number | null;
  readonly started: string | null;
  readonly drained: string | null;
  readonly ended: string | null;
  readonly deadline: string | null;
  readonly wait: PageWait | null;
}

export interface PageRepair {
  readonly key: string;
  readonly node: string;
  readonly group: string;
  readonly finding: string;
  readonly phase: RepairPhase | null;
  readonly action: string | null;
  readonly since: string;
  readonly ended: string | null;
  readonly message: string;
  readonly wait: PageWait | null;
}

/** A budget that allows no eviction, or that a drain waits for. */
export interface PageBudget {
  /** namespace/name. */
  readonly key: string;
  readonly rule: string;
  readonly allowed: number;
  readonly healthy: number;
  readonly desired: number;
  readonly expected: number;
  /** Drains that wait for it. */
  readonly drains: readonly string[];
  /** The longest of these waits. */
  readonly wait: PageWait | null;
}

export interface PageRows {
  readonly group: PageGroup;
  readonly node: PageNode;
  readonly update: PageUpdate;
  readonly drain: PageDrain;
  readonly repair: PageRepair;
  readonly budget: PageBudget;
}
export type PageKind = keyof PageRows;
export const pageKinds = ['group', 'node', 'update', 'drain', 'repair', 'budget'] as const;

/** One line of the journal of the controllers in this process. */
export interface PageEntry {
  readonly at: string;
  /** Kind of the entry, such as disruption:phase. */
  readonly type: string;
  readonly subject: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface PageTime {
  readonly now: string;
  /** World seconds per second of real time; `max`: the world runs as fast as it can. */
  readonly speed: number | 'max';
}

export interface PageSnapshot {
  readonly version: typeof pageVersion;
  /** Position in the stream: /page/v1/events?from=ID continues here. */
  readonly id: string;
  readonly time: PageTime;
  readonly server: {
    readonly version: string;
    /** Null: a cluster outside of a world. */
    readonly world: { readonly seed: number } | null;
    /** Whether this process runs controllers, whose journal the page then shows. */
    readonly hasJournal: boolean;
    /** Updates can be approved, paused, resumed and stopped here. */
    readonly actions: boolean;
  };
  readonly rows: { readonly [K in PageKind]: readonly PageRows[K][] };
  /** Rows that the limits left out. */
  readonly left: { readonly [K in PageKind]: number };
  /** Oldest first. */
  readonly journal: readonly PageEntry[];
  /** Entries that this process has recorded: those before the first of `journal` are not sent. */
  readonly recorded: number;
  /** Reasons why the displayed data may be out of date. */
  readonly faults: readonly string[];
}

/** The data of an event `delta`. */
export interface PageDelta {
  readonly time: PageTime;
  readonly set: { readonly [K in PageKind]?: readonly PageRows[K][] };
  readonly gone: { readonly [K in PageKind]?: readonly string[] };
  readonly journal: readonly PageEntry[];
  /**
   * As in the snapshot. If it grows by more than the number of entries in `journal`, there were too
   * many entries to send.
   */
  readonly recorded: number;
  readonly faults: readonly string[];
}

export interface PagePod {
  /** namespace/name. */
  readonly key: string;
  readonly owner: string | null;
  readonly phase: string;
  /** The pod stays when the node is drained: it is of a DaemonSet, static or finished. */
  readonly stays: boolean;
  readonly isStopping: boolean;
  readonly cpu: number;
  readonly memory: number;
  readonly since: string;
}

/** A moment, or a span, in the life of a node or an update. */
export interface PageMoment {
  readonly at: string;
  /**
   * End; null for a moment without duration. For a span that is still open, the present: see
   * `isOpen`.
   */
  readonly until: string | null;
  readonly isOpen: boolean;
  readonly what: string;
  readonly tone: 'plain' | 'work' | 'wait' | 'bad' | 'good';
}

/** GET /page/v1/node?name=NAME */
export interface PageNodeDetail {
  readonly version: typeof pageVersion;
  readonly name: string;
  /** What `drover explain node NAME` prints of its records. */
  readonly lines: readonly string[];
  readonly timeline: readonly PageMoment[];
  readonly pods: readonly PagePod[];
  readonly podsLeftOut: number;
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
    readonly since: string | null;
  }[];
  readonly journal: readonly PageEntry[];
}

export interface PageUpdateNode {
  readonly name: string;
  readonly state: 'inFlight' | 'waiting' | 'notBegun' | 'failed' | 'kept' | 'done' | 'takenBack';
  readonly what: string;
  readonly started: string | null;
  readonly ended: string | null;
  readonly deadline: string | null;
  readonly podsLeft: number | null;
  readonly podsTotal: number | null;
  readonly blockers: readonly string[];
}

/** GET /page/v1/update?name=ID */
export interface PageUpdateDetail {
  readonly version: typeof pageVersion;
  readonly name: string;
  readonly nodes: readonly PageUpdateNode[];
  readonly nodesLeftOut: number;
  /** What each action would do now, or why it is refused. */
  readonly actions: readonly PageAction[];
  readonly journal: readonly PageEntry[];
}

export const updateVerbs = ['approve', 'pause', 'resume', 'stop', 'rollback'] as const;
export type UpdateVerb = (typeof updateVerbs)[number];

export interface PageAction {
  readonly verb: UpdateVerb;
  readonly isPossible: boolean;
  /** What the action does, or why it cannot be done. */
  readonly plan: readonly string[];
  /** The command that does the same. */
  readonly command: string;
}
