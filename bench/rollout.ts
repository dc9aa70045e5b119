// A version update of one large group in virtual time by the real controllers, with Drover's own
// strategy: separates cost that grows with the cluster from cost per node updated. Each size runs
// in a process of its own, on one thread.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Bench, type BenchContext, type Outcome, SeriesCollector } from './support/report.ts';
import type { RolloutFigures } from './support/rollout-process.ts';

/** Comma-separated. */
const sizes = (process.env.DROVER_ROLLOUT_NODES ?? '500,1000,2000,5000').split(',').map(Number);
/** Values of maxUnavailablePercentage. */
const percentages = (process.env.DROVER_ROLLOUT_PERCENT ?? '33,10').split(',').map(Number);
const longestMs = 3_600_000;
const script = fileURLToPath(new URL('support/rollout-process.ts', import.meta.url));

const measure = async (nodes: number, percentage: number): Promise<RolloutFigures> => {
  const args = [script, String(nodes), String(percentage)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: longestMs });
  return JSON.parse(stdout) as RolloutFigures;
};

const seriesOf = (one: RolloutFigures): Readonly<Record<string, number>> => ({
  'processor time (s)': one.cpuSeconds,
  'wall time (s)': one.wallSeconds,
  'processor time of building it (s)': one.buildCpuSeconds,
  'world time (s)': one.makespanSeconds,
  'makespan / lower bound': one.makespanSeconds / one.boundSeconds,
  events: one.events,
  'events per second of processor time': one.events / one.cpuSeconds,
  'peak memory (MiB)': one.peakMiB,
  'evictions / pods': one.evictions / one.pods,
  'lowest availability (%)': one.lowest * 100,
  "bytes of the update's object": one.updateBytes,
});

const run = async ({ runs, say }: BenchContext): Promise<Outcome> => {
  const collector = new SeriesCollector();
  const failures: string[] = [];
  for (let round = 0; round < runs; round++) {
    for (const nodes of sizes) {
      for (const percentage of percentages) {
        const who = `${nodes} nodes, ${percentage} %`;
        say(who);
        try {
          const one = await measure(nodes, percentage);
          say(JSON.stringify(one));
          if (one.status !== 'Successful') failures.push(`${who}: ${one.status} ${one.message}`);
          const figures = { ...seriesOf(one), 'launches / nodes': one.launches / nodes };
          for (const [what, value] of Object.entries(figures)) {
            collector.add({ what, who, role: 'ours' }, value);
          }
        } catch (error) {
          failures.push(`${who}: ${error instanceof Error ? error.message : error}`);
        }
      }
    }
  }
  const notes = [
    '30 pods a node, in Deployments of 500, every second one with a budget of half of them; pods need 5 s to be Ready and 2 s to stop',
    'at most 100 nodes at once, whatever the percentage; bound: the reference formula, boot 4.4 s, cooldown 60 s, terminate 6.5 s',
  ];
  return { series: collector.all(), notRun: [], failures, notes };
};

export const rollout: Bench = {
  name: 'rollout',
  summary: 'a version update of 500 to 5,000 nodes in virtual time',
  defaultRuns: 1,
  run,
};
