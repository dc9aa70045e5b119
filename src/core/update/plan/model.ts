// The input of the model of an update: nodes, pods, budgets and times, all explicit. Times are a
// median and a 90th percentile, in seconds throughout. Types and their defaults only.
import type { UpdateStrategy } from '../../../api/nodegroup-update.ts';
import type { HookSpread, HookSpreads, Spread, StopSpread } from './spread.ts';

export interface ModelPod {
  readonly name: string;
  /** Index into `apps`. */
  readonly app: number;
  /** How long the drain of its node waits before it evicts this pod; absent: not at all. */
  readonly waitSeconds?: number;
}

export interface ModelNode {
  readonly name: string;
  readonly zone: string;
  readonly isReady: boolean;
  /**
   * Its kubelet is unreachable: its pods never stop, and each counts as gone after
   * `unstoppableSeconds`.
   */
  readonly isUnreachable?: boolean;
  /** A budget of its pods never allows an eviction; such nodes are drained last. */
  readonly isHopeless?: boolean;
  /** Position in the random order of this group and target, from 0; undefined: unknown. */
  readonly turn?: number;
  readonly pods: readonly ModelPod[];
}

export interface ModelApp {
  /** Kind/namespace/name. */
  readonly key: string;
  /** Index into `budgets`. */
  readonly budget: number | undefined;
  /** From the eviction until the pod is gone. */
  readonly stop: StopSpread;
  readonly graceSeconds: number;
  /** Until its replacement is Ready. */
  readonly replace: Spread;
  /** StatefulSet: the replacement is created only when the pod is gone. */
  readonly waitsForStop: boolean;
}

export interface ModelBudget {
  /** namespace/name. */
  readonly name: string;
  /** How many may be unavailable when all are healthy; at least 1. */
  readonly allowed: number;
}

export interface ModelTimes {
  /** Template, sizes, taints and labels: everything before the first launch and drain. */
  readonly setup: Spread;
  /** From a free place in the group until Auto Scaling has launched its instance. */
  readonly launch: Spread;
  /** From the launch until the new node is Ready. */
  readonly boot: Spread;
  /** From the request until the instance is gone. */
  readonly terminate: Spread;
  /**
   * Until the controllers notice that a new node joined, or that labels and taints were removed.
   */
  readonly look: Spread;
  /** Until the scheduler retries a pod that found no node; other pods may take the room first. */
  readonly backoff: Spread;
  /** Durations of the group's hooks. */
  readonly hooks?: HookSpreads;
}

export interface ModelWave {
  /** Percentage of all nodes, earlier waves included. */
  readonly percent: number;
  readonly soakSeconds: number;
}

export interface LastTimes {
  /** Soak and cooldown, exactly as configured. */
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
  /** Desired size of the group. */
  readonly desired: number;
  /** Nodes of the group that are already of the target revision. */
  readonly done: number;
  /** Nodes outside the update can take pods. */
  readonly hasRoomElsewhere: boolean;
  /** How many pods a new node can take. */
  readonly podRoom: number;
  readonly drainTimeoutSeconds: number;
  readonly cooldownSeconds: number;
  /** In any order; each soaks after its last new node joined. */
  readonly waves?: readonly ModelWave[];
  /** Blue/green only: the steps that happen once, when the last old node is empty. */
  readonly last?: LastTimes;
  /** Blue/green only: how long all old nodes, and those of each batch, are kept empty. */
  readonly soakSeconds?: number;
  readonly batchSoakSeconds?: number;
  readonly force: boolean;
  readonly times: ModelTimes;
  /** Time from tainting a node until it counts as empty, so that schedulers observe the taint. */
  readonly settleSeconds: number;
  /**
   * How much slower or faster the cloud is throughout a run: standard deviation of the logarithm.
   */
  readonly commonSpread: number;
  /**
   * Maximum relative deviation of one application from its measurement; it applies to all its pods,
   * so it does not average out.
   */
  readonly appSpread: number;
}

export interface RunOptions {
  /** Every time is its median, for the order that the plan shows. */
  readonly medians?: boolean;
  /** Nodes are drained in their known order; otherwise each run draws a random order. */
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
  /** Most evictions of one pod and its replacements. */
  readonly evictionsOfOnePod: number;
  /** Drains of the old nodes, in the order of their begin. */
  readonly drains: readonly DrainResult[];
  /** Nodes whose drain exceeded the drain timeout. */
  readonly late: readonly string[];
  /** Those of them that waited for replacements without room. */
  readonly starved: readonly string[];
}

/**
 * Used if nothing was measured. Boot and terminate: usual times of EC2 instances of EKS groups
 * (reference: 120 and 45 s in its simulations). Replacement: an image pull and a readiness probe.
 */
export const defaultTimes = {
  setup: { p50: 20, p90: 40, source: 'default' },
  launch: { p50: 5, p90: 15, source: 'default' },
  boot: { p50: 90, p90: 150, source: 'default' },
  terminate: { p50: 45, p90: 90, source: 'default' },
  /** kube-scheduler: 1 s after the first failed try, doubled after each, 10 s at most. */
  backoff: { p50: 4, p90: 10, source: 'default' },
  /**
   * While instances launch or terminate, the controller polls the cloud every second and batches
   * node changes as long.
   */
  look: { p50: 1.6, p90: 2.4, source: 'default' },
  replace: { p50: 20, p90: 60, source: 'default' },
  /** Bounded by the grace period. */
  stop: { p50: 3, p90: 15, source: 'default' },
} as const satisfies Readonly<Record<string, Spread>>;

export const defaultCommonSpread = 0.12;

/** An application deviates by at most 30 % from its measurement. */
export const defaultAppSpread = 0.3;

/**
 * core/termination waits this long (`settleMs`) between tainting a node and treating it as empty.
 */
export const markSettleSeconds = 5;

/**
 * After this time core/drain (`unstoppableFrom`) counts a pod of an unreachable kubelet as gone.
 */
export const unstoppableSeconds = 30;
