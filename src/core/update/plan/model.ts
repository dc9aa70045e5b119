// What the model of an update is told: nodes, pods, budgets and times, all explicit. Times are
// medians with what one in ten exceeds; in seconds throughout. Types and their defaults only.
import type { UpdateStrategy } from '../../../api/nodegroup-update.ts';
import type { HookSpread, HookSpreads, Spread, StopSpread } from './spread.ts';

export interface ModelPod {
  readonly name: string;
  /** Index into `apps`. */
  readonly app: number;
}

export interface ModelNode {
  readonly name: string;
  readonly zone: string;
  readonly isReady: boolean;
  /**
   * Its kubelet is silent: no pod of it ever stops, and each counts as gone after
   * `unstoppableSeconds`.
   */
  readonly isUnreachable?: boolean;
  /** A budget of its pods never allows: such nodes are taken last. */
  readonly isHopeless?: boolean;
  /** In the order of chance of this group and target, from 0; undefined: not known. */
  readonly turn?: number;
  readonly pods: readonly ModelPod[];
}

export interface ModelApp {
  /** Kind/namespace/name. */
  readonly key: string;
  /** Index into `budgets`. */
  readonly budget: number | undefined;
  /** From the order to stop until it is gone. */
  readonly stop: StopSpread;
  readonly graceSeconds: number;
  /** Until its replacement is Ready. */
  readonly replace: Spread;
  /** A StatefulSet's next pod is made only when the last one is gone. */
  readonly waitsForStop: boolean;
}

export interface ModelBudget {
  /** namespace/name. */
  readonly name: string;
  /** How many may be away at once when all are healthy; at least 1. */
  readonly allowed: number;
}

export interface ModelTimes {
  /** Template, sizes, marks: what goes before the first launch and drain. */
  readonly setup: Spread;
  /** From a place in the group until Auto Scaling has launched its instance. */
  readonly launch: Spread;
  /** From the launch until the new node is Ready. */
  readonly boot: Spread;
  /** From the request until the instance is gone. */
  readonly terminate: Spread;
  /** Until the controllers see that a new node is there, or that what was marked is set back. */
  readonly look: Spread;
  /**
   * Until the scheduler looks again for a place, of a pod that found none: others may take the room
   * before it.
   */
  readonly backoff: Spread;
  /** Of hooks that there are. */
  readonly hooks?: HookSpreads;
}

export interface ModelWave {
  /** Of all nodes, those of earlier waves included. */
  readonly percent: number;
  readonly soakSeconds: number;
}

export interface LastTimes {
  /** Soak and cooldown: as long as it is said. */
  readonly seconds: number;
  readonly hook: HookSpread | undefined;
  readonly terminate: Spread;
}

export interface ModelInput {
  readonly strategy: UpdateStrategy;
  readonly nodes: readonly ModelNode[];
  readonly apps: readonly ModelApp[];
  readonly budgets: readonly ModelBudget[];
  readonly maxUnavailable: number;
  readonly surge: number;
  /** Nodes that the group is to have. */
  readonly desired: number;
  /** Nodes of the group that are of the target revision already. */
  readonly done: number;
  /** Nodes outside of the update can take pods. */
  readonly hasRoomElsewhere: boolean;
  /** How many pods a new node takes. */
  readonly podRoom: number;
  readonly drainTimeoutSeconds: number;
  readonly cooldownSeconds: number;
  /** In any order; each rests behind its last new node. */
  readonly waves?: readonly ModelWave[];
  /** Of blue/green: what comes once, when the last old node is empty. */
  readonly last?: LastTimes;
  /** Of blue/green: how long old nodes are kept empty, all of them and each batch. */
  readonly soakSeconds?: number;
  readonly batchSoakSeconds?: number;
  readonly force: boolean;
  readonly times: ModelTimes;
  /** From a node's marks until it may be empty: schedulers are given that long to see them. */
  readonly settleSeconds: number;
  /**
   * How much slower or faster the cloud is throughout a run, as a standard deviation of its
   * logarithm.
   */
  readonly commonSpread: number;
  /**
   * Up to which share one application is slower or faster than it was: its pods are alike, so they
   * do not even out.
   */
  readonly appSpread: number;
}

export interface RunOptions {
  /** Every time is its median: for the order that the plan shows. */
  readonly medians?: boolean;
  /** Nodes take their known turns; else each run draws them. */
  readonly inTurns?: boolean;
}

export interface DrainResult {
  readonly node: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

export interface RunResult {
  readonly seconds: number;
  readonly launches: number;
  readonly evictions: number;
  /** Most evictions of one pod and those that replaced it. */
  readonly evictionsOfOnePod: number;
  /** Of the old nodes, in the order of their release. */
  readonly drains: readonly DrainResult[];
  /** Nodes whose drain took longer than it may. */
  readonly late: readonly string[];
  /** Those of them that waited for replacements which had no place. */
  readonly starved: readonly string[];
}

/**
 * Where nothing was measured. Boot and terminate: what EC2 instances of EKS groups usually take
 * (reference: 120 and 45 s in its simulations); replacement: an image pull and a readiness probe.
 */
export const defaultTimes = {
  setup: { p50: 20, p90: 40, source: 'default' },
  launch: { p50: 5, p90: 15, source: 'default' },
  boot: { p50: 90, p90: 150, source: 'default' },
  terminate: { p50: 45, p90: 90, source: 'default' },
  /** kube-scheduler: 1 s after the first try in vain, twice as long after each, 10 s at most. */
  backoff: { p50: 4, p90: 10, source: 'default' },
  /**
   * While instances come and go the cloud is looked at every second, and changes of nodes are
   * gathered as long.
   */
  look: { p50: 1.6, p90: 2.4, source: 'default' },
  replace: { p50: 20, p90: 60, source: 'default' },
  /** Bounded by the grace period. */
  stop: { p50: 3, p90: 15, source: 'default' },
} as const satisfies Readonly<Record<string, Spread>>;

export const defaultCommonSpread = 0.12;

/** An application takes up to 30 % more or less than it took when it was measured, and no more. */
export const defaultAppSpread = 0.3;

/** As core/termination waits (`settleMs`) between a node's marks and its being empty. */
export const markSettleSeconds = 5;

/** As core/drain (`unstoppableFrom`) counts a pod of an unreachable kubelet as gone. */
export const unstoppableSeconds = 30;
