// Predictions beside outcomes: the plan of an update is made from a snapshot of a drawn cluster, then the
// update happens to clusters of other seeds whose pods take up to 30 % longer or less. Prints the shares of
// outcomes that end below p50 and p90.

import type { UpdateStrategy } from '../src/api/nodegroup-update.ts';
import { ownGroup } from '../src/cli/plan/group.ts';
import { readSnapshot, type Sources } from '../src/cli/plan/snapshot.ts';
import { type CloudTimes, planUpdate, type UpdatePlan } from '../src/core/update/plan/index.ts';
import {
  clusterCount,
  drawCluster,
  type RolloutCluster,
  varied,
} from '../src/sim/rollout/cluster.ts';
import { type RolloutSources, runRollout } from '../src/sim/rollout/run.ts';
import { rolloutGroup } from '../src/sim/rollout/workload.ts';
import { Kernel } from '../src/world/kernel/index.ts';
import { type Bench, type BenchContext, type Outcome, SeriesCollector } from './support/report.ts';

const settle = async (): Promise<void> => {
  await undefined;
  await new Promise<void>((resolve) => process.nextTick(resolve));
};

const share = 0.3;
/** One plan of a cluster, and so many outcomes of it. */
const outcomesEach = 2;
const strategies: readonly UpdateStrategy[] = ['SURGE', 'DEFAULT'];

const source = 'the embedded world';
/** The cloud of the embedded world is fast: 6.5 s to shut down, and the controllers look every 2 s. */
const times: CloudTimes = {
  setup: { p50: 5, p90: 8, source },
  terminate: { p50: 10, p90: 13, source },
  stop: { p50: 3, p90: 8, source },
};

const randomOf = (seed: number, what: string) => new Kernel({ seed, startAt: 0 }).random(what);

/** What the command line reads and decides, in the same process. */
const planOf = async (
  { kube, cloud, now }: RolloutSources,
  strategy: UpdateStrategy,
): Promise<UpdatePlan> => {
  // Of EKS only the cluster's version is asked for, and there is no EKS in this world.
  const provisioning = {
    describeCluster: async () => undefined,
  } as unknown as Sources['provisioning'];
  const group = await ownGroup(kube, rolloutGroup, undefined);
  const asked = { version: undefined, releaseVersion: undefined, templateVersion: undefined };
  const request = { ...asked, strategy, force: false };
  const snapshot = await readSnapshot({ kube, cloud, provisioning, now }, group, request);
  return planUpdate(snapshot, { waivers: [{ check: 'barePod' }], times });
};

interface Pair {
  readonly plan: UpdatePlan;
  readonly seconds: readonly number[];
  readonly failed: readonly string[];
}

const pairOf = async (
  cluster: RolloutCluster,
  strategy: UpdateStrategy,
  seed: number,
): Promise<Pair> => {
  let plan: UpdatePlan | undefined;
  await runRollout({
    cluster,
    strategy,
    seed,
    settle,
    before: async (sources) => {
      plan = await planOf(sources, strategy);
      return 'enough';
    },
  });
  if (plan === undefined) throw new Error('no plan was made');
  const seconds: number[] = [];
  const failed: string[] = [];
  for (let i = 1; i <= outcomesEach; i++) {
    const other = varied(cluster, randomOf(seed * 1000 + i, 'varied'), share);
    const one = await runRollout({ cluster: other, strategy, seed: seed * 1000 + i, settle });
    if (one.status === 'Successful') seconds.push(one.makespanSeconds);
    else failed.push(one.message);
  }
  return { plan, seconds, failed };
};

const below = (pairs: readonly Pair[], of: (plan: UpdatePlan) => number): number => {
  const all = pairs.flatMap(({ plan, seconds }) => seconds.map((one) => one <= of(plan) * 60));
  return (all.filter(Boolean).length / Math.max(1, all.length)) * 100;
};

const run = async ({ runs, say }: BenchContext): Promise<Outcome> => {
  const collector = new SeriesCollector();
  const failures: string[] = [];
  for (const strategy of strategies) {
    const pairs: Pair[] = [];
    for (let seed = 1; seed <= runs * clusterCount; seed++) {
      const cluster = drawCluster(seed - 1, randomOf(seed, 'cluster'));
      const pair = await pairOf(cluster, strategy, seed);
      pairs.push(pair);
      const { p50, p90 } = pair.plan.minutes;
      const took = pair.seconds.map((one) => (one / 60).toFixed(1)).join(' ');
      say(
        `${strategy} ${cluster.name}: p50 ${p50.toFixed(1)}, p90 ${p90.toFixed(1)}, was ${took} min, ${pair.plan.verdict}`,
      );
      failures.push(...pair.failed.map((message) => `${cluster.name}, ${strategy}: ${message}`));
    }
    const head = { who: strategy, role: 'ours' } as const;
    collector.add(
      { what: 'outcomes below p50 (%)', ...head },
      below(pairs, (p) => p.minutes.p50),
    );
    collector.add(
      { what: 'outcomes below p90 (%)', ...head },
      below(pairs, (p) => p.minutes.p90),
    );
    for (const { plan, seconds } of pairs) {
      const off = seconds.map((one) => one / 60 / plan.minutes.p50);
      collector.add({ what: 'outcome / p50', ...head }, ...off);
    }
  }
  const notes = [`wanted: 40 to 60 % below p50, 85 to 95 % below p90`];
  return { series: collector.all(), notRun: [], failures, notes };
};

export const plan: Bench = {
  name: 'plan',
  summary: 'what a plan predicts beside what happens to other clusters of its kind',
  defaultRuns: 2,
  run,
};
