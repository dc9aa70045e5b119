// `npm run bench [-- NAME...] [--runs N]`: runs every benchmark that can run here, one at a time,
// and reports why the others did not. Prints figures, asserts none.
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { agent } from './agent.ts';
import { budget } from './budget.ts';
import { drain } from './drain.ts';
import { insights } from './insights.ts';
import { lint } from './lint.ts';
import { memory } from './memory.ts';
import { notice } from './notice.ts';
import { page } from './page.ts';
import { peers } from './peers.ts';
import { plan } from './plan.ts';
import { planGrowth } from './plan-growth.ts';
import { ready } from './ready.ts';
import { rollout } from './rollout.ts';
import { scale } from './scale.ts';
import { sim } from './sim.ts';
import { type Bench, machineLine, table } from './support/report.ts';
import { updates } from './updates.ts';

const benches: readonly Bench[] = [
  ready,
  notice,
  drain,
  peers,
  budget,
  scale,
  memory,
  sim,
  updates,
  rollout,
  plan,
  planGrowth,
  lint,
  insights,
  agent,
  page,
];

const usage = (problem: string): never => {
  const list = benches.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`).join('\n');
  console.error(`bench: ${problem}\nusage: npm run bench -- [NAME...] [--runs N]\n${list}`);
  process.exit(2);
};

const readArgs = () => {
  try {
    return parseArgs({ allowPositionals: true, options: { runs: { type: 'string' } } });
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error));
  }
};

const runOne = async (bench: Bench, runs: number | undefined): Promise<boolean> => {
  console.log(`\n== ${bench.name}: ${bench.summary}`);
  const load = loadavg()[0] ?? 0;
  const startedAt = performance.now();
  try {
    const {
      series,
      notRun,
      notes,
      failures = [],
    } = await bench.run({
      runs: runs ?? bench.defaultRuns,
      say: (line) => console.error(`   ${line}`),
    });
    if (series.length > 0) console.log(table(series));
    for (const reason of notRun) console.log(`not run: ${reason}`);
    for (const failure of failures) console.log(`failed: ${failure}`);
    for (const note of notes) console.log(`note: ${note}`);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    console.log(`${new Date().toISOString()}, took ${seconds} s; ${machineLine(load)}`);
    return failures.length === 0;
  } catch (error) {
    console.log(`failed: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
    return false;
  }
};

const { values, positionals } = readArgs();
const runs = values.runs === undefined ? undefined : Number(values.runs);
if (runs !== undefined && !(Number.isInteger(runs) && runs > 0)) {
  usage(`--runs takes a whole number above 0, not ${values.runs}`);
}
const unknown = positionals.find((name) => !benches.some((bench) => bench.name === name));
if (unknown !== undefined) usage(`there is no benchmark ${unknown}`);
const chosen = benches.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
let failed = false;
for (const bench of chosen) {
  if (!(await runOne(bench, runs))) failed = true;
}
process.exitCode = failed ? 1 : 0;
