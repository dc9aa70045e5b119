// The input of a decision about one disruption. `memory` is what this process has observed itself.
// It may be empty at any time (a restart); that costs a repeated call, never a wrong one.
import type { DurationMs, EpochMs } from '../../api/brand.ts';
import type { TargetState } from '../../api/cloud.ts';
import type { NodeDisruption, WaitingOn } from '../../api/disruption.ts';
import type { Node, Pod } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { StopTimes } from '../../api/stop-times.ts';

/** eks: the two patches of EKS, and its 15 minutes. native: one patch with preconditions. */
export type Compat = 'eks' | 'native';

export interface TerminationOptions {
  readonly compat: Compat;
  /** For causes without a deadline of their own; EKS waits about this long (15 min). */
  readonly drainTimeoutMs: DurationMs;
  /** The term of this leader, where leader election is used. */
  readonly epoch?: number;
}

export interface HookMemory {
  readonly lastHeartbeatAt?: EpochMs;
  /** The last call, failed or not, and the number of failures in a row. */
  readonly lastAttemptAt?: EpochMs;
  readonly failures: number;
  readonly message?: string;
  readonly result?: 'Completed' | 'Gone';
}

/** A call that acts on the instance: the last one, and the number of failures in a row. */
interface InstanceCall {
  readonly at: EpochMs;
  readonly done: boolean;
  readonly failures: number;
  readonly message?: string;
}

export interface Memory {
  readonly hooks: ReadonlyMap<string, HookMemory>;
  /** When this process first saw the disruption; it may be the first process to do so. */
  readonly firstLookAt?: EpochMs;
  /** The node's pods from a quorum list. */
  readonly listed?: { readonly at: EpochMs; readonly pods: readonly Pod[] };
  /**
   * Highest number of evictable pods observed on the node at one time; written at the end of a
   * quick drain.
   */
  readonly mostPods?: number;
  /** How long the node's pods took to stop; written at the end of the drain. */
  readonly stopTimes?: readonly StopTimes[];
  /** Whether a quorum list of nodes contained this one. */
  readonly nodeListed?: { readonly at: EpochMs; readonly found: boolean };
  /**
   * `nodeName`: its private DNS name, under which kubelets on AWS register by default. `gone`: it
   * runs no longer; `isStopped`: it may run again.
   */
  readonly instance?: {
    readonly at: EpochMs;
    readonly gone: boolean;
    readonly isStopped?: boolean;
    readonly nodeName?: string;
  };
  /** Whether the cloud is terminating the instance, or has. */
  readonly leaving?: { readonly at: EpochMs; readonly found: boolean };
  /**
   * Whether the group rebalances its capacity, how many of its other members are in service, and
   * its desired size.
   */
  readonly replacement?: {
    readonly at: EpochMs;
    readonly rebalances: boolean;
    readonly serving: number;
    readonly desired: number;
  };
  readonly terminate?: InstanceCall;
  readonly reboot?: InstanceCall;
  readonly detach?: InstanceCall;
}

export const noMemory: Memory = { hooks: new Map() };

export interface Waiting {
  readonly name: string;
  readonly dueAt: EpochMs | undefined;
}

/** The state of a group's disruption ledger for a drain that waits for its turn. */
export interface Ledger {
  readonly maxUnavailable: number;
  /** The time allowed for one drain, in milliseconds. */
  readonly drainMs: number;
  /** Nodes out of service, including those whose turn has just come. */
  readonly out: number;
  /** All waiting drains, in any order. */
  readonly waiting: readonly Waiting[];
}

export interface Observation {
  readonly disruption: NodeDisruption;
  /** The node of this instance (or of this name), whatever its uid. */
  readonly node: Node | undefined;
  /** Pods bound to the node; undefined until its watch has listed them. */
  readonly pods: readonly Pod[] | undefined;
  /** `pods` includes every pod that was bound to the node before this instant. */
  readonly podsCompleteAt?: EpochMs;
  readonly daemonSetIsGone?: (uid: string) => boolean;
  /** From the allocation over all drains; undefined while it has not examined this one. */
  readonly blockers: readonly WaitingOn[] | undefined;
  readonly group: NodeGroup | undefined;
  /** PersistentVolumes attached to the node; `unknown` until listed. Absent: not observed. */
  readonly attached?: readonly string[] | 'unknown';
  /** The instance in the target groups of its cluster. Absent: they were not read. */
  readonly targets?: readonly TargetState[] | 'unknown';
  /** The group's ledger, where the causes may wait for their turn; undefined: no waiting. */
  readonly ledger?: Ledger;
  readonly memory: Memory;
  readonly now: EpochMs;
  readonly options: TerminationOptions;
}
