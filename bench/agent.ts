// The node agent as a process: memory and processor time, idle and under 50,000 kernel log lines,
// and the time from a kernel fault to the Node's condition. Compared with node-problem-detector if
// it is installed (test/peers).
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { catalogue } from '../src/agent/index.ts';
import { LineMatcher } from '../src/agent/rules/line-matcher.ts';
import { epochMs } from '../src/api/brand.ts';
import {
  AgentPeers,
  cpuSeconds,
  detectorPaths,
  hasRelease,
  type Watcher,
} from '../test/support/agent-peers.ts';
import { attempt, cgroup, inCgroup, whyNoFaults } from '../test/support/node-faults.ts';
import { memoryOf } from './support/memory.ts';
import { type Bench, type Outcome, SeriesCollector } from './support/report.ts';

const settleMs = 15_000;
const idleMs = 60_000;
const floodLines = 50_000;
/** Below the size of the kernel's ring buffer, so that no line is lost between two reads. */
const linesAtOnce = 500;
const pauseMs = 20;
const drainMs = 5_000;
const foundWithinMs = 30_000;

const roleOf = ({ node }: Watcher): 'ours' | 'peer' => (node === 'ours' ? 'ours' : 'peer');

const measureRest = async (peers: AgentPeers, collector: SeriesCollector): Promise<void> => {
  await sleep(settleMs);
  const before = peers.watchers.map(({ pid }) => cpuSeconds(pid));
  await sleep(idleMs);
  for (const [index, watcher] of peers.watchers.entries()) {
    const head = { who: watcher.name, role: roleOf(watcher) };
    const used = cpuSeconds(watcher.pid) - (before[index] ?? 0);
    const memory = memoryOf(watcher.pid);
    collector.add({ what: 'memory at rest (MiB)', ...head }, memory?.rssMiB ?? Number.NaN);
    collector.add({ what: 'processor at rest (% of a core)', ...head }, (used / idleMs) * 100_000);
  }
};

/** By default the kernel rate-limits what one program writes. */
const rateLimit = '/proc/sys/kernel/printk_devkmsg';

/** Writes lines of user space, the only ones that a program can write to the kernel log. */
const flood = async (): Promise<void> => {
  const before = readFileSync(rateLimit, 'utf8');
  writeFileSync(rateLimit, 'on\n');
  const fd = openSync('/dev/kmsg', 'w');
  try {
    for (let line = 0; line < floodLines; line++) {
      writeSync(fd, `drover-bench: line ${line} of a flood that says nothing of a fault\n`);
      if (line % linesAtOnce === linesAtOnce - 1) await sleep(pauseMs);
    }
  } finally {
    closeSync(fd);
    writeFileSync(rateLimit, before);
  }
};

const measureFlood = async (peers: AgentPeers, collector: SeriesCollector): Promise<void> => {
  const before = peers.watchers.map(({ pid }) => cpuSeconds(pid));
  await flood();
  await sleep(drainMs);
  for (const [index, watcher] of peers.watchers.entries()) {
    const head = { who: watcher.name, role: roleOf(watcher) };
    const used = cpuSeconds(watcher.pid) - (before[index] ?? 0);
    const memory = memoryOf(watcher.pid);
    const what = `after ${floodLines} kernel lines`;
    collector.add({ what: `memory ${what} (MiB)`, ...head }, memory?.rssMiB ?? Number.NaN);
    collector.add({ what: `highest memory ${what} (MiB)`, ...head }, memory?.peakMiB ?? Number.NaN);
    collector.add({ what: `processor for ${floodLines} kernel lines (s)`, ...head }, used);
  }
};

const secondsUntil = async (holds: () => Promise<boolean>): Promise<number | undefined> => {
  const begun = performance.now();
  while (performance.now() - begun < foundWithinMs) {
    if (await holds()) return (performance.now() - begun) / 1000;
    await sleep(50);
  }
  return undefined;
};

/**
 * A refused fork turns the agent's KernelReady False; an out-of-memory kill is an Event of both.
 */
const measureFinding = async (
  peers: AgentPeers,
  collector: SeriesCollector,
): Promise<readonly string[]> => {
  const notRun: string[] = [];
  const memory = cgroup('memory', 'drover-bench-oom');
  const pids = cgroup('pids', 'system.drover-bench');
  if (memory === undefined || pids === undefined) return ['finding: no cgroups of memory and pids'];
  const limits = { 'memory.limit_in_bytes': '30M', 'memory.max': '30M' };
  inCgroup(memory, limits, 'exec python3 -c "x = bytearray(200_000_000)"');
  for (const watcher of peers.watchers) {
    const seconds = await secondsUntil(async () =>
      (await peers.says(watcher.node)).some((line) => /^(?:KernelReady|OOMKilling): /.test(line)),
    );
    const head = { who: watcher.name, role: roleOf(watcher) };
    const what = 'kill for want of memory to Event (s)';
    if (seconds === undefined) notRun.push(`${what}: ${watcher.name} has none`);
    else collector.add({ what, ...head }, seconds);
  }
  inCgroup(pids, { 'pids.max': '3' }, 'sleep 1 & sleep 1 & sleep 1 & sleep 1 & wait');
  const what = 'refused fork to condition False (s)';
  const seconds = await secondsUntil(async () =>
    (await peers.says('ours')).some((line) => line.startsWith('KernelReady=False')),
  );
  if (seconds === undefined) notRun.push(`${what}: not found`);
  else collector.add({ what, who: 'drover agent', role: 'ours' }, seconds);
  return notRun;
};

const longLine = (unit: string): string => unit.repeat(Math.ceil(4096 / unit.length));
/** Texts on which a backtracking matcher takes exponential or quadratic time. */
const hostile: readonly (readonly [name: string, line: string])[] = [
  ['letters', longLine('a')],
  ['halves of a pattern', longLine('task x:1 blocked for more than ')],
  ['brackets', longLine('BUG: soft lockup - CPU#1 stuck for [')],
];

const measurePatterns = (collector: SeriesCollector): void => {
  const matcher = new LineMatcher(catalogue);
  const now = epochMs(1_000_000_000_000);
  for (const [name, line] of hostile) {
    const begun = performance.now();
    const times = 20;
    for (let i = 0; i < times; i++) matcher.find('kernel', line, now);
    const each = (performance.now() - begun) / times;
    const what = `all patterns over 4 KiB of ${name} (ms)`;
    collector.add({ what, who: 'drover agent', role: 'ours' }, each);
  }
};

export const agent: Bench = {
  name: 'agent',
  summary: 'node agent: memory, processor, time from fault to condition, bounded patterns',
  defaultRuns: 1,
  run: async ({ runs, say }): Promise<Outcome> => {
    const collector = new SeriesCollector();
    const notRun: string[] = [];
    measurePatterns(collector);
    const whyNot = whyNoFaults();
    if (whyNot !== undefined) {
      return { series: collector.all(), notRun: [`the process: ${whyNot}`], notes: [] };
    }
    const detector = detectorPaths(process.env);
    if (detector === undefined)
      notRun.push('peer: node-problem-detector is not installed: npm run peers:install');
    // The first start compiles the sources, which is not part of the agent's idle cost.
    const isPacked = hasRelease();
    if (!isPacked) notRun.push('the packed release: npm run build makes it; these are the sources');
    await (await AgentPeers.begin(undefined, { isPacked })).end();
    for (let run = 0; run < runs; run++) {
      const peers = await AgentPeers.begin(detector, { isPacked });
      try {
        say('at rest for a minute');
        await measureRest(peers, collector);
        say('a flood of the kernel log');
        await measureFlood(peers, collector);
        notRun.push(...(await measureFinding(peers, collector)));
      } finally {
        await peers.end();
        attempt('rmdir /sys/fs/cgroup/*/drover-bench-oom /sys/fs/cgroup/*/system.drover-bench');
      }
    }
    const what = isPacked
      ? 'the agent is that of the packed release'
      : 'the agent runs its sources';
    const notes = [
      what,
      `lines are written at once ${linesAtOnce}, a pause of ${pauseMs} ms between`,
    ];
    return { series: collector.all(), notRun, notes };
  },
};
