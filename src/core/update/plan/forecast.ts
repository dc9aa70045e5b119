// Answers the preflight's questions from the model's runs: which node is drained first, when, and
// for how long.
import { quantileOf } from '../../quantile.ts';
import type { Forecast } from '../preflight/forecast.ts';
import type { ModelInput, RunResult } from './model.ts';

/** The forecast before any run, for views from which only the model is built. */
export const noForecast: Forecast = {
  firstDrained: () => undefined,
  starved: new Map(),
  starvedShare: 0,
  firstLaunchMinute: 0,
  p90Minutes: 0,
  replacementSeconds: () => 0,
  stopSeconds: () => 0,
};

const firstOf = (starts: readonly ReadonlyMap<string, number>[], nodes: readonly string[]) => {
  const wins = new Map<string, number[]>();
  for (const run of starts) {
    let first: { readonly node: string; readonly at: number } | undefined;
    for (const node of nodes) {
      const at = run.get(node);
      if (at !== undefined && (first === undefined || at < first.at)) first = { node, at };
    }
    if (first === undefined) continue;
    const known = wins.get(first.node);
    if (known === undefined) wins.set(first.node, [first.at]);
    else known.push(first.at);
  }
  const [best] = [...wins].toSorted(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
  if (best === undefined) return undefined;
  // The minute is the median over all runs, whichever node is first. The node is the one that is
  // first most often.
  return { node: best[0], minute: quantileOf([...wins.values()].flat(), 0.5) / 60 };
};

export interface Runs {
  /** Runs over all orders, for durations. */
  readonly runs: readonly RunResult[];
  /** Runs in the actual order, if known, for places and times. */
  readonly ordered: readonly RunResult[];
}

/**
 * Share of the runs in which each node is starved. Contains only nodes that are starved in a run.
 */
const starvedIn = (runs: readonly RunResult[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { starved } of runs) {
    for (const node of new Set(starved)) counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return new Map([...counts].map(([node, count]) => [node, count / runs.length]));
};

/** Counts runs with any starved node, since each such node ends the update. */
const shareStarved = (runs: readonly RunResult[]): number =>
  runs.filter(({ starved }) => starved.length > 0).length / Math.max(1, runs.length);

export const forecastOf = (input: ModelInput, { runs, ordered }: Runs): Forecast => {
  const starts = ordered.map(
    ({ drains }) => new Map(drains.map(({ node, startSeconds }) => [node, startSeconds])),
  );
  const apps = new Map(input.apps.map((app) => [app.key, app]));
  const known = new Map<string, ReturnType<typeof firstOf>>();
  return {
    firstDrained: (nodes) => {
      const key = nodes.join(' ');
      if (!known.has(key)) known.set(key, firstOf(starts, nodes));
      return known.get(key);
    },
    starved: starvedIn(ordered),
    starvedShare: shareStarved(ordered),
    firstLaunchMinute: input.times.setup.p50 / 60,
    p90Minutes:
      quantileOf(
        runs.map(({ seconds }) => seconds),
        0.9,
      ) / 60,
    replacementSeconds: (owner) => apps.get(owner)?.replace.p50 ?? 0,
    stopSeconds: (owner) => apps.get(owner)?.stop.p50 ?? 0,
  };
};
