// Pods whose node is gone: deleted by force after a quarantine, since no kubelet will confirm them.
// Upstream: pkg/controller/podgc (Kubernetes 1.32). Finished pods are kept (its threshold is 12,500).
import type { StoreChange, WorldClient } from '../../contracts.ts';
import { type Micros, microsPerSecond } from '../../kernel/index.ts';
import {
  asPod,
  isFinished,
  keyOf,
  kubeTime,
  nameOfKey,
  type Outcome,
  type PodView,
  resources,
  type Worker,
  withCondition,
} from '../actors/index.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';

/** Upstream's quarantine, found by a round every 20 s: 40 to 60 s in all. */
const quarantineSeconds = 40;
const roundSeconds = 20;

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
    });
    context.kube.onChange(resources.pods, (change) => this.#podChanged(change));
  }

  resume(): void {
    for (const object of this.#context.kube.readAll(resources.pods)) this.#look(asPod(object));
  }

  #podChanged({ type, object, previous }: StoreChange): void {
    if (type === 'DELETED') return;
    const pod = asPod(object);
    if (previous !== undefined && asPod(previous).spec === pod.spec) return;
    this.#look(pod);
  }

  #look(pod: PodView): void {
    const name = pod.spec.nodeName;
    if (name === undefined || name === '') return;
    if (this.#context.kube.read(resources.nodes, { name }) === undefined) this.#expect(name);
  }

  #expect(node: string): void {
    this.#worker.markAfter(node, this.#delay());
  }

  #delay(): Micros {
    const random = this.#context.kernel.random('kube.pod-gc');
    return quarantineSeconds * microsPerSecond + random.below(roundSeconds * microsPerSecond);
  }

  #reconcile(node: string): Outcome {
    if (this.#context.kube.read(resources.nodes, { name: node }) !== undefined) return undefined;
    let ok = true;
    for (const object of [...this.#context.kube.podsOnNode(node)]) {
      ok = this.#remove(asPod(object)) && ok;
    }
    return ok ? undefined : 'retry';
  }

  #remove(pod: PodView): boolean {
    const name = nameOfKey(keyOf(pod));
    const conditions = withCondition(
      pod.status?.conditions ?? [],
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByPodGC',
        message: 'PodGC: node no longer exists',
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
    const gone = this.#client.delete(resources.pods, name, {
      uid: pod.metadata.uid,
      gracePeriodSeconds: 0,
    });
    return gone.kind === 'ok' || gone.status.code === 404;
  }
}
