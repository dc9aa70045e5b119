// Runs the end-to-end tests with a release built of this checkout, one process per file, the
// longest first. CPU-bound files run one per core; files that mostly wait run beside them. Prints
// each file's report when it ends, with its seconds and the CPU seconds of all its processes, and
// finally the failures. Arguments name files.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { shareForks } from '../support/aws-forks.ts';
import { isGiven } from '../support/given-reasons.ts';
import { buildRelease } from '../support/program.ts';

const root = join(import.meta.dirname, '..', '..');
const working = { lanes: 2 };
/** A given cluster holds one story at a time. */
const waiting = { lanes: isGiven ? 0 : 1 };

/** Files that mostly wait, for a real API server or for the wall clock. */
const waits: readonly string[] = [
  'termination',
  'real-updates',
  'real-repair',
  'real-api',
  'real-blue-green',
];
/** The longest of the other files; unlisted files follow by name. */
const long: readonly string[] = ['article-001', 'cli', 'nodegroups'];

const nameOf = (file: string): string => basename(file, '.e2e.ts');

const rank = (names: readonly string[], file: string): number => {
  const at = names.indexOf(nameOf(file));
  return at === -1 ? names.length : at;
};

const inOrder = (names: readonly string[], files: readonly string[]): string[] =>
  files.toSorted((one, other) => rank(names, one) - rank(names, other));

interface Report {
  readonly file: string;
  readonly failed: boolean;
  readonly output: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** The shell prints the CPU times of its child processes: `0m1.5s 0m0.2s` on the second line. */
const timed = '"$0" "$@"; code=$?; times >&3; exit $code';
const cpuSecondsOf = (times: string): number =>
  [...(times.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds),
    0,
  );

const countsOf = (output: string): Record<string, number> =>
  Object.fromEntries(
    [...output.matchAll(/^ℹ (tests|pass|fail|cancelled|skipped) (\d+)$/gm)].map(
      ([, what, count]) => [what, Number(count)],
    ),
  );

/** The longest file takes six minutes. One that never ends must not hold up the run. */
const fileLimitMs = 20 * 60_000;

const runFile = async (file: string, env: NodeJS.ProcessEnv): Promise<Report> => {
  const begun = performance.now();
  const child = spawn('sh', ['-c', timed, process.execPath, file], {
    cwd: root,
    env,
    // A group of its own: at the limit every process that the file started ends with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const limit = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, fileLimitMs);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  }
  const [code, times] = await Promise.all([ended, text(child.stdio[3] as NodeJS.ReadableStream)]);
  clearTimeout(limit);
  const output = Buffer.concat(chunks).toString();
  const counts = countsOf(output);
  return {
    file,
    // A file without a test count did not run its tests.
    failed: code !== 0 || counts.tests === undefined || (counts.cancelled ?? 0) > 0,
    output,
    seconds: (performance.now() - begun) / 1000,
    cpuSeconds: cpuSecondsOf(times),
    counts,
  };
};

/** Why a file, or a part of it, did not run: its own lines `not run: reason`. */
const notRun = (output: string): readonly string[] => [
  ...new Set([...output.matchAll(/not run: .*/g)].map(([line]) => line.slice(0, 200))),
];

const print = ({ file, failed, output, seconds, cpuSeconds }: Report): void => {
  const verdict = failed ? 'FAILED' : 'passed';
  process.stdout.write(
    `${output}${verdict} ${relative(root, file)} in ${seconds.toFixed(1)} s, ` +
      `${cpuSeconds.toFixed(1)} s of CPU\n\n`,
  );
};

/** Takes files from the front of its own list, then from the other lists. */
const lane = async (
  lists: readonly string[][],
  env: NodeJS.ProcessEnv,
): Promise<readonly Report[]> => {
  const reports: Report[] = [];
  for (;;) {
    const file = lists.find((list) => list.length > 0)?.shift();
    if (file === undefined) return reports;
    const report = await runFile(file, env);
    print(report);
    reports.push(report);
  }
};

const summary = (reports: readonly Report[], seconds: number): string => {
  const total = (what: string) => reports.reduce((sum, { counts }) => sum + (counts[what] ?? 0), 0);
  const cpu = reports.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  const failed = reports.filter((report) => report.failed);
  const failures = total('fail') + total('cancelled');
  const lines = [
    ...['tests', 'pass', 'fail', 'cancelled', 'skipped'].map((what) => `${what} ${total(what)}`),
    `${reports.length} of ${files.length} files in ${seconds.toFixed(0)} s, ` +
      `${cpu.toFixed(0)} s of CPU`,
    ...reports.flatMap(({ file, output }) =>
      notRun(output).map((why) => `${relative(root, file)} ${why}`),
    ),
    ...reports
      .filter(({ counts }) => counts.tests === 0)
      .map(({ file }) => `SKIPPED ${relative(root, file)}: no test of it ran`),
    ...failed.map(({ file }) => `FAILED ${relative(root, file)}`),
    `${total('pass')} passed, ${Math.max(failed.length, failures)} failed`,
  ];
  return `${lines.join('\n')}\n`;
};

const asked = process.argv.slice(2);
const files =
  asked.length > 0
    ? asked
    : readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.e2e.ts'))
        .map((name) => join(import.meta.dirname, name));
const begun = performance.now();
const [forks, release] = [await shareForks(), buildRelease()];
const env = {
  ...process.env,
  // Colours would stand between the counts and their marks.
  FORCE_COLOR: '0',
  ...forks.env,
  ...release.env,
  NODE_COMPILE_CACHE:
    process.env.NODE_COMPILE_CACHE ?? join(homedir(), '.cache', 'drover', 'compiled'),
};
const [waitingFiles, workingFiles] = [
  inOrder(
    waits,
    files.filter((file) => waits.includes(nameOf(file))),
  ),
  inOrder(
    long,
    files.filter((file) => !waits.includes(nameOf(file))),
  ),
];
const reports = (
  await Promise.all([
    ...Array.from({ length: waiting.lanes }, () => lane([waitingFiles], env)),
    ...Array.from({ length: working.lanes }, () => lane([workingFiles, waitingFiles], env)),
  ])
).flat();
forks.end();
release.end();
process.stdout.write(summary(reports, (performance.now() - begun) / 1000));
process.exitCode = reports.length === files.length && !reports.some(({ failed }) => failed) ? 0 : 1;
