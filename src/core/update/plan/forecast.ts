// From the model's runs to what the preflight asks of them: which node comes first, when, how long.
import { quantileOf } from '../../quantile.ts';
import type { Forecast } from '../preflight/forecast.ts';
import type { ModelInput, RunResult } from './model.ts';

/** Before anything was simulated: for views that only the model is built from. */
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
  // The minute is that of whichever comes first; in an order of chance the node is the likeliest.
  return { node: best[0], minute: quantileOf([...wins.values()].flat(), 0.5) / 60 };
};

export interface Runs {
  /** Over all orders: how long. */
  readonly runs: readonly RunResult[];
  /** In the order that will be, where it is known: where and when. */
  readonly ordered: readonly RunResult[];
}

/** Per node that is starved in any run, in which share of them. */
const starvedIn = (runs: readonly RunResult[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { starved } of runs) {
    for (const node of new Set(starved)) counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return new Map([...counts].map(([node, count]) => [node, count / runs.length]));
};

/** Different nodes in different runs add up: each of them ends the update. */
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
