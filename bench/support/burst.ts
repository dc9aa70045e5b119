// Notices of many nodes in a queue at the same moment, and Drover's controllers over any Kubernetes
// API: time until each node has label and cordon, and the writes until then. Queue and groups
// answer immediately and in process, so that only the given API and Drover's work are measured.
import type { JsonObject } from '../../src/api/json.ts';
import { type KubeObject, type Node, resourceTypes } from '../../src/api/kube.ts';
import { ensureCrds } from '../../src/controllers/crds.ts';
import { createDisruptionController } from '../../src/controllers/disruption/index.ts';
import {
  createDisruptionInformer,
  createNodeGroupInformer,
  createNodeInformer,
} from '../../src/controllers/informers.ts';
import { createIntakeController } from '../../src/controllers/intake/index.ts';
import { createLifecycleController } from '../../src/controllers/lifecycle/index.ts';
import { wallClock } from '../../src/main/wall-clock.ts';
import type { KubeApi, Log } from '../../src/ports/index.ts';
import { aGroupSpec, anInstance } from '../../test/builders/controllers.ts';
import { FakeCloud } from '../../test/builders/controllers-cloud.ts';
import { SeededRandom } from '../../world/kernel/random.ts';
import { each, until } from './workload.ts';

const groupName = 'burst';
const autoScalingGroupName = 'asg-1';
const hookName = 'Terminate-LC-Hook';
const exclusion = 'node.kubernetes.io/exclude-from-external-load-balancers';
const label = 'drover-bench-burst';

export interface BurstOptions {
  readonly kube: KubeApi;
  readonly size: number;
  readonly compat: 'eks' | 'native';
  readonly log: Log;
  /** False when the kinds exist, or when the API needs no definitions. */
  readonly definitions: boolean;
}

export interface BurstFigures {
  /** Milliseconds from the arrival of all messages until each node was marked. */
  readonly marked: readonly number[];
  /** Answered writes until the last node was marked: records, marks, journal, events. */
  readonly writes: number;
}

const nodeNames = (size: number): readonly string[] =>
  Array.from({ length: size }, (_, i) => `burst-${i + 1}`);

/** Ready nodes for instances of one managed group, without pods. */
const prepare = async ({ kube, size }: BurstOptions): Promise<void> => {
  const spec = { ...aGroupSpec({ autoScalingGroupName, scaling: { minSize: 0, maxSize: size } }) };
  await kube.create(resourceTypes.nodegroups, {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroup',
    metadata: { name: groupName },
    spec: JSON.parse(JSON.stringify(spec)) as JsonObject,
  });
  const conditions = [{ type: 'Ready', status: 'True' }];
  await each(nodeNames(size), async (name) => {
    const providerID = `aws:///eu-west-1a/${anInstance(Number(name.split('-')[1]))}`;
    await kube.create(resourceTypes.nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { [label]: 'true' } },
      spec: { providerID },
    });
    const patch = {
      type: 'merge',
      body: { status: { conditions } },
      subresource: 'status',
    } as const;
    await kube.patch(resourceTypes.nodes, { name }, patch);
  });
};

const isMarked = (node: Node): boolean =>
  node.metadata.labels?.[exclusion] !== undefined && node.spec.unschedulable === true;

/** The same API with a callback for each write. */
const watched = (kube: KubeApi, onWrite: (object: KubeObject | undefined) => void): KubeApi => ({
  get: (...args) => kube.get(...args),
  list: (...args) => kube.list(...args),
  watch: (...args) => kube.watch(...args),
  create: async (type, object, options) => {
    const created = await kube.create(type, object, options);
    onWrite(created);
    return created as never;
  },
  patch: async (type, name, patch, options) => {
    const patched = await kube.patch(type, name, patch, options);
    onWrite(patched.kind === 'found' ? patched.object : undefined);
    return patched as never;
  },
  delete: (...args) => kube.delete(...args),
  evict: (...args) => kube.evict(...args),
});

const putGroup = (cloud: FakeCloud, size: number, lifecycleState: string): void => {
  const instances = nodeNames(size).map((_, i) => ({
    instanceId: anInstance(i + 1),
    lifecycleState,
  }));
  const tags = { 'eks:nodegroup-name': groupName, 'eks:cluster-name': 'c' };
  cloud.putGroup(autoScalingGroupName, { instances, tags });
};

const cloudOf = (size: number): FakeCloud => {
  const cloud = new FakeCloud(wallClock);
  putGroup(cloud, size, 'InService');
  cloud.putHook({ name: hookName, autoScalingGroupName });
  return cloud;
};

const sendAll = (cloud: FakeCloud, size: number): void => {
  putGroup(cloud, size, 'Terminating:Wait');
  for (let n = 1; n <= size; n++) {
    cloud.send({
      LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING',
      LifecycleHookName: hookName,
      AutoScalingGroupName: autoScalingGroupName,
      EC2InstanceId: anInstance(n),
      LifecycleActionToken: `token-${n}`,
      Time: new Date().toISOString(),
    });
  }
};

/** Marks `size` nodes that are announced at once. Leaves its objects behind. */
export const measureBurst = async (options: BurstOptions): Promise<BurstFigures> => {
  const { size, compat, log } = options;
  const stop = new AbortController();
  const { signal } = stop;
  const random = (purpose: string) => SeededRandom.split(1, purpose);
  const common = { clock: wallClock, log, journal: { record: () => undefined } };
  if (options.definitions) {
    await ensureCrds({ ...common, kube: options.kube, random: random('crds') }, signal);
  }
  await prepare(options);
  const markedAt = new Map<string, number>();
  let writes = 0;
  const kube = watched(options.kube, (object) => {
    if (markedAt.size < size) writes++;
    if (object?.kind !== 'Node' || markedAt.has(object.metadata.name)) return;
    if (isMarked(object as Node)) markedAt.set(object.metadata.name, performance.now());
  });
  const cloud = cloudOf(size);
  const base = (purpose: string) => ({ ...common, kube, random: random(purpose) });
  const informers = {
    nodes: createNodeInformer(base('nodes')),
    nodeGroups: createNodeGroupInformer(base('nodeGroups')),
    disruptions: createDisruptionInformer(base('disruptions')),
  };
  const deps = (purpose: string) => ({ ...base(purpose), ...informers, cloud });
  const running = Promise.all([
    ...Object.values(informers).map((informer) => informer.run(signal)),
    createIntakeController({ ...deps('intake'), queueUrl: 'q' }).run(signal),
    createLifecycleController(deps('lifecycle')).run(signal),
    createDisruptionController({ ...deps('disruption'), compat }).run(signal),
  ]);
  try {
    await until('the nodes are known', async () => informers.nodes.size >= size);
    const startedAt = performance.now();
    sendAll(cloud, size);
    await until('all nodes are marked', async () => markedAt.size >= size);
    return { marked: [...markedAt.values()].map((at) => at - startedAt), writes };
  } finally {
    stop.abort();
    await running;
  }
};

/**
 * The API's own time for the same writes: a record, its journal and a node patch for each node of
 * the last burst, 64 nodes at once, with watches but without decisions. In milliseconds.
 */
export const measureSameWrites = async ({ kube, size, log }: BurstOptions): Promise<number> => {
  const names = [...nodeNames(size)];
  const stop = new AbortController();
  const { signal } = stop;
  const base = { clock: wallClock, log, kube, random: SeededRandom.split(1, 'same') };
  const informers = [createNodeInformer(base), createDisruptionInformer(base)];
  const watching = Promise.all(informers.map((informer) => informer.run(signal)));
  await Promise.all(informers.map((informer) => informer.synced(signal)));
  const startedAt = performance.now();
  const write = async (node: string): Promise<void> => {
    const name = `twin-${node}`;
    const { nodedisruptions, nodes } = resourceTypes;
    await kube.create(nodedisruptions, {
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name },
      spec: { nodeName: node, causes: [] },
    });
    const status = { episode: 1, phase: 'Marking', node: { name: node, uid: 'none' } };
    const journal = { type: 'merge', body: { status }, subresource: 'status' } as const;
    await kube.patch(nodedisruptions, { name }, journal);
    const body = { metadata: { labels: { [label]: 'measured' } } };
    await kube.patch(nodes, { name: node }, { type: 'merge', body });
  };
  const worker = async (): Promise<void> => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) await write(name);
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  const took = performance.now() - startedAt;
  stop.abort();
  await watching;
  return took;
};
