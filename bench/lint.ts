// Lint of 10,000 files: `drover userdata lint` as a process, on user data of every family; and on
// plain cloud-config compared with cloud-init's schema check of the same files, in one process
// each.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { exampleAuthority, writeUserData } from '../src/formats/index.ts';
import { type Bench, type BenchContext, type Outcome, SeriesCollector } from './support/report.ts';

const run = promisify(execFile);
const drover = join(import.meta.dirname, '..', 'bin', 'drover.mjs');
const fileCount = 10_000;
/** The number of arguments on a command line is limited. */
const filesPerRun = 2_000;
/** One file in this many has a label that a kubelet may not set, or an invalid token. */
const faultyEvery = 10;
const largestOutput = 256 * 1024 * 1024;

const authority = exampleAuthority;
const families = ['al2', 'al2023', 'bottlerocket', 'windows', 'ubuntu'] as const;

const nodeText = (i: number): string => {
  const written = writeUserData({
    family: families[i % families.length] ?? 'al2023',
    cluster: {
      name: `cluster-${i % 50}`,
      endpoint: `https://e${i}.gr7.eu-west-1.eks.amazonaws.com`,
      certificateAuthority: authority,
      serviceCidr: '10.100.0.0/16',
    },
    labels: { team: `t${i}`, tier: 'web', 'example.com/shard': String(i % 7) },
    taints: [{ key: 'dedicated', value: `d${i}`, effect: 'NoSchedule' }],
    maxPods: 20 + (i % 90),
  });
  if (written.kind === 'fault') throw new Error(written.message);
  const { text } = written;
  return i % faultyEvery === 0 ? text.replace(/team/, 'kubernetes.io/team') : text;
};

const cloudConfig = (i: number): string =>
  [
    '#cloud-config',
    'write_files:',
    `- path: /etc/motd-${i}`,
    '  permissions: "0644"',
    `  content: node ${i}`,
    'packages: [jq, chrony]',
    'runcmd:',
    '- [systemctl, enable, --now, containerd]',
    `- kubeadm join 10.0.0.${i % 250}:6443 --token ${i % faultyEvery === 0 ? 'none' : 'abcdef.0123456789abcdef'}` +
      ` --discovery-token-ca-cert-hash sha256:${'0123456789abcdef'.repeat(4)}`,
    '',
  ].join('\n');

const lay = (directory: string, text: (i: number) => string): readonly string[] => {
  mkdirSync(directory);
  return Array.from({ length: fileCount }, (_, i) => {
    const path = join(directory, `user-data-${i}`);
    writeFileSync(path, text(i));
    return path;
  });
};

/** Number of findings over all files; lint must find the faulty ones. */
const lintAll = async (paths: readonly string[]): Promise<number> => {
  let errors = 0;
  for (let from = 0; from < paths.length; from += filesPerRun) {
    const words = [drover, 'userdata', 'lint', ...paths.slice(from, from + filesPerRun)];
    const { stdout } = await run(process.execPath, words, { maxBuffer: largestOutput }).catch(
      (error: { readonly code?: unknown; readonly stdout?: string }) => {
        if (error.code !== 3) throw error;
        return { stdout: error.stdout ?? '' };
      },
    );
    errors += Number(/: (\d+) errors?,/.exec(stdout.split('\n').at(-2) ?? '')?.[1] ?? 0);
  }
  return errors;
};

const peerScript = [
  'import sys, time',
  'from cloudinit.config.schema import validate_cloudconfig_file, get_schema',
  'schema = get_schema()',
  'for path in sys.stdin.read().split():',
  '    validate_cloudconfig_file(path, schema)',
].join('\n');

const checkByPeer = (paths: readonly string[]): Promise<void> =>
  new Promise((done, fail) => {
    const child = execFile('python3', ['-c', peerScript], { maxBuffer: largestOutput }, (error) => {
      if (error === null) done();
      else fail(error);
    });
    child.stdin?.end(paths.join('\n'));
  });

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now();
  await work();
  return performance.now() - from;
};

const measure = async ({ runs, say }: BenchContext): Promise<Outcome> => {
  const root = mkdtempSync(join(tmpdir(), 'drover-bench-lint-'));
  const series = new SeriesCollector();
  const notRun: string[] = [];
  try {
    const all = lay(join(root, 'all'), nodeText);
    const plain = lay(join(root, 'plain'), cloudConfig);
    const hasPeer = await run('python3', ['-c', 'import cloudinit.config.schema']).then(
      () => true,
      () => false,
    );
    if (!hasPeer) notRun.push('cloud-init schema: python3 has no module cloudinit');
    const every = `${fileCount} files of five families (ms)`;
    const config = `${fileCount} cloud-config files (ms)`;
    let errors = 0;
    for (let i = 0; i < runs; i++) {
      say(`run ${i + 1} of ${runs}`);
      series.add(
        { what: every, who: 'drover userdata lint', role: 'ours' },
        await timed(async () => {
          errors = await lintAll(all);
        }),
      );
      series.add(
        { what: config, who: 'drover userdata lint', role: 'ours' },
        await timed(() => lintAll(plain)),
      );
      if (!hasPeer) continue;
      series.add(
        { what: config, who: 'cloud-init schema', role: 'peer' },
        await timed(() => checkByPeer(plain)),
      );
    }
    return {
      series: series.all(),
      notRun,
      failures: errors >= fileCount / faultyEvery ? [] : [`only ${errors} errors were found`],
      notes: [
        `${errors} errors found in ${fileCount} files, of which ${fileCount / faultyEvery} are faulty`,
        'five processes of 2,000 files each, start included; cloud-init: one process, keys and types only',
      ],
    };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
};

export const lint: Bench = {
  name: 'lint',
  summary: '10,000 files of user data linted',
  defaultRuns: 3,
  run: measure,
};
