// How many runs a plan takes: as many as its quantiles need, and more where runs are cheap. Pure:
// the number follows from the snapshot alone, so the same snapshot gives the same plan.
import { asRun } from './blue-green.ts';
import { compile } from './compiled.ts';
import type { ModelInput, RunResult } from './model.ts';
import { simulateCompiled } from './simulate.ts';

/** With these p90 rests on the 20 slowest. */
export const mostRuns = 200;
/** Fewer say too little of the slow ones, however alike they are. */
const fewestRuns = 32;
/** Runs are added so many at a time. */
const runsAtOnce = 8;
/**
 * Evictions of all runs together that cost less than a second: within these no plan takes fewer
 * than `mostRuns`.
 */
const cheapEvictions = 200_000;
/**
 * Evictions of all runs together that no plan exceeds by more than `fewestRuns`: some 15 s of
 * processor time.
 */
const mostEvictions = 8_000_000;
/**
 * p50 and p90 are known well enough when they are known to this share of themselves, nine times of
 * ten.
 */
const tolerance = 0.05;
/** Of a standard normal, nine of ten are within this of its mean, either way. */
const z95 = 1.645;

/**
 * Whether the order statistics about p50 and p90 that hold the true ones nine times of ten are
 * close together.
 */
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
  /** At most so many runs. */
  readonly most: number;
}

export interface RunSums {
  /** Over all orders: how long. */
  readonly runs: readonly RunResult[];
  /** In the order that will be, where it is known: where and when. */
  readonly ordered: readonly RunResult[];
  /** One in which all times are their medians. */
  readonly median: RunResult;
}

/**
 * Of these in the order that the update will take: for where and when something happens first. All
 * of them where pods may lack room, since how often they do is a finding.
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
