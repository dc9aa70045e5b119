// How many runs a plan takes: as many as its quantiles need, and more if runs are cheap. Pure: the
// number depends on the snapshot only, so the same snapshot gives the same plan.
import { asRun } from './blue-green.ts';
import { compile } from './compiled.ts';
import type { ModelInput, RunResult } from './model.ts';
import { simulateCompiled } from './simulate.ts';

/** With this many runs the p90 depends on the 20 slowest. */
export const mostRuns = 200;
/** Fewer runs are not representative of slow ones, however similar they are. */
const fewestRuns = 32;
/** Runs are added in steps of this size. */
const runsAtOnce = 8;
/** Total evictions that cost less than a second: within these every plan takes `mostRuns`. */
const cheapEvictions = 200_000;
/**
 * Total evictions beyond which a plan takes only `fewestRuns` runs: about 15 s of processor time.
 */
const mostEvictions = 8_000_000;
/** p50 and p90 are precise enough when their 90 % confidence interval is within this share. */
const tolerance = 0.05;
/** Half-width of the central 90 % of a standard normal. */
const z95 = 1.645;

/** Whether the order statistics that bound p50 and p90 with 90 % confidence are close together. */
export const areKnown = (seconds: readonly number[]): boolean => {
  const sorted = seconds.toSorted((a, b) => a - b);
  const count = sorted.length;
  return [0.5, 0.9].every((share) => {
    const half = z95 * Math.sqrt(count * share * (1 - share));
    const at = (rank: number): number =>
      sorted[Math.min(count - 1, Math.max(0, Math.floor(rank)))] ?? 0;
    const middle = at(count * share);
    const low = middle - at(count * share - half);
    const high = at(count * share + half) - middle;
    return Math.max(low, high) <= tolerance * middle;
  });
};

export interface Asked {
  readonly seed: number;
  /** Maximum number of runs. */
  readonly most: number;
}

export interface RunSums {
  /** Runs over all orders, for durations. */
  readonly runs: readonly RunResult[];
  /** Runs in the actual order, if known, for places and times. */
  readonly ordered: readonly RunResult[];
  /** A run in which all times are their medians. */
  readonly median: RunResult;
}

/**
 * Share of the runs repeated in the update's actual order, which show where and when something
 * happens first. All runs with MINIMAL, where pods may lack room, since the share of such runs is a
 * finding.
 */
const orderedShare = 0.25;

const isOrderKnown = ({ nodes }: ModelInput): boolean =>
  nodes.every(({ turn }) => turn !== undefined);

export const runsOf = (input: ModelInput, { seed, most }: Asked): RunSums => {
  const model = compile(asRun(input));
  const { nodes, strategy } = input;
  const inTurns = isOrderKnown(input);
  const pods = Math.max(1, model.appOf.length);
  const runsWithin = (evictions: number): number =>
    Math.min(most, Math.max(fewestRuns, Math.floor(evictions / pods)));
  const [least, limit] = [runsWithin(cheapEvictions), runsWithin(mostEvictions)];
  const runs: RunResult[] = [];
  const isEnough = (): boolean =>
    runs.length >= limit || (runs.length >= least && areKnown(runs.map(({ seconds }) => seconds)));
  while (nodes.length > 0 && !isEnough()) {
    const count = Math.min(runs.length === 0 ? least : runsAtOnce, limit - runs.length);
    for (let i = 0; i < count; i++) runs.push(simulateCompiled(model, seed + runs.length));
  }
  const share = strategy === 'MINIMAL' ? 1 : orderedShare;
  const ordered = inTurns
    ? Array.from({ length: Math.ceil(runs.length * share) }, (_, i) =>
        simulateCompiled(model, seed + i, { inTurns }),
      )
    : runs;
  return { runs, ordered, median: simulateCompiled(model, seed, { medians: true, inTurns }) };
};
