// What a decision about one disruption looks at. `memory` is what this process has seen itself: it
// may be empty at any time (a restart), and then costs a repeated call, never a wrong one.
import type { DurationMs, EpochMs } from '../../api/brand.ts';
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
  /** The term of this leader, where there may be another one. */
  readonly epoch?: number;
}

export interface HookMemory {
  readonly lastHeartbeatAt?: EpochMs;
  /** The last call, a failed one included, and how many failed in a row. */
  readonly lastAttemptAt?: EpochMs;
  readonly failures: number;
  readonly message?: string;
  readonly result?: 'Completed' | 'Gone';
}

/** A call that acts on the instance: the last one, and how many failed in a row. */
interface InstanceCall {
  readonly at: EpochMs;
  readonly done: boolean;
  readonly failures: number;
  readonly message?: string;
}

export interface Memory {
  readonly hooks: ReadonlyMap<string, HookMemory>;
  /** When this process first looked at the disruption: nobody may have looked before. */
  readonly firstLookAt?: EpochMs;
  /** The node's pods as a quorum list gave them. */
  readonly listed?: { readonly at: EpochMs; readonly pods: readonly Pod[] };
  /**
   * How many pods to evict were seen on the node at once: what is written at the end of a quick
   * drain.
   */
  readonly mostPods?: number;
  /** How long pods of the node took to stop: written at the end of the drain. */
  readonly stopTimes?: readonly StopTimes[];
  /** Whether a quorum list of nodes knew this one. */
  readonly nodeListed?: { readonly at: EpochMs; readonly found: boolean };
  /** `nodeName`: its private DNS name, under which kubelets on AWS register by default. */
  readonly instance?: {
    readonly at: EpochMs;
    readonly gone: boolean;
    readonly nodeName?: string;
  };
  /** Whether the cloud was taking the instance, or had. */
  readonly leaving?: { readonly at: EpochMs; readonly found: boolean };
  /**
   * Whether the group rebalances its capacity, how many of its other members are in service, and
   * how many it is to have.
   */
  readonly replacement?: {
    readonly at: EpochMs;
    readonly rebalances: boolean;
    readonly serving: number;
    readonly desired: number;
  };
  readonly terminate?: InstanceCall;
  readonly reboot?: InstanceCall;
}

export const noMemory: Memory = { hooks: new Map() };

export interface Waiting {
  readonly name: string;
  readonly dueAt: EpochMs | undefined;
}

/** The state of a group's ledger, as one that waits sees it. */
export interface Ledger {
  readonly maxUnavailable: number;
  /** How long one drain is given, in milliseconds. */
  readonly drainMs: number;
  /** Nodes out of service, including those whose turn has just come. */
  readonly out: number;
  /** All that wait, in any order. */
  readonly waiting: readonly Waiting[];
}

export interface Observation {
  readonly disruption: NodeDisruption;
  /** The node of this instance (or of this name), whatever its uid. */
  readonly node: Node | undefined;
  /** Pods bound to the node; undefined until its watch has listed them. */
  readonly pods: readonly Pod[] | undefined;
  readonly daemonSetIsGone?: (uid: string) => boolean;
  /** From the allocation over all drains; undefined while it has not looked at this one. */
  readonly blockers: readonly WaitingOn[] | undefined;
  readonly group: NodeGroup | undefined;
  /** The group's, where the causes may wait for their turn; undefined: nothing is waited for. */
  readonly ledger?: Ledger;
  readonly memory: Memory;
  readonly now: EpochMs;
  readonly options: TerminationOptions;
}
