// Node lifecycle: sets Ready to Unknown when a kubelet stops reporting, taints nodes by condition
// and cordon, marks pods of silent nodes unready. Upstream: pkg/controller/nodelifecycle
// (Kubernetes 1.32) and the ttl controller's annotation. Deletes nothing; see taint-eviction.ts.
import type { StoreChange, WorldClient } from '../../contracts.ts';
import { type Micros, microsPerSecond } from '../../kernel/index.ts';
import {
  asLease,
  asNode,
  asPod,
  type Cond,
  conditionOf,
  type EventRecorder,
  isReady,
  keyOf,
  kubeTime,
  microsOf,
  type NodeView,
  nameOfKey,
  type Outcome,
  resources,
  Ticker,
  type Worker,
  withCondition,
} from '../actors/index.ts';
import type { Heartbeats } from '../kubelet/index.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';
import { correctedTaints } from './node-taints.ts';

/** node-monitor-grace-period: 50 s since 1.32; NotReady was measured after 49 to 53 s. */
const graceMicros = 50 * microsPerSecond;
/**
 * Upstream checks all nodes every 5 s. This checks only silent ones, and more often: the measured
 * spread was under 4 s.
 */
const monitorMicros = microsPerSecond;
const ttlAnnotation = 'node.alpha.kubernetes.io/ttl';

const unknownMessage = 'Kubelet stopped posting node status.';
const neverMessage = 'Kubelet never posted node status.';

export class NodeLifecycleController implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #worker: Worker;
  readonly #heartbeats: Heartbeats;
  readonly #ticker: Ticker;
  /** Nodes without a simulated kubelet (created manually): judged by lease and status. */
  readonly #foreign = new Set<string>();

  constructor(context: ControllerContext, heartbeats: Heartbeats) {
    this.#context = context;
    this.#heartbeats = heartbeats;
    const { client, events } = controllerClient(context, 'node-controller');
    this.#client = client;
    this.#events = events;
    this.#worker = newWorker(context, 'node-lifecycle', (key) => this.#reconcile(key));
    context.kube.onChange(resources.nodes, (change) => this.#nodeChanged(change));
    this.#ticker = new Ticker({
      kernel: context.kernel,
      name: 'node-lifecycle.monitor',
      periodMicros: monitorMicros,
      tick: () => this.#monitor(),
      isNeeded: () => heartbeats.stopped.size > 0 || this.#foreign.size > 0,
    });
    heartbeats.onStop(() => this.#ticker.wake());
  }

  resume(): void {
    for (const node of this.#context.kube.readAll(resources.nodes)) {
      this.#noteForeign(node.metadata.name);
      this.#worker.mark(node.metadata.name);
    }
  }

  #nodeChanged({ type, object }: StoreChange): void {
    const name = object.metadata.name;
    if (type === 'DELETED') {
      this.#foreign.delete(name);
      const owner = this.#context.kube.read(resources.nodes, { name });
      if (owner === undefined) this.#heartbeats.forget(name);
      this.#events.record({
        about: object,
        reason: 'RemovingNode',
        message: `Node ${name} event: Removing Node ${name} from Controller`,
      });
      return;
    }
    if (type === 'ADDED') {
      this.#noteForeign(name);
      this.#events.record({
        about: object,
        reason: 'RegisteredNode',
        message: `Node ${name} event: Registered Node ${name} in Controller`,
      });
    }
    this.#worker.mark(name);
  }

  #noteForeign(name: string): void {
    if (this.#heartbeats.last(name, 0) !== undefined) return;
    this.#foreign.add(name);
    this.#ticker.wake();
  }

  #read(name: string): NodeView | undefined {
    const object = this.#context.kube.read(resources.nodes, { name });
    return object === undefined ? undefined : asNode(object);
  }

  #now(): string {
    return kubeTime(this.#context.kernel.now());
  }

  /** Taints and the ttl annotation; checks the version, because other clients write taints too. */
  #reconcile(name: string): Outcome {
    const node = this.#read(name);
    if (node === undefined) return undefined;
    if (node.metadata.annotations?.[ttlAnnotation] === undefined) {
      const noted = this.#client.patch(
        resources.nodes,
        { name },
        { type: 'strategic', body: { metadata: { annotations: { [ttlAnnotation]: '0' } } } },
      );
      return noted.kind === 'ok' ? undefined : 'retry';
    }
    const taints = correctedTaints(node, this.#now());
    if (taints === undefined) return undefined;
    const { uid, resourceVersion } = node.metadata;
    const written = this.#client.patch(
      resources.nodes,
      { name },
      {
        type: 'merge',
        // The API omits empty lists.
        body: {
          metadata: { uid, resourceVersion },
          spec: { taints: taints.length === 0 ? null : taints },
        },
      },
    );
    return written.kind === 'ok' ? undefined : 'retry';
  }

  #monitor(): void {
    for (const name of this.#heartbeats.stopped) this.#judge(name);
    for (const name of this.#foreign) {
      if (this.#heartbeats.last(name, 0) !== undefined) this.#foreign.delete(name);
      else this.#judge(name);
    }
  }

  #judge(name: string): void {
    const node = this.#read(name);
    if (node === undefined) return;
    const ready = conditionOf(node.status?.conditions, 'Ready');
    if (ready?.status === 'Unknown') return;
    if (this.#lastHeard(node) + graceMicros > this.#context.kernel.now()) return;
    this.#markUnknown(node);
  }

  #lastHeard(node: NodeView): Micros {
    const now = this.#context.kernel.now();
    const implied = this.#heartbeats.last(node.metadata.name, now);
    if (implied !== undefined) return implied;
    const lease = this.#context.kube.read(resources.leases, {
      namespace: 'kube-node-lease',
      name: node.metadata.name,
    });
    const times = [
      lease === undefined ? undefined : asLease(lease).spec?.renewTime,
      conditionOf(node.status?.conditions, 'Ready')?.lastHeartbeatTime,
      node.metadata.creationTimestamp,
    ];
    return Math.max(...times.map((time) => microsOf(time) ?? 0));
  }

  #markUnknown(node: NodeView): void {
    const now = this.#now();
    let conditions: readonly Cond[] = node.status?.conditions ?? [];
    for (const type of ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']) {
      const old = conditionOf(conditions, type);
      const next = {
        type,
        status: 'Unknown',
        reason: old === undefined ? 'NodeStatusNeverUpdated' : 'NodeStatusUnknown',
        message: old === undefined ? neverMessage : unknownMessage,
        lastHeartbeatTime: old?.lastHeartbeatTime ?? node.metadata.creationTimestamp,
      };
      conditions = withCondition(conditions, next, now);
    }
    const { name } = node.metadata;
    const written = this.#client.patch(
      resources.nodes,
      { name },
      { type: 'merge', body: { status: { conditions } }, subresource: 'status' },
    );
    if (written.kind === 'error') return;
    this.#events.record({
      about: node,
      reason: 'NodeNotReady',
      message: `Node ${name} status is now: NodeNotReady`,
    });
    this.#markPodsUnready(name);
  }

  #markPodsUnready(nodeName: string): void {
    const now = this.#now();
    for (const object of this.#context.kube.podsOnNode(nodeName)) {
      const pod = asPod(object);
      if (!isReady(pod)) continue;
      const conditions = withCondition(
        pod.status?.conditions ?? [],
        { type: 'Ready', status: 'False', lastProbeTime: null },
        now,
      );
      this.#client.patch(resources.pods, nameOfKey(keyOf(pod)), {
        type: 'merge',
        body: { status: { conditions } },
        subresource: 'status',
      });
      this.#events.record({
        about: pod,
        type: 'Warning',
        reason: 'NodeNotReady',
        message: 'Node is not ready',
      });
    }
  }
}
