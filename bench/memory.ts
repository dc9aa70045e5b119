// Memory of `drover controller` as a process beside an API with 5,000 nodes and 150,000 pods: at
// rest, and after it has drained ten nodes of 30 pods. The API is in a process of its own. Fails if
// a drain leaves a pod.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKubeClient, type KubeClient, loadKubeconfig } from '../src/adapters/kube/index.ts';
import { type Node, type Pod, resourceTypes } from '../src/api/kube.ts';
import { hasRelease, packedProgram } from '../test/support/agent-peers.ts';
import { ServedWorld } from '../test/support/demo-world.ts';
import { type Controller, startController } from './support/controller.ts';
import { type Bench, type BenchContext, type Outcome, SeriesCollector } from './support/report.ts';

const nodes = Number(process.env.DROVER_BENCH_NODES ?? 5000);
const podsPerNode = 30;
const drainedAtOnce = 10;
/** The same process drains ten nodes this many times, to show whether its memory grows. */
const drains = 3;
const sampleMs = 5000;
const mostSamples = 12;
/** Memory is at rest when two samples differ by less. */
const settledMiB = 1;

const startCluster = async (kubeconfig: string): Promise<ChildProcess> => {
  const script = new URL('./support/large-cluster.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, String(nodes), String(podsPerNode), kubeconfig], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error('the cluster ended before it was ready');
  });
  await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => {});
  return child;
};

interface Place {
  readonly directory: string;
  readonly kubeconfig: string;
  readonly cloud: ServedWorld;
}

/** Memory once it is at rest: the informers have their lists, and garbage is collected. */
const restingMiB = async ({ rssMiB }: Controller): Promise<number> => {
  let last = Number.NaN;
  for (let i = 0; i < mostSamples; i += 1) {
    await sleep(sampleMs);
    const now = rssMiB() ?? Number.NaN;
    if (Math.abs(now - last) < settledMiB) return now;
    last = now;
  }
  return last;
};

const podsOn = async (api: KubeClient, names: readonly string[]): Promise<number> => {
  const lists = await Promise.all(
    names.map((name) =>
      api.list<Pod>(resourceTypes.pods, { fieldSelector: `spec.nodeName=${name}` }),
    ),
  );
  return lists.reduce((sum, { items }) => sum + items.length, 0);
};

/** Nothing else removes pods from this API. Throws if the drain leaves any. */
const drainAll = async (
  { drain }: Controller,
  api: KubeClient,
  names: readonly string[],
): Promise<number> => {
  const expected = drainedAtOnce * podsPerNode;
  const before = await podsOn(api, names);
  if (before !== expected) {
    throw new Error(`${names.length} nodes to drain have ${before} pods, not ${expected}`);
  }
  await drain(names);
  const left = await podsOn(api, names);
  if (left > 0) throw new Error(`${left} of ${before} pods remain on drained nodes: ${names}`);
  return before;
};

const measure = async (
  { directory, kubeconfig, cloud }: Place,
  { isPacked, first }: { readonly isPacked: boolean; readonly first: number },
  collector: SeriesCollector,
): Promise<void> => {
  const access = await loadKubeconfig({ path: kubeconfig, env: {} });
  const api = createKubeClient({ ...access, userAgent: 'bench' });
  const { items } = await api.list<Node>(resourceTypes.nodes);
  const names = items.map(({ metadata }) => metadata.name).slice(first);
  const env = { ...cloud.env, KUBECONFIG: kubeconfig, DROVER_URL: undefined };
  const add = (what: string, value: number): void =>
    collector.add({ what, who: isPacked ? 'packed release' : 'sources', role: 'ours' }, value);
  const program = isPacked ? { program: packedProgram(directory) } : {};
  const controller = await startController({ api, env }, 'native', [], program);
  try {
    add('at rest (MiB)', await restingMiB(controller));
    let evicted = 0;
    for (let i = 0; i < drains; i += 1) {
      const ten = names.slice(i * drainedAtOnce, (i + 1) * drainedAtOnce);
      evicted += await drainAll(controller, api, ten);
      if (i === 0) add('after ten nodes (MiB)', controller.rssMiB() ?? Number.NaN);
    }
    add('after thirty nodes (MiB)', await restingMiB(controller));
    add('pods evicted', evicted);
    add('highest (MiB)', controller.peakMiB() ?? Number.NaN);
  } finally {
    await controller.stop();
    await api.close();
  }
};

const run = async ({ runs, say }: BenchContext): Promise<Outcome> => {
  const collector = new SeriesCollector();
  const directory = mkdtempSync(join(tmpdir(), 'drover-memory-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const cloud = await ServedWorld.start({ args: ['--no-controller', '--port', '0'] });
  const cluster = await startCluster(kubeconfig);
  const forms = hasRelease() ? [true, false] : [false];
  try {
    for (const [place, isPacked] of forms.entries()) {
      for (let i = 0; i < runs; i += 1) {
        say(`${isPacked ? 'packed release' : 'sources'}, run ${i + 1} of ${runs}`);
        const first = (place * runs + i) * drains * drainedAtOnce;
        await measure({ directory, kubeconfig, cloud }, { isPacked, first }, collector);
      }
    }
  } finally {
    cluster.kill();
    await cloud.stop();
    rmSync(directory, { recursive: true, force: true });
  }
  const notes = [
    `${nodes} nodes, ${nodes * podsPerNode} pods; ${drainedAtOnce} nodes of ${podsPerNode} pods at once`,
    'target: 200 MB = 191 MiB after ten nodes',
  ];
  const notRun = hasRelease() ? [] : ['packed release: `npm run build` makes it'];
  return { series: collector.all(), notRun, notes };
};

export const memory: Bench = {
  name: 'memory',
  summary: 'memory of drover controller beside 5,000 nodes and 150,000 pods',
  defaultRuns: 3,
  run,
};
