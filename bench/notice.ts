// Hooks of many nodes fire at once: the time until each node's label and cordon are committed, and
// the number of requests for this and the drain. World and controllers in one process, as in
// `drover up`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKubeClient, loadKubeconfig } from '../src/adapters/kube/index.ts';
import { openSqliteStore } from '../src/adapters/store/index.ts';
import { type JsonObject, objectOr } from '../src/api/json.ts';
import { startEmbeddedControllers } from '../src/main/embedded.ts';
import { wallClock } from '../src/main/wall-clock.ts';
import type { Log } from '../src/ports/index.ts';
import { Pacer } from '../src/serve/index.ts';
import { FakeKube } from '../test/builders/runtime-kube.ts';
import { startRealCluster } from '../test/support/real-cluster.ts';
import { createWorld, nodeManagerAgent, seedCluster, type World } from '../world/index.ts';
import { microsPerMs, microsPerSecond } from '../world/kernel/index.ts';
import { measureBurst, measureSameWrites } from './support/burst.ts';
import { type Bench, type BenchContext, type Outcome, SeriesCollector } from './support/report.ts';
import { percentile } from './support/stats.ts';

const sizes = [1, 100, 500] as const;
const percentiles = [0.5, 0.99] as const;
/** No add-ons: with all nodes drained at once, CoreDNS' budget would block the last one. */
const podsPerNode = 2;
const bootSeconds = 120;
const markedWithinMs = 60_000;
const endedWithinMs = 90_000;
const exclusion = 'node.kubernetes.io/exclude-from-external-load-balancers';

const kinds = {
  nodes: { group: '', resource: 'nodes' },
  pods: { group: '', resource: 'pods' },
  deployments: { group: 'apps', resource: 'deployments' },
  disruptions: { group: 'drover.dev', resource: 'nodedisruptions' },
} as const;

const plural = (size: number): string => (size === 1 ? '1 node' : `${size} nodes`);
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Collects distinct warnings and errors: a run with failures must not look fast. */
const createCollectingLog = (): { readonly log: Log; readonly seen: Set<string> } => {
  const seen = new Set<string>();
  const log: Log = {
    debug: () => {},
    info: () => {},
    warn: (message) => void seen.add(`warning: ${message}`),
    error: (message, facts) => void seen.add(`error: ${message} ${JSON.stringify(facts ?? {})}`),
    child: () => log,
  };
  return { log, seen };
};

interface Served {
  readonly world: World;
  readonly pacer: Pacer;
  readonly requests: JsonObject[];
  readonly problems: ReadonlySet<string>;
  readonly stop: () => Promise<void>;
}

/** The components of `drover up` without listeners, with a group of `size` nodes. */
const serve = (size: number, seed: number): Served => {
  const directory = mkdtempSync(join(tmpdir(), 'drover-notice-'));
  const store = openSqliteStore(join(directory, 'world.db'));
  const requests: JsonObject[] = [];
  const startAt = Date.now() * microsPerMs;
  const world = createWorld({ seed, startAt, audit: (event) => void requests.push(event) });
  const pacer = new Pacer({
    kernel: world.kernel,
    wallMs: () => performance.now(),
    speed: 1,
    settle,
    commit: () => {
      world.kernel.checkpoint();
      const changes = world.kernel.tables.takeChanges();
      if (changes.length > 0) store.commit(changes);
    },
  });
  const group = {
    name: 'bench',
    isManaged: true,
    min: 0,
    max: size + 1,
    desired: size,
    instanceType: 'm5.large',
  };
  const stopping = new AbortController();
  pacer.enter(() =>
    seedCluster(world, {
      clusterName: 'bench',
      kubernetesVersion: '1.32.9',
      groups: [group],
      addons: false,
      workload: false,
    }),
  );
  const running = pacer.run(stopping.signal);
  const { log, seen } = createCollectingLog();
  const controllers = startEmbeddedControllers({ world, log, signal: stopping.signal });
  return {
    world,
    pacer,
    requests,
    problems: seen,
    stop: async () => {
      stopping.abort();
      await Promise.all([running, controllers]);
      store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

const addPods = (world: World, replicas: number): void => {
  const labels = { app: 'bench' };
  const result = world.kube
    .as({
      user: { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
      userAgent: 'bench',
    })
    .create(kinds.deployments, 'default', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'bench', namespace: 'default' },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels, annotations: { 'world.drover.dev/stop-seconds': '1' } },
          spec: { containers: [{ name: 'app', image: 'example/app:1' }] },
        },
      },
    });
  if (result.kind === 'error') throw new Error(result.status.message);
};

/** Instances whose nodes are Ready. */
const readyInstances = (world: World): readonly string[] =>
  [...world.kube.readAll(kinds.nodes)]
    .filter((node) => {
      const { conditions } = objectOr(node.status);
      const list: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
      return list.some((c) => objectOr(c).type === 'Ready' && objectOr(c).status === 'True');
    })
    .map((node) => String(objectOr(node.spec).providerID).split('/').at(-1) ?? '');

const isMarked = (node: JsonObject): boolean =>
  objectOr(objectOr(node.metadata).labels)[exclusion] !== undefined &&
  objectOr(node.spec).unschedulable === true;

/** Wall times of the measured commits, by instance. */
const observe = (world: World) => {
  const recordedAt = new Map<string, number>();
  const markedAt = new Map<string, number>();
  let ended = 0;
  world.kube.onChange(kinds.disruptions, ({ type, object, previous }) => {
    const instance = String(objectOr(object.spec).instanceId ?? object.metadata.name);
    if (type === 'ADDED') recordedAt.set(instance, performance.now());
    const has = (one: JsonObject | undefined): boolean => objectOr(one?.status).phase === 'Ended';
    if (has(object) && !has(previous)) ended += 1;
  });
  world.kube.onChange(kinds.nodes, ({ type, object }) => {
    const instance = String(objectOr(object.spec).providerID).split('/').at(-1) ?? '';
    if (type === 'DELETED' || markedAt.has(instance) || !isMarked(object)) return;
    markedAt.set(instance, performance.now());
  });
  return { recordedAt, markedAt, ended: () => ended };
};

const waitFor = async (what: string, withinMs: number, holds: () => boolean): Promise<void> => {
  const end = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`not within ${withinMs / 1000} s: ${what}`);
    await sleep(20);
  }
};

const countRequests = (requests: readonly JsonObject[], nodes: number) => {
  const own = requests.filter(({ userAgent }) => userAgent === nodeManagerAgent);
  const resource = (event: JsonObject): string => String(objectOr(event.objectRef).resource);
  const about = (...names: readonly string[]) => own.filter((e) => names.includes(resource(e)));
  const reads: readonly unknown[] = ['get', 'list', 'watch'];
  const writes = about('nodedisruptions').filter(({ verb }) => !reads.includes(verb));
  const evictions = about('pods').filter((e) => objectOr(e.objectRef).subresource === 'eviction');
  return {
    evictions: evictions.length / nodes,
    podsAndNodes: about('pods', 'nodes').length / nodes,
    journal: writes.length / nodes,
    other: (own.length - about('pods', 'nodes').length - writes.length) / nodes,
  };
};

interface Run {
  readonly fromTerminate: readonly number[];
  readonly fromRecord: readonly number[];
  readonly recorded: readonly number[];
  readonly requests: ReturnType<typeof countRequests>;
}

const terminateAll = async (served: Served, size: number): Promise<Run> => {
  const { world, pacer, requests } = served;
  await pacer.advance(bootSeconds * microsPerSecond);
  pacer.enter(() => addPods(world, size * podsPerNode));
  await pacer.advance(bootSeconds * microsPerSecond);
  const instances = readyInstances(world);
  if (instances.length < size) throw new Error(`${instances.length} of ${size} nodes are Ready`);
  const seen = observe(world);
  requests.length = 0;
  const startedAt = performance.now();
  pacer.enter(() => {
    for (const InstanceId of instances) {
      world.aws.call('autoscaling', 'TerminateInstanceInAutoScalingGroup', {
        InstanceId,
        ShouldDecrementDesiredCapacity: true,
      });
    }
  });
  await waitFor('all nodes are marked', markedWithinMs, () => seen.markedAt.size >= size);
  await waitFor('all drains have ended', endedWithinMs, () => seen.ended() >= size);
  const since = (times: ReadonlyMap<string, number>): readonly number[] =>
    [...times.values()].map((at) => at - startedAt);
  return {
    fromTerminate: since(seen.markedAt),
    recorded: since(seen.recordedAt),
    fromRecord: [...seen.markedAt].map(([id, at]) => at - (seen.recordedAt.get(id) ?? startedAt)),
    requests: countRequests(requests, size),
  };
};

/** Only the controllers: queue and API answer immediately, in process. */
const decisionPath = async (context: BenchContext, collector: SeriesCollector): Promise<void> => {
  const { log } = createCollectingLog();
  for (const size of sizes) {
    for (let i = 1; i <= context.runs; i += 1) {
      context.say(`decision path, ${plural(size)}, run ${i} of ${context.runs}`);
      const kube = new FakeKube(wallClock);
      const options = { kube, size, compat: 'eks', log, definitions: false } as const;
      const { marked } = await measureBurst(options);
      for (const share of percentiles) {
        const what = `decision path, ${plural(size)}: in the queue to marked, p${share * 100} (ms)`;
        collector.add({ what, who: 'controllers alone', role: 'ours' }, percentile(marked, share));
      }
    }
  }
};

/**
 * Returns why it cannot run, or undefined. Each size has a server of its own, without leftovers.
 */
const realServer = async (
  context: BenchContext,
  collector: SeriesCollector,
): Promise<string | undefined> => {
  const { log } = createCollectingLog();
  for (const size of sizes) {
    for (let i = 1; i <= context.runs; i += 1) {
      context.say(`real API server, ${plural(size)}, run ${i} of ${context.runs}`);
      const cluster = await startRealCluster({ auditLevel: 'Metadata' });
      if (!cluster.available) return cluster.reason;
      const access = await loadKubeconfig({ path: cluster.kubeconfigPath, env: {} });
      const kube = createKubeClient({ ...access, userAgent: 'drover-bench' });
      try {
        const compat = 'native' as const;
        const options = { kube, size, compat, log, definitions: true } as const;
        const burst = await measureBurst(options);
        const same = await measureSameWrites(options);
        const { marked, writes } = burst;
        const who = 'controllers, real API server';
        const add = (what: string, value: number): void =>
          collector.add({ what: `real, ${plural(size)}: ${what}`, who, role: 'ours' }, value);
        for (const share of percentiles) {
          add(`in the queue to marked, p${share * 100} (ms)`, percentile(marked, share));
        }
        add('writes until the last node is marked, per node', writes / size);
        const bound = (same * writes) / (3 * size);
        add('the same writes with nothing decided, 64 at once (ms)', bound);
        add('last node marked / the same writes with nothing decided', Math.max(...marked) / bound);
      } finally {
        await kube.close();
        await cluster.stop();
      }
    }
  }
  return undefined;
};

const run = async (context: BenchContext): Promise<Outcome> => {
  const collector = new SeriesCollector();
  const failures: string[] = [];
  const notes: string[] = [];
  for (const size of sizes) {
    for (let i = 1; i <= context.runs; i += 1) {
      context.say(`${plural(size)}, run ${i} of ${context.runs}`);
      const served = serve(size, i);
      try {
        const one = await terminateAll(served, size);
        const head = (what: string) =>
          ({
            what: `${plural(size)}: ${what}`,
            who: 'world and controllers',
            role: 'ours',
          }) as const;
        for (const share of percentiles) {
          const p = `p${share * 100}`;
          const add = (what: string, values: readonly number[]): void =>
            collector.add(head(`${what}, ${p} (ms)`), percentile(values, share));
          add('terminate call to disruption recorded', one.recorded);
          add('disruption recorded to marked', one.fromRecord);
          add('terminate call to marked', one.fromTerminate);
        }
        collector.add(head('evictions, per node'), one.requests.evictions);
        collector.add(head('requests on pods and nodes, per node'), one.requests.podsAndNodes);
        collector.add(head('journal writes, per node'), one.requests.journal);
        collector.add(head('other requests, per node'), one.requests.other);
      } catch (error) {
        failures.push(`${plural(size)}: ${error instanceof Error ? error.message : String(error)}`);
      } finally {
        await served.stop();
      }
      notes.push(...[...served.problems].map((problem) => `${plural(size)}: ${problem}`));
    }
  }
  await decisionPath(context, collector);
  const noServer = await realServer(context, collector);
  const notRun = noServer === undefined ? [] : [`real API server: ${noServer}`];
  notRun.push('peer: EKS itself; article 001 shows 583 ms between two of its marks');
  notes.push(
    `${podsPerNode} pods a node to evict; world, message delivery and controllers in one process, ` +
      'committing to SQLite; times by the wall clock at the commit of each object',
    'pods evicted from one node may land on the next one and be evicted again',
    'decision path: the same controllers over a queue and an API that answer at once, in process',
    'real API server: one patch a node (native), queue and groups in process; writes are records, ' +
      'marks, journal and events',
    'the terminate call to the record includes the delivery that the world gives SNS and SQS',
  );
  return { series: collector.all(), notRun, failures, notes: [...new Set(notes)] };
};

export const notice: Bench = {
  name: 'notice',
  summary: 'hooks of 1, 100 and 500 nodes at once: terminate call to label and cordon',
  defaultRuns: 3,
  run,
};
