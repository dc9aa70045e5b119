// Force-deletes pods that no kubelet will confirm: after a quarantine when their node is deleted,
// at the next round when it is silent and tainted out-of-service. Upstream: pkg/controller/podgc
// (Kubernetes 1.32). Keeps finished pods (upstream's threshold is 12,500).
import type { StoreChange, WorldClient } from '../../contracts.ts';
import { type Micros, microsPerSecond } from '../../kernel/index.ts';
import {
  asNode,
  asPod,
  conditionOf,
  isFinished,
  isTerminating,
  keyOf,
  kubeTime,
  type NodeView,
  nameOfKey,
  type Outcome,
  type PodView,
  resources,
  type Worker,
  withCondition,
} from '../actors/index.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';

/** Upstream's quarantine, checked every 20 s: 40 to 60 s in all. */
const quarantineSeconds = 40;
const roundSeconds = 20;

const gone = 'PodGC: node no longer exists';
const outOfService = 'PodGC: node is out-of-service';

/** An operator tainted this silent node out-of-service: it will not return with its pods. */
const isGivenUp = (node: NodeView): boolean =>
  (node.spec?.taints ?? []).some(({ key }) => key === 'node.kubernetes.io/out-of-service') &&
  conditionOf(node.status?.conditions, 'Ready')?.status !== 'True';

export class PodGarbageCollector implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  /** Keys are names of nodes. */
  readonly #worker: Worker;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#client = controllerClient(context, 'pod-garbage-collector').client;
    this.#worker = newWorker(context, 'pod-gc', (key) => this.#reconcile(key));
    context.kube.onChange(resources.nodes, ({ type, object }) => {
      if (type === 'DELETED') this.#expect(object.metadata.name);
      else if (isGivenUp(asNode(object))) this.#expectRound(object.metadata.name);
    });
    context.kube.onChange(resources.pods, (change) => this.#podChanged(change));
  }

  resume(): void {
    for (const object of this.#context.kube.readAll(resources.pods)) this.#look(asPod(object));
  }

  #podChanged({ type, object, previous }: StoreChange): void {
    if (type === 'DELETED') return;
    const pod = asPod(object);
    const ends = isTerminating(pod) && !(previous && isTerminating(asPod(previous)));
    if (previous !== undefined && asPod(previous).spec === pod.spec && !ends) return;
    this.#look(pod);
  }

  #look(pod: PodView): void {
    const name = pod.spec.nodeName;
    if (name === undefined || name === '') return;
    const node = this.#context.kube.read(resources.nodes, { name });
    if (node === undefined) this.#expect(name);
    else if (isTerminating(pod) && isGivenUp(asNode(node))) this.#expectRound(name);
  }

  #expectRound(node: string): void {
    const random = this.#context.kernel.random('kube.pod-gc');
    this.#worker.markAfter(node, random.below(roundSeconds * microsPerSecond));
  }

  #expect(node: string): void {
    this.#worker.markAfter(node, this.#delay());
  }

  #delay(): Micros {
    const random = this.#context.kernel.random('kube.pod-gc');
    return quarantineSeconds * microsPerSecond + random.below(roundSeconds * microsPerSecond);
  }

  #reconcile(node: string): Outcome {
    const there = this.#context.kube.read(resources.nodes, { name: node });
    if (there !== undefined && !isGivenUp(asNode(there))) return undefined;
    let ok = true;
    for (const object of [...this.#context.kube.podsOnNode(node)]) {
      if (there !== undefined && !isTerminating(asPod(object))) continue;
      ok = this.#remove(asPod(object), there === undefined ? gone : outOfService) && ok;
    }
    return ok ? undefined : 'retry';
  }

  #remove(pod: PodView, message: string): boolean {
    const name = nameOfKey(keyOf(pod));
    const conditions = withCondition(
      pod.status?.conditions ?? [],
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByPodGC',
        message,
      },
      kubeTime(this.#context.kernel.now()),
    );
    if (!isFinished(pod)) {
      this.#client.patch(resources.pods, name, {
        type: 'merge',
        body: { status: { phase: 'Failed', conditions } },
        subresource: 'status',
      });
    }
    const deleted = this.#client.delete(resources.pods, name, {
      uid: pod.metadata.uid,
      gracePeriodSeconds: 0,
    });
    return deleted.kind === 'ok' || deleted.status.code === 404;
  }
}
