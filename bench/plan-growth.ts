// Time and memory of a plan by the size of the group: for each size and strategy a process plans a
// generated cluster once, from the snapshot to the printed plan's data. Excludes reading the
// cluster.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Bench, type BenchContext, type Outcome, SeriesCollector } from './support/report.ts';

export interface PlanFigures {
  readonly runs: number;
  readonly pods: number;
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  readonly peakMiB: number;
}

const listOf = (text: string | undefined, fallback: string): readonly string[] =>
  (text ?? fallback).split(',').filter((one) => one !== '');

const measure = async (nodes: string, strategy: string): Promise<PlanFigures> => {
  const script = new URL('./support/plan-process.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [script, nodes, strategy]);
  return JSON.parse(stdout) as PlanFigures;
};

const run = async ({ runs, say }: BenchContext): Promise<Outcome> => {
  const collector = new SeriesCollector();
  const sizes = listOf(process.env.DROVER_BENCH_NODES, '50,200,500,1000,5000');
  for (const strategy of listOf(process.env.DROVER_BENCH_STRATEGIES, 'SURGE,DEFAULT,BLUE_GREEN')) {
    for (const nodes of sizes) {
      for (let i = 0; i < runs; i++) {
        const { pods, wallSeconds, cpuSeconds, peakMiB, ...one } = await measure(nodes, strategy);
        say(`${strategy}, ${nodes} nodes, ${pods} pods: ${cpuSeconds.toFixed(2)} s of processor`);
        const add = (what: string, value: number): void =>
          collector.add({ what, who: `${strategy} ${nodes}`, role: 'ours' }, value);
        add('processor time (s)', cpuSeconds);
        add('by the clock (s)', wallSeconds);
        add('processor time per 1,000 pods (ms)', (1_000_000 * cpuSeconds) / pods);
        add('peak memory (MiB)', peakMiB);
        add('runs of the model', one.runs);
      }
    }
  }
  const notes = [
    '30 pods a node in Deployments, every second one with a budget of a tenth; a third of the nodes at once, at most 100',
    'memory counts the snapshot and the program; wanted: 500 nodes in 1.5 s, 5,000 in 15 s and 1 GB on two idle cores',
  ];
  return { series: collector.all(), notRun: [], notes };
};

export const planGrowth: Bench = {
  name: 'plan-growth',
  summary: 'time and memory of a plan at 50 to 5,000 nodes',
  defaultRuns: 3,
  run,
};
