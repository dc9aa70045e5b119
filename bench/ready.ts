// Time from process start until `drover up --demo` answers and until all its nodes are Ready, and
// its memory then; compared with moto_server and a real Kubernetes control plane.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKubeClient, loadKubeconfig } from '../src/adapters/kube/index.ts';
import { defined } from '../src/api/defined.ts';
import { type Node, resourceTypes } from '../src/api/kube.ts';
import { missing, ServedWorld } from '../test/support/demo-world.ts';
import { peerProgram } from '../test/support/peers.ts';
import { freePorts } from '../test/support/processes.ts';
import { startRealCluster } from '../test/support/real-cluster.ts';
import { memoryOf, ownChildren } from './support/memory.ts';
import { type Bench, type BenchContext, type Outcome, SeriesCollector } from './support/report.ts';

/** One node of demo-ng, one of demo-self-ng, two of ng1-public-ssh. */
const demoNodes = 4;
/** Memory is measured after the initial work, once the process is idle. */
const restMs = 3000;
const pollMs = 10;
const nodesReadyWithinMs = 60_000;

const isReady = (node: Node): boolean =>
  node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ===
  true;

const waitForNodes = async (world: ServedWorld): Promise<void> => {
  const access = await loadKubeconfig({ path: String(world.env.KUBECONFIG), env: {} });
  const api = createKubeClient({ ...access, userAgent: 'drover-bench' });
  try {
    const end = performance.now() + nodesReadyWithinMs;
    for (;;) {
      const { items } = await api.list<Node>(resourceTypes.nodes);
      if (items.length >= demoNodes && items.every(isReady)) return;
      if (performance.now() > end) throw new Error('the demo nodes do not become Ready');
      await sleep(pollMs);
    }
  } finally {
    await api.close();
  }
};

const measureOurs = async (collector: SeriesCollector): Promise<void> => {
  let dataDir: string | undefined;
  for (const start of ['fresh directory', 'second start'] as const) {
    const who = `drover up --demo, ${start}`;
    const startedAt = performance.now();
    const args = ['--demo', '--port', '0'];
    const world = await ServedWorld.start({ args, ...defined({ dataDir }) });
    dataDir = world.dataDir;
    try {
      // A second start is not comparable with a peer's first one, so it is a series of its own.
      const role = 'ours';
      const suffix = start === 'fresh directory' ? '' : ', second start';
      const head = (what: string) => ({ what: `${what}${suffix}`, who, role }) as const;
      collector.add(head('process start to ready (ms)'), performance.now() - startedAt);
      await waitForNodes(world);
      collector.add(head('process start to all nodes Ready (ms)'), performance.now() - startedAt);
      await sleep(restMs);
      const memory = memoryOf(world.pid);
      if (memory !== undefined) {
        collector.add(head('memory when ready (MiB)'), memory.rssMiB);
        collector.add(head('highest memory until then (MiB)'), memory.peakMiB);
      }
    } finally {
      await world.stop({ keep: true });
    }
  }
  if (dataDir !== undefined) rmSync(dataDir, { recursive: true, force: true });
};

/** The program itself: a pyenv shim would add its own start time to moto's. */
const motoPath = (): string => {
  const program = peerProgram('moto_server');
  if (program !== 'moto_server') return program;
  try {
    return execFileSync('pyenv', ['which', 'moto_server'], { stdio: 'pipe' }).toString().trim();
  } catch {
    return program;
  }
};

/** One list call for each service with objects in the demo world. moto loads each at first use. */
const motoCalls = [
  ['autoscaling', '2011-01-01', 'DescribeAutoScalingGroups'],
  ['ec2', '2016-11-15', 'DescribeInstances'],
  ['sns', '2010-03-31', 'ListTopics'],
  ['cloudformation', '2010-05-15', 'ListStacks'],
] as const;

const callMoto = async (
  port: number,
  [service, version, action]: (typeof motoCalls)[number],
): Promise<boolean> => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization:
          `AWS4-HMAC-SHA256 Credential=test/20260101/eu-west-1/${service}/aws4_request, ` +
          'SignedHeaders=host, Signature=0',
      },
      body: `Action=${action}&Version=${version}`,
    });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
};

const measureMoto = async (path: string, collector: SeriesCollector): Promise<void> => {
  const [port = 0] = await freePorts(1);
  const startedAt = performance.now();
  const child = spawn(path, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  try {
    const who = 'moto_server';
    const end = startedAt + nodesReadyWithinMs;
    for (const call of motoCalls) {
      while (!(await callMoto(port, call))) {
        if (child.exitCode !== null || performance.now() > end) {
          throw new Error('moto_server does not answer');
        }
        await sleep(pollMs);
      }
      if (call !== motoCalls[0]) continue;
      const what = 'process start to ready (ms)';
      collector.add({ what, who, role: 'peer' }, performance.now() - startedAt);
    }
    await sleep(restMs);
    const memory = memoryOf(child.pid ?? 0);
    if (memory === undefined) return;
    collector.add({ what: 'memory when ready (MiB)', who, role: 'peer' }, memory.rssMiB);
    const what = 'highest memory until then (MiB)';
    collector.add({ what, who, role: 'peer' }, memory.peakMiB);
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
};

/** Why it cannot run, or undefined. */
const measureRealPlane = async (collector: SeriesCollector): Promise<string | undefined> => {
  const before = new Set(ownChildren());
  const startedAt = performance.now();
  const cluster = await startRealCluster({ scheduler: true });
  if (!cluster.available) return cluster.reason;
  try {
    const who = 'etcd, apiserver, controllers, scheduler';
    const what = 'process start to ready (ms)';
    collector.add({ what, who, role: 'peer' }, performance.now() - startedAt);
    await sleep(restMs);
    const memories = ownChildren()
      .filter((pid) => !before.has(pid))
      .flatMap((pid) => memoryOf(pid) ?? []);
    const sum = (pick: 'rssMiB' | 'peakMiB'): number =>
      memories.reduce((total, memory) => total + memory[pick], 0);
    if (memories.length === 0) return undefined;
    collector.add({ what: 'memory when ready (MiB)', who, role: 'peer' }, sum('rssMiB'));
    collector.add({ what: 'highest memory until then (MiB)', who, role: 'peer' }, sum('peakMiB'));
    return undefined;
  } finally {
    await cluster.stop();
  }
};

const run = async ({ runs, say }: BenchContext): Promise<Outcome> => {
  const collector = new SeriesCollector();
  const notRun: string[] = [];
  const moto = motoPath();
  const noMoto = await missing(moto, ['--help']);
  if (noMoto !== undefined) notRun.push(`moto_server: ${noMoto}`);
  let noPlane: string | undefined;
  for (let i = 1; i <= runs; i += 1) {
    say(`run ${i} of ${runs}`);
    await measureOurs(collector);
    if (noMoto === undefined) await measureMoto(moto, collector);
    noPlane ??= await measureRealPlane(collector);
  }
  if (noPlane !== undefined) notRun.push(`a real control plane: ${noPlane}`);
  const notes = [
    'ours serves a Kubernetes API and AWS APIs with a running cluster in it; moto_server serves ' +
      'AWS APIs of an empty account; the real control plane has no AWS and no nodes',
    'moto_server is ready at its first answered DescribeAutoScalingGroups; its memory is read ' +
      `after one list of each of ${motoCalls.length} services`,
    'machines of the demo take seconds of world time to boot: nodes Ready is mostly that wait',
  ];
  return { series: collector.all(), notRun, notes };
};

export const ready: Bench = {
  name: 'ready',
  summary: 'time and memory until `drover up --demo` is ready, beside moto_server',
  defaultRuns: 5,
  run,
};
