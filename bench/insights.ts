// Logs Insights queries over a generated audit log, each as its own process from start to exit,
// compared with common alternatives: grep, jq, DuckDB's Node.js package. Time, processor time, peak
// memory.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeAuditLog } from './support/audit-log.ts';
import { memoryOf } from './support/memory.ts';
import { finish } from './support/processes.ts';
import { type Bench, type BenchContext, type Outcome, SeriesCollector } from './support/report.ts';

const megabyte = 1_000_000;
const mainMegabytes = Number(process.env.DROVER_BENCH_LOG_MB ?? 500);
/** Further sizes for Drover's queries, to measure the growth of time and memory. */
const growthMegabytes = [50, 2000];

const nodeQuery = `filter @logStream like /^kube-apiserver-audit/
 | fields objectRef.name, objectRef.resource, @message
 | sort @timestamp asc
 | filter userAgent like 'vpcLambda' AND verb != 'get' AND verb != 'list' AND objectRef.resource == 'nodes'
 | limit 10000`;
const statsQuery = 'stats count(*) by userAgent, verb, objectRef.resource';
const regexQuery = 'filter requestURI like /pods-[0-9]+7\\?.*Version/ | stats count(*)';

const jqNodes =
  'select((.userAgent | contains("vpcLambda")) and .verb != "get" and .verb != "list" and .objectRef.resource == "nodes") | [.objectRef.name, .stageTimestamp]';
const jqRegex = 'select(.requestURI | test("pods-[0-9]+7\\\\?.*Version")) | .verb';
const duckStats = (file: string) =>
  `select (json->>'$.userAgent'), (json->>'$.verb'), (json->>'$.objectRef.resource'), count(*) from read_ndjson_objects('${file}') group by all`;
const duckNodes = (file: string) =>
  `select json from read_ndjson_objects('${file}') where contains(json->>'$.userAgent', 'vpcLambda') and (json->>'$.verb') not in ('get','list') and (json->>'$.objectRef.resource') = 'nodes'`;

const duckRegex = (file: string) =>
  `select count(*) from read_ndjson_objects('${file}') where regexp_matches(json->>'$.requestURI', 'pods-[0-9]+7\\?.*Version')`;

const has = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, [...args]).status === 0;

interface Run {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMiB: number;
}

/** Clock ticks per second, Linux's unit of processor time. */
const ticks = 100;
const sampleEveryMs = 15;

const cpuOf = (pid: number): number | undefined => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / ticks;
  } catch {
    return undefined;
  }
};

const measured = async (command: string, args: readonly string[]): Promise<Run> => {
  const startedAt = performance.now();
  const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  // Read and discarded: grep stops at its first match when its output is not read.
  child.stdout.resume();
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk.toString()}`.slice(-2000);
  });
  let [peakMiB, cpuSeconds] = [0, 0];
  const timer = setInterval(() => {
    const pid = child.pid ?? 0;
    peakMiB = Math.max(peakMiB, memoryOf(pid)?.peakMiB ?? 0);
    cpuSeconds = Math.max(cpuSeconds, cpuOf(pid) ?? 0);
  }, sampleEveryMs);
  const [code] = (await once(child, 'close')) as [number | null];
  const seconds = (performance.now() - startedAt) / 1000;
  clearInterval(timer);
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${errors}`);
  return { seconds, cpuSeconds, peakMiB };
};

interface Contender {
  readonly what: string;
  readonly who: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Run once instead of as often as Drover, because it takes seconds. */
  readonly once?: boolean;
}

const drover = (what: string, query: string, file: string): Contender => ({
  what,
  who: 'ours',
  command: process.execPath,
  args: [
    join(import.meta.dirname, '..', 'bin', 'drover.mjs'),
    'logs',
    'query',
    query,
    file,
    '-o',
    'csv',
  ],
});

const duck = (what: string, sql: string): Contender => ({
  what,
  who: 'DuckDB, all cores',
  command: process.execPath,
  args: [join(import.meta.dirname, 'support', 'duckdb-query.ts'), sql],
});

const contenders = (file: string, packed: string): readonly Contender[] => [
  drover("the article's node query", nodeQuery, file),
  {
    what: "the article's node query",
    who: 'grep -F vpcLambda, the scan alone',
    command: 'grep',
    args: ['-cF', 'vpcLambda', file],
  },
  {
    what: "the article's node query",
    who: 'jq',
    command: 'jq',
    args: ['-c', jqNodes, file],
    once: true,
  },
  duck("the article's node query", duckNodes(file)),
  drover('unselective stats', statsQuery, file),
  {
    what: 'unselective stats',
    who: 'jq, fields alone',
    command: 'jq',
    args: ['-c', '[.userAgent, .verb, .objectRef.resource]', file],
    once: true,
  },
  duck('unselective stats', duckStats(file)),
  drover('regular expression', regexQuery, file),
  { what: 'regular expression', who: 'jq', command: 'jq', args: ['-c', jqRegex, file], once: true },
  duck('regular expression', duckRegex(file)),
  drover('node query, gzip', nodeQuery, packed),
  { what: 'node query, gzip', who: 'gzip -dc, alone', command: 'gzip', args: ['-dc', packed] },
];

const add = (series: SeriesCollector, { what, who }: Contender, run: Run): void => {
  const role = who === 'ours' ? 'ours' : 'peer';
  series.add({ what: `${what} (s)`, who, role }, run.seconds);
  series.add({ what: `${what}: processor (s)`, who, role }, run.cpuSeconds);
  series.add({ what: `${what}: peak memory (MiB)`, who, role }, run.peakMiB);
};

const growth = async (
  series: SeriesCollector,
  dir: string,
  say: BenchContext['say'],
): Promise<void> => {
  for (const megabytes of growthMegabytes) {
    const file = join(dir, `${megabytes}.log`);
    say(`writing ${megabytes} MB`);
    await writeAuditLog(file, megabytes * megabyte);
    for (const [what, query] of [
      ['node query', nodeQuery],
      ['unselective stats', statsQuery],
    ] as const) {
      const contender = drover(`${what}, ${megabytes} MB`, query, file);
      await measured(contender.command, contender.args);
      add(series, contender, await measured(contender.command, contender.args));
    }
    rmSync(file);
  }
};

const run = async ({ runs, say }: BenchContext): Promise<Outcome> => {
  const series = new SeriesCollector();
  const notRun: string[] = [];
  const dir = mkdtempSync(join(tmpdir(), 'drover-bench-insights-'));
  try {
    const file = join(dir, 'audit.log');
    say(`writing ${mainMegabytes} MB`);
    const events = await writeAuditLog(file, mainMegabytes * megabyte);
    await finish('gzip', ['-1k', file], process.env);
    const all = contenders(file, `${file}.gz`);
    const isThere = new Map(['jq', 'grep', 'gzip'].map((name) => [name, has(name, '--version')]));
    for (const contender of all) {
      if (isThere.get(contender.command) === false) {
        notRun.push(`${contender.what} by ${contender.who}: ${contender.command} is not on PATH`);
        continue;
      }
      say(`${contender.what}: ${contender.who}`);
      // The first run fills the page cache and compiles Drover; it is not counted.
      if (contender.once !== true) await measured(contender.command, contender.args);
      const count = contender.once === true ? 1 : runs;
      for (let index = 0; index < count; index++) {
        add(series, contender, await measured(contender.command, contender.args));
      }
    }
    const { size } = statSync(file);
    rmSync(file);
    rmSync(`${file}.gz`);
    await growth(series, dir, say);
    return {
      series: series.all(),
      notRun,
      notes: [
        `${(size / megabyte).toFixed(1)} MB, ${events} events, from the page cache; each run is a process from start to exit`,
        "processor time and memory are sampled: a process's last 15 ms may be missing",
      ],
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

export const insights: Bench = {
  name: 'insights',
  summary: 'Logs Insights queries over 500 MB of audit log, beside grep, jq and DuckDB',
  defaultRuns: 5,
  run,
};
