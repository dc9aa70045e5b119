// 1,000 and 5,000 nodes with 30 pods each in a served world, created like a user would: node groups
// by `drover create nodegroup`, pods by Deployments. Measures clients' latency, memory and growth.
import { freemem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKubeClient, type KubeClient, loadKubeconfig } from '../src/adapters/kube/index.ts';
import { type KubeObject, type Node, type Pod, resourceTypes } from '../src/api/kube.ts';
import { ServedWorld } from '../test/support/demo-world.ts';
import { type Controller, startController } from './support/controller.ts';
import { memoryOf } from './support/memory.ts';
import { type Bench, type BenchContext, type Outcome, SeriesCollector } from './support/report.ts';

/** Comma-separated; 5,000 nodes take 15 to 30 minutes. */
const sizes = (process.env.DROVER_BENCH_NODES ?? '1000,5000').split(',').map(Number);
const podsPerNode = 30;
const podsPerSet = 500;
const nodesPerGroup = 1000;
/** A size runs only with this much free memory per node: the world uses about half of it. */
const freeMiBPerNode = 2;
const podsReadyWithinMs = 2_700_000;
const restMs = 5000;
/**
 * Repetitions of each client command; the list of all pods runs once, because kubectl needs 30 s.
 */
const repeats = 3;
const once = 'get pods -A';

interface Deployment extends KubeObject {
  readonly status?: { readonly readyReplicas?: number };
}

const deployments = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  namespaced: true,
};

/** Pods share their node's address: a VPC of 65,536 addresses has too few for separate ones. */
const deployment = (name: string) => ({
  metadata: { name },
  spec: {
    replicas: podsPerSet,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        hostNetwork: true,
        containers: [
          {
            name: 'app',
            image: 'example/app:1',
            resources: { requests: { cpu: '100m', memory: '128Mi' } },
          },
        ],
      },
    },
  },
});

interface Scene {
  readonly world: ServedWorld;
  readonly api: KubeClient;
  readonly nodes: number;
  readonly add: (what: string, value: number, who?: string) => void;
  readonly say: (line: string) => void;
}

const secondsOf = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
};

const mustRun = async (
  ran: Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>,
): Promise<string> => {
  const { code, stdout, stderr } = await ran;
  if (code !== 0) throw new Error(`ended with ${code}: ${stderr.slice(-1000)}`);
  return stdout;
};

const noteMemory = ({ world, add }: Scene, when: string): void => {
  const memory = memoryOf(world.pid);
  if (memory === undefined) return;
  add(`memory of the world, ${when} (MiB)`, memory.rssMiB);
};

const addNodes = async (scene: Scene): Promise<void> => {
  const { world, nodes, add } = scene;
  const seconds = await secondsOf(async () => {
    for (let left = nodes, i = 1; left > 0; left -= nodesPerGroup, i += 1) {
      const size = String(Math.min(left, nodesPerGroup));
      const named = ['--cluster', 'ironman-2022', '--name', `big-${i}`, '--nodes', size];
      const kind = ['--managed=false', '--node-type', 'm5.4xlarge'];
      await mustRun(world.drover('create', 'nodegroup', ...named, ...kind));
    }
  });
  add('drover create nodegroup until all nodes are Ready (s)', seconds);
  noteMemory(scene, 'with nodes');
};

const addPods = async (scene: Scene): Promise<void> => {
  const { api, nodes, add } = scene;
  const pods = nodes * podsPerNode;
  const seconds = await secondsOf(async () => {
    for (let i = 0; i < pods / podsPerSet; i += 1) {
      await api.create(deployments, deployment(`app-${i}`), { namespace: 'default' });
    }
    const end = performance.now() + podsReadyWithinMs;
    for (;;) {
      const { items } = await api.list<Deployment>(deployments, { namespace: 'default' });
      const ready = items.reduce((sum, { status }) => sum + (status?.readyReplicas ?? 0), 0);
      if (ready >= pods) return;
      if (performance.now() > end) throw new Error(`${ready} of ${pods} pods are Ready`);
      await sleep(1000);
    }
  });
  add('from Deployments to all pods Ready (s)', seconds);
  await sleep(restMs);
  noteMemory(scene, 'with pods');
};

/** Events per second of one watch over TLS that starts with all existing objects. */
const watchAll = async ({ api, add }: Scene): Promise<void> => {
  const stop = new AbortController();
  let events = 0;
  const startedAt = performance.now();
  const { items, resourceVersion } = await api.list<Pod>(resourceTypes.pods);
  add('list of all pods by our client (s)', (performance.now() - startedAt) / 1000);
  const live = api.watch<Pod>(resourceTypes.pods, { resourceVersion, signal: stop.signal });
  const targets = items.filter(({ metadata }) => metadata.namespace === 'default').slice(0, 2000);
  const begun = performance.now();
  const patched = (async () => {
    const queue = [...targets];
    const worker = async (): Promise<void> => {
      for (let pod = queue.shift(); pod !== undefined; pod = queue.shift()) {
        const body = { metadata: { labels: { bench: String(begun) } } };
        await api.patch(resourceTypes.pods, pod.metadata, { type: 'merge', body });
      }
    };
    await Promise.all(Array.from({ length: 16 }, worker));
  })();
  for await (const event of live) {
    if (event.type === 'MODIFIED') events += 1;
    if (events >= targets.length) break;
  }
  const seconds = (performance.now() - begun) / 1000;
  stop.abort();
  await patched;
  add('pods patched and seen by a watch, per second', events / seconds);
};

const askClients = async ({ world, add, say }: Scene, node: string): Promise<void> => {
  const kubectl: readonly (readonly string[])[] = [
    ['get', 'nodes'],
    ['get', 'pods', '-A'],
    ['get', 'pods', '-A', '--field-selector', 'spec.nodeName=NODE'],
    ['describe', 'node', 'NODE'],
    ['drain', 'NODE', '--dry-run=server', '--ignore-daemonsets'],
  ];
  const drover: readonly (readonly string[])[] = [
    ['get', 'ng', '--cluster', 'ironman-2022'],
    ['explain', 'NODE'],
    ['drain', 'NODE', '--dry-run'],
  ];
  for (let i = 0; i < repeats; i += 1) {
    for (const [who, commands] of Object.entries({ kubectl, drover })) {
      for (const command of commands) {
        if (i > 0 && command.join(' ') === once) continue;
        const args = command.map((arg) => arg.replace('NODE', node));
        const work = () =>
          mustRun(who === 'kubectl' ? world.kubectl(...args) : world.drover(...args));
        try {
          add(`${who} ${command.join(' ')} (s)`, await secondsOf(work));
        } catch (error) {
          say(`${who} ${command.join(' ')} ${error instanceof Error ? error.message : error}`);
        }
      }
    }
  }
};

const besideController = async (scene: Scene, nodes: readonly string[]): Promise<void> => {
  const { world, api, add } = scene;
  const target = {
    name: 'served world',
    api,
    compat: 'eks',
    env: world.env,
    nodes,
    auditText: () => '',
    freeze: undefined,
    podAnnotations: {},
    stop: async () => undefined,
  } as const;
  let controller: Controller | undefined;
  try {
    const starting = await secondsOf(async () => {
      controller = await startController(target, 'eks');
    });
    add('drover controller until it leads and has listed (s)', starting);
    await sleep(restMs);
    add('memory of drover controller, at rest (MiB)', controller?.rssMiB() ?? 0);
    const draining = await secondsOf(async () => controller?.drain(nodes));
    add('drover drain of ten nodes, 300 pods (s)', draining);
    add('memory of drover controller, after it (MiB)', controller?.rssMiB() ?? 0);
  } finally {
    await controller?.stop();
  }
};

const growAndRestart = async (scene: Scene): Promise<void> => {
  const { world, add } = scene;
  for (const hour of ['an hour', 'a second hour']) {
    const seconds = await secondsOf(() => mustRun(world.drover('world', 'advance', '1h')));
    add(`drover world advance 1h, ${hour} (s)`, seconds);
    await sleep(restMs);
    noteMemory(scene, `after ${hour}`);
  }
  await world.halt();
  add('start again with that state (s)', await secondsOf(() => world.restart()));
  await sleep(restMs);
  noteMemory(scene, 'after that start');
};

const measure = async (
  nodes: number,
  collector: SeriesCollector,
  say: (line: string) => void,
): Promise<void> => {
  const world = await ServedWorld.start({ args: ['--demo', '--no-controller', '--port', '0'] });
  const access = await loadKubeconfig({ path: String(world.env.KUBECONFIG), env: {} });
  const api = createKubeClient({ ...access, userAgent: 'bench' });
  const who = `${nodes} nodes, ${nodes * podsPerNode} pods`;
  const add = (what: string, value: number): void => {
    say(`${who}: ${what}: ${value.toFixed(2)}`);
    collector.add({ what: `${who}: ${what}`, who: 'drover up', role: 'ours' }, value);
  };
  const scene: Scene = { world, api, nodes, add, say };
  try {
    await addNodes(scene);
    await addPods(scene);
    const { items } = await api.list<Node>(resourceTypes.nodes, {
      labelSelector: 'alpha.eksctl.io/nodegroup-name=big-1',
    });
    const names = items.map(({ metadata }) => metadata.name).slice(0, 10);
    await askClients(scene, names[0] ?? '');
    await watchAll(scene);
    await besideController(scene, names);
    await growAndRestart(scene);
  } finally {
    await api.close();
    await world.stop();
  }
};

const run = async ({ runs, say }: BenchContext): Promise<Outcome> => {
  const collector = new SeriesCollector();
  const notRun: string[] = [];
  const failures: string[] = [];
  for (const nodes of sizes) {
    const free = freemem() / 1024 / 1024;
    if (free < nodes * freeMiBPerNode) {
      notRun.push(`${nodes} nodes: ${free.toFixed(0)} MiB free, ${nodes * freeMiBPerNode} wanted`);
      continue;
    }
    try {
      for (let i = 0; i < runs; i += 1) await measure(nodes, collector, say);
    } catch (error) {
      failures.push(`${nodes} nodes: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const notes = [
    "pods have their node's address (hostNetwork): no VPC has addresses of their own for so many",
    'the world runs without controllers of its own; `drover controller` is a process beside it',
    'a real control plane was not filled like this: a kubelet stand-in for 5,000 nodes is no peer',
  ];
  return { series: collector.all(), notRun, failures, notes };
};

export const scale: Bench = {
  name: 'scale',
  summary: '1,000 and 5,000 nodes with 30 pods each: waits of clients, memory, growth, restart',
  defaultRuns: 1,
  run,
};
