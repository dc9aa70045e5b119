// The model's input as numeric arrays, built once for all runs of a plan: nodes, pods, applications
// and budgets by index. Pure.
import type { ModelApp, ModelInput } from './model.ts';
import type { Chance } from './random.ts';
import { spreadFactor } from './spread.ts';
import { drawStop, Stops } from './stops.ts';

/** Share of the drain timeout that is planned, as in core/update/strategies/gate.ts. */
const gateShare = 0.9;

/** Stands for an absent index. */
const none = -1;

export interface CompiledApps {
  readonly count: number;
  /** Per application: index of its budget, or -1. */
  readonly budget: Int32Array;
  readonly waitsForStop: Uint8Array;
  /** Seconds of a replacement, as Spread; `factor` scales the normal in the exponent. */
  readonly replaceP50: Float64Array;
  readonly replaceFactor: Float64Array;
  readonly replaceMost: Float64Array;
  /** Per application: the number of its pods on old nodes. */
  readonly pods: Int32Array;
}

/**
 * The load of each old node's pods on each budget. Entries of node n are from `first[n]` up to, but
 * not including, `first[n + 1]`.
 */
export interface CompiledLoads {
  readonly first: Int32Array;
  readonly budget: Int32Array;
  /** Pods of the budget on the node. */
  readonly count: Int32Array;
  /** From an eviction until its replacement is Ready, for the slowest owner. */
  readonly seconds: Float64Array;
  /** The gate allows the drain while at most this many pods of the budget are outstanding. */
  readonly most: Float64Array;
  /** Per node: duration of its drain alone, by its budgets. */
  readonly alone: Float64Array;
}

export interface Compiled {
  readonly input: ModelInput;
  readonly apps: CompiledApps;
  readonly allowed: Float64Array;
  /** Zone names, sorted. */
  readonly zones: readonly string[];
  readonly zoneOf: Int32Array;
  readonly isReady: Uint8Array;
  readonly isUnreachable: Uint8Array;
  /** Pod indexes per old node; application index per pod. */
  readonly podsOf: readonly (readonly number[])[];
  readonly appOf: Int32Array;
  /** Budget index per pod, or -1. */
  readonly budgetOf: Int32Array;
  /** Per pod, in seconds. */
  readonly waitOf: Float64Array;
  /** Some drain waits for a pod before it evicts the pod. */
  readonly hasWaits: boolean;
  readonly loads: CompiledLoads;
}

const compileApps = (apps: readonly ModelApp[], nodes: ModelInput['nodes']): CompiledApps => {
  const pods = new Int32Array(apps.length);
  for (const node of nodes) for (const { app } of node.pods) pods[app] = (pods[app] ?? 0) + 1;
  const numbers = (of: (app: ModelApp) => number): Float64Array => Float64Array.from(apps, of);
  return {
    count: apps.length,
    budget: Int32Array.from(apps, ({ budget = none }) => budget),
    waitsForStop: Uint8Array.from(apps, ({ waitsForStop }) => Number(waitsForStop)),
    replaceP50: numbers(({ replace }) => replace.p50),
    replaceFactor: numbers(({ replace }) => spreadFactor(replace)),
    replaceMost: numbers(({ replace }) => replace.most ?? Number.POSITIVE_INFINITY),
    pods,
  };
};

/** Draws a replacement time of the application, multiplied by `pace`. */
export const drawReplace = (
  apps: CompiledApps,
  app: number,
  { chance, pace }: { readonly chance: Chance; readonly pace: number },
): number => {
  const p50 = apps.replaceP50[app] ?? 0;
  if (p50 <= 0) return 0;
  const most = apps.replaceMost[app] ?? 0;
  const seconds = Math.min(p50 * Math.exp(chance.normal() * (apps.replaceFactor[app] ?? 0)), most);
  return Math.min(pace * seconds, most);
};

interface Load {
  count: number;
  seconds: number;
}

/**
 * For each node: per budget, the number of its pods and the longest time to replace one. As in the
 * controller, that time includes the pod's full grace period.
 */
const loadsOf = ({ apps, nodes }: ModelInput): readonly ReadonlyMap<number, Load>[] => {
  const recovery = apps.map(({ replace, graceSeconds }) => replace.p50 + graceSeconds);
  return nodes.map(({ pods }) => {
    const loads = new Map<number, Load>();
    for (const { app } of pods) {
      const budget = apps[app]?.budget;
      if (budget === undefined) continue;
      const seconds = recovery[app] ?? 0;
      const load = loads.get(budget);
      if (load === undefined) loads.set(budget, { count: 1, seconds });
      else {
        load.count++;
        load.seconds = Math.max(load.seconds, seconds);
      }
    }
    return loads;
  });
};

const compileLoads = (input: ModelInput, allowed: Float64Array): CompiledLoads => {
  const all = loadsOf(input);
  const size = all.reduce((sum, loads) => sum + loads.size, 0);
  const limit = gateShare * input.drainTimeoutSeconds;
  const first = new Int32Array(all.length + 1);
  const [budgets, counts] = [new Int32Array(size), new Int32Array(size)];
  const [seconds, most] = [new Float64Array(size), new Float64Array(size)];
  const alone = new Float64Array(all.length);
  let at = 0;
  for (const [node, loads] of all.entries()) {
    for (const [budget, load] of loads) {
      const most1 = allowed[budget] ?? 1;
      budgets[at] = budget;
      counts[at] = load.count;
      seconds[at] = load.seconds;
      const rounds = load.seconds > 0 ? Math.floor(limit / load.seconds) : Infinity;
      most[at] = rounds * most1 - load.count;
      const took = Math.ceil(load.count / most1) * load.seconds;
      alone[node] = Math.max(alone[node] ?? 0, took);
      at++;
    }
    first[node + 1] = at;
  }
  return { first, budget: budgets, count: counts, seconds, most, alone };
};

export const compile = (input: ModelInput): Compiled => {
  const { nodes } = input;
  const zones = [...new Set(nodes.map(({ zone }) => zone))].toSorted();
  const indexOf = new Map(zones.map((zone, index) => [zone, index]));
  const allowed = Float64Array.from(input.budgets, (budget) => budget.allowed);
  const appOf = Int32Array.from(nodes.flatMap(({ pods }) => pods.map(({ app }) => app)));
  let pod = 0;
  const podsOf = nodes.map(({ pods }) => pods.map(() => pod++));
  const apps = compileApps(input.apps, nodes);
  const waitOf = Float64Array.from(
    nodes.flatMap(({ pods }) => pods.map(({ waitSeconds = 0 }) => waitSeconds)),
  );
  return {
    input,
    apps,
    allowed,
    zones,
    zoneOf: Int32Array.from(nodes, ({ zone }) => indexOf.get(zone) ?? none),
    isReady: Uint8Array.from(nodes, ({ isReady }) => Number(isReady)),
    isUnreachable: Uint8Array.from(nodes, (one) => Number(one.isUnreachable === true)),
    podsOf,
    appOf,
    budgetOf: appOf.map((app) => apps.budget[app] ?? none),
    waitOf,
    hasWaits: waitOf.some((seconds) => seconds > 0),
    loads: compileLoads(input, allowed),
  };
};

/** How much slower each application is in a run, and how long its pods take to stop. */
export interface Habits {
  readonly pace: Float64Array;
  readonly stops: Stops;
}

export const habitsOf = (
  { apps, appSpread }: ModelInput,
  chance: Chance,
  { seed, medians }: { readonly seed: number; readonly medians: boolean },
): Habits => {
  const pace = new Float64Array(apps.length);
  const stop = new Float64Array(apps.length);
  for (const [at, { stop: spread }] of apps.entries()) {
    pace[at] = medians ? 1 : 1 + appSpread * (2 * chance.next() - 1);
    stop[at] = medians ? spread.p50 : drawStop(spread, chance);
  }
  return { pace, stops: new Stops(apps, stop, { seed, medians, appSpread }) };
};
