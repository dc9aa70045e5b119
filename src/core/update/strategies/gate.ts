// The gate: a drain may begin only if budgets let it and the drains in flight finish within the
// drain timeout. Formula: reference updates 3.4, "no-timeout condition": rounds of a budget times
// its recovery time. Pure.

/** How the pods of one node load one budget. */
export interface BudgetLoad {
  /** `namespace/name`. */
  readonly budget: string;
  readonly pods: number;
  /**
   * How many pods may be unavailable when all are healthy; 0: the budget never allows an eviction.
   */
  readonly allowed: number;
  /** From an eviction until its replacement is Ready. */
  readonly recoveryMs: number;
}

/**
 * Share of the drain timeout that may be planned; the rest absorbs what the formula does not model.
 */
const share = 0.9;

/**
 * How long the slowest budget takes if these nodes are drained together; Infinity if it never
 * allows an eviction.
 */
export const drainTimeMs = (loads: readonly (readonly BudgetLoad[])[]): number => {
  const times = [...sharedLoads(loads).values()].map(({ pods, allowed, recoveryMs }) =>
    allowed === 0 ? Number.POSITIVE_INFINITY : Math.ceil(pods / allowed) * recoveryMs,
  );
  return Math.max(0, ...times);
};

/**
 * Whether `next` may be drained beside the drains in flight. It may always be drained alone, since
 * waiting would not improve that.
 */
export const gateAllows = (
  inFlight: readonly (readonly BudgetLoad[])[],
  next: readonly BudgetLoad[],
  drainTimeoutMs: number,
): boolean => {
  if (inFlight.length === 0) return true;
  // Only nodes that share a budget wait for each other.
  const mine = new Set(next.map(({ budget }) => budget));
  const shared = inFlight.map((loads) => loads.filter(({ budget }) => mine.has(budget)));
  return drainTimeMs([...shared, next]) <= share * drainTimeoutMs;
};

/** No drain of this node can finish without force, since a budget never allows an eviction. */
export const isHopeless = (loads: readonly BudgetLoad[]): boolean =>
  loads.some(({ allowed, pods }) => allowed === 0 && pods > 0);

/** The load on each budget, summed over the nodes in flight. */
export type SharedLoads = ReadonlyMap<string, BudgetLoad>;

export const sharedLoads = (inFlight: readonly (readonly BudgetLoad[])[]): SharedLoads => {
  const sums = new Map<string, BudgetLoad>();
  for (const load of inFlight.flat()) {
    const known = sums.get(load.budget);
    sums.set(load.budget, {
      ...load,
      pods: load.pods + (known?.pods ?? 0),
      recoveryMs: Math.max(load.recoveryMs, known?.recoveryMs ?? 0),
    });
  }
  return sums;
};

/**
 * How much longer the drain of `next` takes beside those in flight than alone. O(budgets of the
 * node).
 */
export const waitBeside = (inFlight: SharedLoads, next: readonly BudgetLoad[]): number => {
  const mine = new Set(next.map(({ budget }) => budget));
  const shared = [...mine].flatMap((budget) => inFlight.get(budget) ?? []);
  const beside = drainTimeMs([shared, next]);
  return Number.isFinite(beside) ? beside - drainTimeMs([next]) : 0;
};

/** How long each budget takes for all these nodes if nothing else limits the drains. */
export const chainsOf = (
  nodes: readonly (readonly BudgetLoad[])[],
): ReadonlyMap<string, number> => {
  const chains = new Map<string, number>();
  for (const { budget, pods, allowed, recoveryMs } of nodes.flat()) {
    if (allowed === 0) continue;
    chains.set(budget, (chains.get(budget) ?? 0) + (pods / allowed) * recoveryMs);
  }
  return chains;
};
