// The gate: no batch of drains is begun that a budget would keep beyond the drain's time. Formula:
// reference updates 3.4, "no-timeout condition": rounds of a budget times the time in which it
// recovers. Pure.

/** What the pods of one node ask of one budget. */
export interface BudgetLoad {
  /** `namespace/name`. */
  readonly budget: string;
  readonly pods: number;
  /** How many may be missing at once when all are healthy; 0 = none ever. */
  readonly allowed: number;
  /** From an eviction to its replacement being Ready. */
  readonly recoveryMs: number;
}

/** Leaves room for what no formula knows. */
const share = 0.9;

/** How long the budget that takes longest keeps these nodes, drained together. */
export const drainTimeMs = (loads: readonly (readonly BudgetLoad[])[]): number => {
  const times = [...sharedLoads(loads).values()].map(({ pods, allowed, recoveryMs }) =>
    allowed === 0 ? Number.POSITIVE_INFINITY : Math.ceil(pods / allowed) * recoveryMs,
  );
  return Math.max(0, ...times);
};

/**
 * Whether `next` may be drained beside those that are. Alone it always may: nothing better will
 * come.
 */
export const gateAllows = (
  inFlight: readonly (readonly BudgetLoad[])[],
  next: readonly BudgetLoad[],
  drainTimeoutMs: number,
): boolean => {
  if (inFlight.length === 0) return true;
  // Nodes that share no budget do not wait for each other.
  const mine = new Set(next.map(({ budget }) => budget));
  const shared = inFlight.map((loads) => loads.filter(({ budget }) => mine.has(budget)));
  return drainTimeMs([...shared, next]) <= share * drainTimeoutMs;
};

/** No drain of this node can end in time, whatever else happens. */
export const isHopeless = (loads: readonly BudgetLoad[]): boolean =>
  loads.some(({ allowed, pods }) => allowed === 0 && pods > 0);

/** What nodes that are being drained ask of each budget, all together. */
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
 * How much longer it would take beside those that are being drained than alone: a look at its own
 * budgets.
 */
export const waitBeside = (inFlight: SharedLoads, next: readonly BudgetLoad[]): number => {
  const mine = new Set(next.map(({ budget }) => budget));
  const shared = [...mine].flatMap((budget) => inFlight.get(budget) ?? []);
  const beside = drainTimeMs([shared, next]);
  return Number.isFinite(beside) ? beside - drainTimeMs([next]) : 0;
};

/** How long each budget takes for all these nodes, were there nothing else. */
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
