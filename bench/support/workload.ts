// Pods to drain: replica sets pinned to one node each, so that replacements of drained pods stay
// Pending. Created before a measurement and deleted after it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../src/api/json.ts';
import { type KubeObject, type Node, type Pod, resourceTypes } from '../../src/api/kube.ts';
import type { Target } from './targets.ts';

export const namespace = 'bench';

interface ReplicaSet extends KubeObject {
  readonly status?: { readonly readyReplicas?: number };
}

const readyWithinMs = 120_000;
const inFlight = 16;

/** Runs `work` over `items` with limited concurrency. */
export const each = async <T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> => {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
};

/** Serves requests: Ready, or terminating and Ready until then. */
export const isServing = (pod: Pod): boolean =>
  pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

export const isReadyPod = (pod: Pod): boolean =>
  pod.metadata.deletionTimestamp === undefined && isServing(pod);

export const podsOf = async (target: Target): Promise<readonly Pod[]> =>
  (await target.api.list<Pod>(resourceTypes.pods, { namespace })).items;

export const until = async (
  what: string,
  holds: () => Promise<boolean>,
  withinMs = readyWithinMs,
): Promise<void> => {
  const end = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(100);
  }
};

export const createNamespace = async (target: Target): Promise<void> => {
  await target.api.create(resourceTypes.namespaces, { metadata: { name: namespace } });
};

export const podTemplate = (
  target: Target,
  app: string,
  nodeSelector: Readonly<Record<string, string>>,
) => ({
  metadata: { labels: { app }, annotations: { ...target.podAnnotations } },
  spec: {
    terminationGracePeriodSeconds: 30,
    nodeSelector: { ...nodeSelector },
    containers: [{ name: 'app', image: 'example/app:1' }],
  },
});

const replicaSet = (name: string, replicas: number, template: JsonObject): JsonObject => ({
  metadata: { name },
  spec: { replicas, selector: { matchLabels: { app: name } }, template },
});

/** With frozen controllers: creates the set and its pods, already bound to the node. */
const fillFrozen = async (target: Target, perNode: number): Promise<void> => {
  const pods: JsonObject[] = [];
  for (const [index, node] of target.nodes.entries()) {
    const name = `app-${index}`;
    const template = podTemplate(target, name, { 'bench-node': String(index) });
    const set = await target.api.create<ReplicaSet>(
      resourceTypes.replicasets,
      replicaSet(name, perNode, template),
      { namespace },
    );
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name,
      uid: set.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    };
    for (let i = 0; i < perNode; i += 1) {
      pods.push({
        metadata: { ...template.metadata, name: `${name}-${i}`, ownerReferences: [owner] },
        spec: { ...template.spec, nodeName: node },
      });
    }
  }
  await each(pods, (pod) => target.api.create<Pod>(resourceTypes.pods, pod, { namespace }));
};

const fillByScheduler = (target: Target, perNode: number): Promise<void> =>
  each([...target.nodes.keys()], (index) => {
    const name = `app-${index}`;
    const template = podTemplate(target, name, { 'bench-node': String(index) });
    const set = replicaSet(name, perNode, template);
    return target.api.create(resourceTypes.replicasets, set, { namespace });
  });

/** `perNode` Ready pods on each node, in one replica set per node. */
export const fill = async (target: Target, perNode: number): Promise<void> => {
  if (target.freeze === undefined) {
    await fillByScheduler(target, perNode);
  } else {
    target.freeze(true);
    await fillFrozen(target, perNode);
  }
  await until('the pods are Ready', async () => {
    const ready = (await podsOf(target)).filter(isReadyPod);
    return ready.length === perNode * target.nodes.length;
  });
  if (target.freeze === undefined) return;
  target.freeze(false);
  await until('the replica sets know their pods', async () => {
    const { items } = await target.api.list<ReplicaSet>(resourceTypes.replicasets, { namespace });
    return items.every(({ status }) => status?.readyReplicas === perNode);
  });
};

/** Deletes sets and pods and restores the nodes. */
export const clear = async (target: Target): Promise<void> => {
  const { replicasets, pods, nodes } = resourceTypes;
  const sets = (await target.api.list<ReplicaSet>(replicasets, { namespace })).items;
  await each(sets, ({ metadata }) =>
    target.api.delete(replicasets, metadata, { propagationPolicy: 'Background' }),
  );
  await until('the pods are gone', async () => {
    const left = await podsOf(target);
    await each(left, ({ metadata }) =>
      target.api.delete(pods, metadata, { gracePeriodSeconds: 0 }),
    );
    return left.length === 0;
  });
  await each(target.nodes, async (name) => {
    const found = await target.api.get<Node>(nodes, { name });
    if (found.kind === 'gone') return;
    const taints = (found.object.spec.taints ?? []).filter(
      ({ key }) => key !== 'drover.dev/disrupted' && key !== 'node.kubernetes.io/unschedulable',
    );
    const body = {
      metadata: {
        labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': null },
        annotations: { 'drover.dev/marks': null },
      },
      spec: { unschedulable: null, taints: taints.map((taint) => ({ ...taint })) },
    };
    await target.api.patch(nodes, { name }, { type: 'merge', body });
  });
};
