// A version update of twelve generated clusters in virtual time by the real controllers: Drover's
// own strategy and EKS' on the same cluster, with the lower bound for any order; and blue/green
// without its soak.
import { lowerBoundSeconds } from '../src/sim/rollout/bound.ts';
import { clusterCount, drawCluster } from '../src/sim/rollout/cluster.ts';
import { type RolloutOutcome, runRollout } from '../src/sim/rollout/run.ts';
import { Kernel } from '../world/kernel/index.ts';
import { type Bench, type BenchContext, type Outcome, SeriesCollector } from './support/report.ts';

/** As in src/main/sim.ts: ticks run once the microtask queue is empty. */
const settle = async (): Promise<void> => {
  await undefined;
  await new Promise<void>((resolve) => process.nextTick(resolve));
};

const strategies = [
  { strategy: 'SURGE', who: "Drover's own", role: 'ours' },
  { strategy: 'DEFAULT', who: "EKS' order", role: 'peer' },
  { strategy: 'BLUE_GREEN', who: 'blue/green', role: 'ours' },
] as const;

/** The embedded world's mean times: nodes boot in seconds, so the cooldown dominates. */
const times = { bootSeconds: 4.4, cooldownSeconds: 60, terminateSeconds: 6.5 };

const lineOf = (who: string, one: RolloutOutcome, bound: number): string =>
  [
    `    ${who.padEnd(14)}${one.status.padEnd(12)}${one.makespanSeconds.toFixed(0).padStart(6)} s`,
    `${(one.makespanSeconds / bound).toFixed(2)} x bound`,
    `${one.launches} launches`,
    `${one.evictions} evictions of ${one.pods} pods (${one.reEvictions} moved twice)`,
    `${one.lateDrains} late`,
    `lowest ${(one.lowest * 100).toFixed(0)} %`,
  ].join(', ');

const run = async ({ runs, say }: BenchContext): Promise<Outcome> => {
  const collector = new SeriesCollector();
  const failures: string[] = [];
  for (let round = 0; round < runs; round++) {
    for (let index = 0; index < clusterCount; index++) {
      const seed = round * clusterCount + index + 1;
      const cluster = drawCluster(index, new Kernel({ seed, startAt: 0 }).random('cluster'));
      const bound = lowerBoundSeconds(cluster, times);
      say(`${cluster.name}: bound ${bound.toFixed(0)} s`);
      for (const { strategy, who, role } of strategies) {
        const one = await runRollout({ cluster, strategy, seed, settle });
        say(lineOf(who, one, bound));
        if (one.status !== 'Successful') failures.push(`${cluster.name}, ${who}: ${one.message}`);
        const head = { who, role };
        // Starting all new nodes first uses more resources: reported separately, not compared with
        // the first.
        const of = strategy === 'BLUE_GREEN' ? 'blue/green, no soak: ' : '';
        collector.add(
          { what: `${of}makespan / lower bound`, ...head },
          one.makespanSeconds / bound,
        );
        collector.add({ what: `${of}launches / nodes`, ...head }, one.launches / cluster.nodes);
        collector.add({ what: `${of}evictions / pods`, ...head }, one.evictions / one.pods);
        collector.add({ what: `${of}drains that ran late`, ...head }, one.lateDrains);
        collector.add({ what: `${of}lowest availability (%)`, ...head }, one.lowest * 100);
      }
    }
  }
  const notes = [
    'bound: the greater of nodes / at once and of rounds of the slowest budget (reference formula); boot 4.4 s, cooldown 60 s, terminate 6.5 s',
    'blue/green waits for no cooldown between nodes, so that it may be below a bound that counts one for each',
  ];
  return { series: collector.all(), notRun: [], failures, notes };
};

export const updates: Bench = {
  name: 'updates',
  summary: "a version update of twelve drawn clusters: Drover's strategy beside EKS'",
  defaultRuns: 1,
  run,
};
