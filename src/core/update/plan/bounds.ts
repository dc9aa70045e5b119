// The minimum duration of an update, and the parallelism above which it does not improve (reference
// updates.md 3.4). Uses the medians of the model's times; pure.
import { type ModelInput, unstoppableSeconds } from './model.ts';

export interface Bounds {
  /** Seconds: the greater of the two below. */
  readonly lowerBound: number;
  /** Seconds if only `maxUnavailable` limits the nodes drained at once. */
  readonly nodeBound: number;
  /** Seconds for the slowest budget, however many nodes are drained at once. */
  readonly budgetBound: number;
  /** Name of the slowest budget. */
  readonly budget: string | undefined;
  /**
   * The smallest parallelism whose node bound is within the budget bound; undefined if there is no
   * budget.
   */
  readonly kStar: number | undefined;
}

const drainSeconds = (input: ModelInput): readonly number[] =>
  input.nodes.map(({ pods, isUnreachable = false }) =>
    pods.reduce((most, { app }) => {
      if (isUnreachable) return unstoppableSeconds;
      const one = input.apps[app];
      return one === undefined ? most : Math.max(most, one.stop.p50);
    }, 0),
  );

const slowestBudget = ({ nodes, apps, budgets }: ModelInput) => {
  const counts = new Map<number, number>();
  for (const node of nodes) {
    for (const { app } of node.pods) counts.set(app, (counts.get(app) ?? 0) + 1);
  }
  const facts = budgets.map(() => ({ pods: 0, round: Infinity, stop: Infinity }));
  for (const [app, count] of counts) {
    const one = apps[app];
    const known = facts[one?.budget ?? -1];
    if (one === undefined || known === undefined) continue;
    const stop = one.stop.p50;
    known.pods += count;
    known.stop = Math.min(known.stop, stop);
    known.round = Math.min(known.round, one.replace.p50 + (one.waitsForStop ? stop : 0));
  }
  let slowest = { seconds: 0, name: undefined as string | undefined };
  for (const [index, { pods, round, stop }] of facts.entries()) {
    const { name, allowed } = budgets[index] ?? { name: '', allowed: 1 };
    if (pods === 0) continue;
    const seconds = (Math.ceil(pods / allowed) - 1) * round + stop;
    if (seconds > slowest.seconds) slowest = { seconds, name };
  }
  return slowest;
};

export const boundsOf = (input: ModelInput): Bounds => {
  const { times, maxUnavailable, surge, strategy, nodes } = input;
  const { preDrain, postDrain, preTerminate, postReady } = times.hooks ?? {};
  const boot = times.launch.p50 + times.boot.p50 + (postReady?.p50 ?? 0);
  const rest = Math.max(input.cooldownSeconds, postDrain?.p50 ?? 0) + (preTerminate?.p50 ?? 0);
  const terminate = times.terminate.p50;
  const drains = drainSeconds(input);
  const perNode = drains.reduce((all, d) => all + (preDrain?.p50 ?? 0) + d + rest + terminate, 0);
  const first = strategy === 'MINIMAL' ? 0 : boot;
  const budget = slowestBudget(input);
  const budgetBound = nodes.length === 0 ? 0 : first + budget.seconds + rest + terminate;
  const byDrains = first + perNode / maxUnavailable;
  // Slots that are free again only when the replacement has joined: surge + maxUnavailable of them
  // with SURGE, maxUnavailable with MINIMAL. The replacement boots while its predecessor
  // terminates.
  const replaced = Math.max(0, nodes.length - surge);
  const perPlace = perNode - nodes.length * terminate;
  const byPlaces =
    strategy === 'SURGE'
      ? first + (perPlace + replaced * boot) / (surge + maxUnavailable)
      : strategy === 'MINIMAL'
        ? (perPlace + nodes.length * boot) / maxUnavailable
        : 0;
  const nodeBound = nodes.length === 0 ? 0 : Math.max(byDrains, byPlaces);
  const room = budgetBound - first;
  return {
    lowerBound: Math.max(nodeBound, budgetBound),
    nodeBound,
    budgetBound,
    budget: budget.name,
    kStar: budget.seconds === 0 || room <= 0 ? undefined : Math.max(1, Math.ceil(perNode / room)),
  };
};
