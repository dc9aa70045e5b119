// Deletes pods from nodes with NoExecute taints once their toleration expires (300 s by default).
// Upstream: pkg/controller/tainteviction (Kubernetes 1.32). Ignores PodDisruptionBudgets.
import type { StoreChange, WorldClient } from '../../contracts.ts';
import { type Micros, microsPerSecond } from '../../kernel/index.ts';
import {
  asNode,
  asPod,
  type EventRecorder,
  isTerminating,
  keyOf,
  kubeTime,
  microsOf,
  nameOfKey,
  type Outcome,
  type PodView,
  resources,
  type TaintView,
  tolerates,
  type Worker,
  withCondition,
} from '../actors/index.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';

const noExecute = (taints: readonly TaintView[] | undefined): readonly TaintView[] =>
  (taints ?? []).filter((taint) => taint.effect === 'NoExecute');

export class TaintEvictionController implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #worker: Worker;

  constructor(context: ControllerContext) {
    this.#context = context;
    const { client, events } = controllerClient(context, 'taint-eviction-controller');
    this.#client = client;
    this.#events = events;
    this.#worker = newWorker(context, 'taint-eviction', (key) => this.#reconcile(key));
    context.kube.onChange(resources.nodes, (change) => this.#nodeChanged(change));
    context.kube.onChange(resources.pods, (change) => this.#podChanged(change));
  }

  resume(): void {
    for (const node of this.#context.kube.readAll(resources.nodes)) {
      if (noExecute(asNode(node).spec?.taints).length > 0) this.#markPods(node.metadata.name);
    }
  }

  #nodeChanged({ type, object, previous }: StoreChange): void {
    const taints = asNode(object).spec?.taints;
    if (type === 'DELETED' || (previous && asNode(previous).spec?.taints === taints)) return;
    const before = previous === undefined ? 0 : noExecute(asNode(previous).spec?.taints).length;
    if (noExecute(taints).length > 0) this.#markPods(object.metadata.name);
    else if (before > 0) this.#spare(object.metadata.name);
  }

  #podChanged({ type, object, previous }: StoreChange): void {
    const pod = asPod(object);
    const node = pod.spec.nodeName;
    if (node === undefined || node === '') return;
    if (type === 'DELETED') {
      this.#worker.forget(keyOf(pod));
      return;
    }
    if (previous !== undefined && asPod(previous).spec === pod.spec) return;
    const on = this.#context.kube.read(resources.nodes, { name: node });
    if (on !== undefined && noExecute(asNode(on).spec?.taints).length > 0) {
      this.#worker.mark(keyOf(pod));
    }
  }

  #markPods(node: string): void {
    for (const pod of this.#context.kube.podsOnNode(node)) this.#worker.mark(keyOf(pod));
  }

  #spare(node: string): void {
    for (const pod of this.#context.kube.podsOnNode(node)) this.#worker.forget(keyOf(pod));
  }

  #reconcile(key: string): Outcome {
    const object = this.#context.kube.read(resources.pods, nameOfKey(key));
    if (object === undefined) return undefined;
    const pod = asPod(object);
    const node = this.#context.kube.read(resources.nodes, { name: pod.spec.nodeName ?? '' });
    if (node === undefined || isTerminating(pod)) return undefined;
    const left = this.#left(pod, noExecute(asNode(node).spec?.taints));
    if (left === undefined) return undefined;
    if (left > 0) return { againInMicros: left };
    return this.#evict(pod) ? undefined : 'retry';
  }

  /** Time until the pod must be deleted; undefined when it may stay. */
  #left(pod: PodView, taints: readonly TaintView[]): Micros | undefined {
    let left: Micros | undefined;
    const now = this.#context.kernel.now();
    for (const taint of taints) {
      const matching = (pod.spec.tolerations ?? []).filter((one) => tolerates(one, taint));
      if (matching.length === 0) return 0;
      const limits = matching.flatMap((one) => one.tolerationSeconds ?? []);
      if (limits.length === 0) continue;
      const since = microsOf(taint.timeAdded) ?? now;
      const until = since + Math.max(0, Math.min(...limits)) * microsPerSecond - now;
      left = Math.min(left ?? until, until);
    }
    return left;
  }

  #evict(pod: PodView): boolean {
    const name = nameOfKey(keyOf(pod));
    this.#events.record({
      about: pod,
      reason: 'TaintManagerEviction',
      message: `Marking for deletion Pod ${keyOf(pod)}`,
    });
    const now = kubeTime(this.#context.kernel.now());
    const conditions = withCondition(
      pod.status?.conditions ?? [],
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByTaintManager',
        message: 'Taint manager: deleting due to NoExecute taint',
      },
      now,
    );
    this.#client.patch(resources.pods, name, {
      type: 'merge',
      body: { status: { conditions } },
      subresource: 'status',
    });
    const gone = this.#client.delete(resources.pods, name, { uid: pod.metadata.uid });
    return gone.kind === 'ok' || gone.status.code === 404;
  }
}
