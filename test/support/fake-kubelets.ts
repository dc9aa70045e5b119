// Stand-ins for kubelets on a control plane without machines: register nodes, run their pods,
// release terminating pods. Know no images, probes or volumes: every pod starts and stops as
// configured, and pods of Jobs complete when they would become Ready. Follow one watch over all
// pods.

import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../../src/api/defined.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { type Node, type Pod, resourceTypes, type Taint } from '../../src/api/kube.ts';
import { type KubeApi, KubeError } from '../../src/ports/index.ts';

export interface FakeNode {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly providerId?: string;
  readonly taints?: readonly Taint[];
  readonly zone?: string;
  /** The kubelet's version in kubectl; none by default. */
  readonly version?: string;
  /** Maximum number of pods; default 110. */
  readonly pods?: number;
}

export interface FakeKubeletsOptions {
  readonly api: KubeApi;
  readonly nodes: readonly FakeNode[];
  /** From bound (Running at once) to Ready; default 0. */
  readonly readyAfterMs?: number;
  /** From deletionTimestamp to the object's removal, unless the grace period is shorter. */
  readonly goneAfterMs?: number;
}

export interface FakeKubelets {
  /** Failures that persisted after retries; tests assert that there are none. */
  readonly errors: readonly Error[];
  /** Adds a machine: registers its Ready node and runs its pods. */
  add(node: FakeNode): Promise<void>;
  /** Stops all stand-ins; nodes and pods stay unchanged. */
  stop(): Promise<void>;
}

const { nodes, pods } = resourceTypes;
const attempts = 5;
const pauseMs = 50;

const nodeObject = (node: FakeNode): JsonObject => ({
  metadata: {
    name: node.name,
    labels: {
      'kubernetes.io/hostname': node.name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'topology.kubernetes.io/zone': node.zone ?? 'eu-west-1a',
      ...node.labels,
    },
  },
  spec: {
    ...defined({ providerID: node.providerId }),
  },
});

const nodeStatus = (node: FakeNode, now: string): JsonObject => {
  const resources = { cpu: '16', memory: '64Gi', pods: String(node.pods ?? 110) };
  const healthy = (type: string): JsonObject => ({
    type,
    status: type === 'Ready' ? 'True' : 'False',
    reason: type === 'Ready' ? 'KubeletReady' : `KubeletHasNo${type}`,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  return {
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map(healthy),
      addresses: [{ type: 'Hostname', address: node.name }],
      ...(node.version === undefined ? {} : { nodeInfo: { kubeletVersion: node.version } }),
    },
  };
};

const isOfJob = ({ metadata }: Pod): boolean =>
  (metadata.ownerReferences ?? []).some(({ kind }) => kind === 'Job');

const podStatus = (pod: Pod, ready: boolean, now: string): JsonObject => {
  const condition = (type: string, value: boolean): JsonObject => ({
    type,
    status: value ? 'True' : 'False',
    lastTransitionTime: now,
  });
  return {
    // Refused when another pod of the same name has replaced this one.
    metadata: { uid: pod.metadata.uid },
    status: {
      phase: ready && isOfJob(pod) ? 'Succeeded' : 'Running',
      startTime: now,
      conditions: [
        condition('Initialized', true),
        condition('ContainersReady', ready),
        condition('Ready', ready),
      ],
    },
  };
};

/** Retries transient errors; rethrows others to the test. */
const persist = async (call: () => Promise<unknown>, signal: AbortSignal): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await call();
      return;
    } catch (error) {
      const passing = error instanceof KubeError && error.retry !== 'never';
      if (!passing || attempt === attempts) throw error;
      await sleep(pauseMs, undefined, { signal });
    }
  }
};

/** Creates the nodes as Ready, or finds existing ones. */
const register = async (api: KubeApi, node: FakeNode, signal: AbortSignal): Promise<void> => {
  try {
    await api.create<Node>(nodes, nodeObject(node), { signal });
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'AlreadyExists') throw error;
  }
  const name = { name: node.name };
  const body = nodeStatus(node, new Date().toISOString());
  await api.patch(nodes, name, { type: 'strategic', body, subresource: 'status' }, { signal });
  // The server taints each new node not-ready; its node lifecycle controller would remove the
  // taint.
  const taints = { spec: { taints: (node.taints ?? []).map((taint) => ({ ...taint })) } };
  await api.patch(nodes, name, { type: 'merge', body: taints }, { signal });
};

class Kubelets {
  readonly errors: Error[] = [];
  readonly #options: FakeKubeletsOptions;
  readonly #names = new Set<string>();
  readonly #abort = new AbortController();
  readonly #started = new Set<string>();
  readonly #stopping = new Set<string>();
  readonly #tasks = new Set<Promise<void>>();

  constructor(options: FakeKubeletsOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    for (const node of this.#options.nodes) await this.add(node);
    this.#run(this.#follow());
  }

  async add(node: FakeNode): Promise<void> {
    // Recorded before any pod can be bound to it: pods on unknown nodes are ignored for good.
    this.#names.add(node.name);
    await register(this.#options.api, node, this.#abort.signal);
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await Promise.all(this.#tasks);
  }

  #run(work: Promise<void>): void {
    const task = work.catch((error: unknown) => {
      if (this.#abort.signal.aborted) return;
      this.errors.push(error instanceof Error ? error : new Error(String(error)));
    });
    this.#tasks.add(task);
    task.finally(() => this.#tasks.delete(task));
  }

  async #follow(): Promise<void> {
    const { signal } = this.#abort;
    const { api } = this.#options;
    while (!signal.aborted) {
      try {
        const list = await api.list<Pod>(pods, { signal });
        for (const pod of list.items) this.#see(pod);
        await this.#watch(list.resourceVersion);
      } catch (error) {
        if (!(error instanceof KubeError) || error.retry === 'never') throw error;
        await sleep(pauseMs, undefined, { signal });
      }
    }
  }

  async #watch(from: string): Promise<void> {
    const { signal } = this.#abort;
    const events = this.#options.api.watch<Pod>(pods, { resourceVersion: from, signal });
    for await (const event of events) {
      if (event.type === 'ADDED' || event.type === 'MODIFIED') this.#see(event.object);
      else if (event.type === 'DELETED') this.#forget(event.object.metadata.uid);
    }
  }

  #forget(uid: string): void {
    this.#started.delete(uid);
    this.#stopping.delete(uid);
  }

  #see(pod: Pod): void {
    const { uid } = pod.metadata;
    if (!this.#names.has(pod.spec.nodeName ?? '')) return;
    if (pod.metadata.deletionTimestamp !== undefined) {
      if (this.#stopping.has(uid)) return;
      this.#stopping.add(uid);
      this.#run(this.#letGo(pod));
    } else if (!this.#started.has(uid) && pod.status.phase === 'Pending') {
      this.#started.add(uid);
      this.#run(this.#bringUp(pod));
    }
  }

  async #bringUp(pod: Pod): Promise<void> {
    const readyAfterMs = this.#options.readyAfterMs ?? 0;
    if (readyAfterMs > 0) {
      await this.#report(pod, false);
      await sleep(readyAfterMs, undefined, { signal: this.#abort.signal });
    }
    if (!this.#stopping.has(pod.metadata.uid)) await this.#report(pod, true);
  }

  async #report(pod: Pod, ready: boolean): Promise<void> {
    const { signal } = this.#abort;
    const body = podStatus(pod, ready, new Date().toISOString());
    const patch = { type: 'strategic', body, subresource: 'status' } as const;
    try {
      await persist(() => this.#options.api.patch(pods, pod.metadata, patch, { signal }), signal);
    } catch (error) {
      // Another pod has that name: this one is deleted.
      if (!(error instanceof KubeError) || error.code !== 'Invalid') throw error;
    }
  }

  async #letGo(pod: Pod): Promise<void> {
    const { signal } = this.#abort;
    const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000;
    const waitMs = Math.min(this.#options.goneAfterMs ?? 0, graceMs);
    if (waitMs > 0) await sleep(waitMs, undefined, { signal });
    const options = { uid: pod.metadata.uid, gracePeriodSeconds: 0, signal };
    try {
      await persist(() => this.#options.api.delete(pods, pod.metadata, options), signal);
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== 'PreconditionFailed') throw error;
    }
  }
}

/** Registers the nodes as Ready and starts running pods on them. */
export const fakeKubelets = async (options: FakeKubeletsOptions): Promise<FakeKubelets> => {
  const kubelets = new Kubelets(options);
  await kubelets.start();
  return kubelets;
};
