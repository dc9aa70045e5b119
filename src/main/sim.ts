// `npm run sim -- --seeds N [--from S] [--compat eks|native|both] [--minutes M] [--nodes N]`:
// random lives of a cluster on every core, judged by the oracles. Prints which faults fired where,
// and for a failing seed the command that replays it. Exit code 1 on a violation or an empty cell
// of the matrix.

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { defined } from '../api/defined.ts';
import type { Violation } from '../api/trace.ts';
import { type Batch, emptyBatch, mergeBatch, reportBatch } from '../sim/lives/batch.ts';
import { runLife } from '../sim/lives/life.ts';

interface Job {
  readonly from: number;
  readonly to: number;
  readonly step: number;
  readonly compat: 'eks' | 'native' | 'both';
  readonly chaosSeconds: number | undefined;
  readonly maxNodes: number | undefined;
  readonly repairsPercent: number;
}

type Message =
  | { readonly kind: 'violation'; readonly seed: number; readonly violations: readonly Violation[] }
  | { readonly kind: 'done'; readonly batch: Batch };

/**
 * Ticks run when the microtask queue is empty. A life waits for nothing else, so this is equivalent
 * to a turn of the event loop at a tenth of its cost.
 */
const settle = async (): Promise<void> => {
  await undefined;
  await new Promise<void>((resolve) => process.nextTick(resolve));
};

const runJob = async (job: Job, post: (message: Message) => void): Promise<void> => {
  let batch = emptyBatch();
  // Most errors in a life are expected answers, and capturing stacks is most of their cost. A
  // replay of one seed keeps its stacks.
  if (job.to - job.from > job.step) Error.stackTraceLimit = 0;
  for (let seed = job.from; seed < job.to; seed += job.step) {
    const size = {
      ...defined({ chaosSeconds: job.chaosSeconds, maxNodes: job.maxNodes }),
      repairsPercent: job.repairsPercent,
    };
    // Odd seeds mark nodes as EKS does, even ones in Drover's own way.
    const ofSeed = seed % 2 === 1 ? 'eks' : 'native';
    const compat = job.compat === 'both' ? ofSeed : job.compat;
    try {
      const result = await runLife({ seed, settle, compat, ...size });
      batch = mergeBatch(batch, result);
      if (result.violations.length > 0) {
        post({ kind: 'violation', seed, violations: result.violations.slice(0, 5) });
      }
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? String(error)) : String(error);
      const violation = { oracle: 'no-exception', at: 0, subject: 'life', message };
      batch = { ...batch, lives: batch.lives + 1, violations: batch.violations + 1 };
      post({ kind: 'violation', seed, violations: [violation] });
    }
  }
  post({ kind: 'done', batch });
};

const usage = `Random lives of a small cluster with faults, each judged by the oracles: npm run sim -- [flags]

  --seeds N     how many lives, one seed each (100)
  --from SEED   the first seed (1); a violation prints the command that replays its life
  --minutes M   length of each life's faults (drawn per seed)
  --nodes N     at most so many nodes (drawn per seed)
  --compat C    mark nodes as eks or native does; both: odd seeds eks, even ones native (both)
  --repairs P   percentage of lives whose groups repair their nodes (0)
  --threads T   lives at once (as many as there are cores)

Examples:
  npm run sim -- --seeds 2000
  npm run sim -- --seeds 1 --from 4711
  npm run sim -- --seeds 200 --repairs 35

Exit code: 0 no violation, 1 violations or an action that never happened, 2 wrong flags.
`;

const integer = (name: string, text: string | undefined, fallback: number): number => {
  const value = text === undefined ? fallback : Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  process.stderr.write(`sim: --${name} takes a whole number, not ${text}\n`);
  process.exit(2);
};

const readArguments = () => {
  const text = { type: 'string' } as const;
  const options = {
    seeds: text,
    from: text,
    minutes: text,
    nodes: text,
    compat: text,
    repairs: text,
    threads: text,
    help: { type: 'boolean' },
  } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`sim: ${why}; see --help\n`);
    return undefined;
  }
};

const main = async (): Promise<number> => {
  const values = readArguments();
  if (values === undefined) return 2;
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const count = integer('seeds', values.seeds, 100);
  const from = integer('from', values.from, 1);
  const { compat = 'both' } = values;
  if (compat !== 'eks' && compat !== 'native' && compat !== 'both') {
    process.stderr.write('sim: --compat takes eks, native or both\n');
    return 2;
  }
  const chaosSeconds =
    values.minutes === undefined ? undefined : integer('minutes', values.minutes, 15) * 60;
  const maxNodes =
    values.nodes === undefined ? undefined : Math.max(1, integer('nodes', values.nodes, 20));
  const threads = Math.min(count, integer('threads', values.threads, availableParallelism()));
  const startedAt = performance.now();
  let batch = emptyBatch();
  const job = (i: number): Job => ({
    from: from + i,
    to: from + count,
    step: threads,
    compat,
    chaosSeconds,
    maxNodes,
    repairsPercent: Math.min(100, integer('repairs', values.repairs, 0)),
  });
  await Promise.all(
    Array.from(
      { length: threads },
      (_, i) =>
        new Promise<void>((resolve, reject) => {
          const worker = new Worker(new URL(import.meta.url), { workerData: job(i) });
          worker.on('message', (message: Message) => {
            if (message.kind === 'done') batch = mergeBatch(batch, message.batch);
            else printViolation(message.seed, message.violations, values);
          });
          worker.on('error', reject);
          worker.on('exit', () => resolve());
        }),
    ),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const report = reportBatch(batch, {
    expectAll: count >= 500,
    expectUpdates: count >= 2000,
  });
  process.stdout.write(`${report.lines.join('\n')}\n`);
  process.stdout.write(
    `${batch.lives} lives in ${seconds.toFixed(1)} s on ${threads} threads: ` +
      `${(batch.lives / seconds / threads).toFixed(1)} per second and core\n`,
  );
  return report.failed ? 1 : 0;
};

const printViolation = (
  seed: number,
  violations: readonly Violation[],
  values: Readonly<Record<string, string | boolean | undefined>>,
): void => {
  const more = ['minutes', 'nodes', 'compat', 'repairs']
    .filter((name) => values[name] !== undefined)
    .map((name) => ` --${name} ${String(values[name])}`)
    .join('');
  process.stdout.write(
    `seed ${seed}: replay with npm run sim -- --seeds 1 --from ${seed}${more}\n`,
  );
  for (const violation of violations) {
    process.stdout.write(`  ${violation.oracle} (${violation.subject}): ${violation.message}\n`);
  }
};

if (isMainThread) process.exitCode = await main();
else await runJob(workerData as Job, (message) => parentPort?.postMessage(message));
