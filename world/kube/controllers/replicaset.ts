// ReplicaSets: creates missing pods, deletes surplus ones in upstream's order, maintains the
// counts, adopts and releases pods by label. Upstream: pkg/controller/replicaset (Kubernetes 1.32).
// Never touches a pod that another controller owns.
import type { JsonObject } from '../../../src/api/json.ts';
import type { StoreChange, WorldClient } from '../../contracts.ts';
import { microsPerSecond } from '../../kernel/index.ts';
import {
  asPod,
  asReplicaSet,
  conditionOf,
  controllerOf,
  countsTheSame,
  type EventRecorder,
  isActive,
  isNamespaceEnding,
  isReady,
  isTerminating,
  keyOf,
  lostController,
  microsOf,
  nameOfKey,
  type Outcome,
  type PodView,
  type ReplicaSetView,
  resources,
  type Worker,
  withStatus,
} from '../actors/index.ts';
import { Claims } from './claims.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';
import { PodTally } from './pod-tally.ts';
import { podFromTemplate } from './pod-template.ts';
import { deletionOrder } from './ranking.ts';

/** Upstream's burst: maximum number of creates or deletes per sync. */
const burstReplicas = 500;

export class ReplicaSetController implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #worker: Worker;
  readonly #tally: PodTally;
  readonly #claims: Claims;

  constructor(context: ControllerContext) {
    this.#context = context;
    const { client, events } = controllerClient(context, 'replicaset-controller');
    this.#client = client;
    this.#events = events;
    this.#tally = new PodTally(context.kube);
    this.#worker = newWorker(context, 'replicaset', (key) => this.#reconcile(key));
    this.#claims = new Claims({
      kube: context.kube,
      client,
      parents: resources.replicasets,
      kind: 'ReplicaSet',
      children: resources.pods,
      mark: (key) => this.#worker.mark(key),
      ignores: (pod) => !isActive(asPod(pod)),
    });
    context.kube.onChange(resources.replicasets, (change) => {
      if (change.type !== 'DELETED') this.#worker.mark(keyOf(change.object));
    });
    context.kube.onChange(resources.pods, (change) => this.#podChanged(change));
  }

  resume(): void {
    this.#claims.resume();
    for (const set of this.#context.kube.readAll(resources.replicasets)) {
      this.#worker.mark(keyOf(set));
    }
  }

  #podChanged(change: StoreChange): void {
    const pod = asPod(change.object);
    const before = change.previous && asPod(change.previous);
    if (before && countsTheSame(before, pod) && change.type === 'MODIFIED') return;
    for (const owner of [lostController(before, pod), controllerOf(pod)]) {
      if (owner?.kind !== 'ReplicaSet') continue;
      this.#worker.mark(`${pod.metadata.namespace ?? ''}/${owner.name}`);
    }
  }

  #reconcile(key: string): Outcome {
    const object = this.#context.kube.read(resources.replicasets, nameOfKey(key));
    if (object === undefined) {
      this.#worker.forget(key);
      return undefined;
    }
    const set = asReplicaSet(object);
    if (!this.#claims.settle(set)) return 'retry';
    let failed = false;
    if (!isTerminating(set)) {
      const missing = (set.spec.replicas ?? 1) - this.#tally.of(set.metadata.uid, {}).active;
      if (missing > 0) failed = !this.#create(set, Math.min(missing, burstReplicas));
      if (missing < 0) failed = !this.#remove(set, Math.min(-missing, burstReplicas));
    }
    const wait = this.#writeStatus(set);
    if (failed || wait === 'retry') return 'retry';
    return wait;
  }

  #activePods(uid: string): PodView[] {
    const pods: PodView[] = [];
    for (const object of this.#context.kube.ownedBy(uid)) {
      if (object.kind !== 'Pod') continue;
      const pod = asPod(object);
      if (isActive(pod) && controllerOf(pod)?.uid === uid) pods.push(pod);
    }
    return pods;
  }

  /** False when the API server refused one; the retry creates the rest. */
  #create(set: ReplicaSetView, count: number): boolean {
    const body = podFromTemplate(set, set.spec.template);
    for (let i = 0; i < count; i++) {
      const made = this.#client.create(resources.pods, set.metadata.namespace, body);
      if (made.kind === 'error') {
        // A terminating namespace refuses new pods; upstream gives up without an event.
        if (!isNamespaceEnding(made.status)) {
          this.#events.record({
            about: set,
            type: 'Warning',
            reason: 'FailedCreate',
            message: `Error creating: ${made.status.message}`,
          });
        }
        return false;
      }
      this.#events.record({
        about: set,
        reason: 'SuccessfulCreate',
        message: `Created pod: ${made.object.metadata.name}`,
      });
    }
    return true;
  }

  #remove(set: ReplicaSetView, count: number): boolean {
    const pods = this.#activePods(set.metadata.uid);
    const doomed = deletionOrder(pods, (pod) => this.#neighbours(set, pod)).slice(0, count);
    for (const pod of doomed) {
      const gone = this.#client.delete(resources.pods, nameOfKey(keyOf(pod)), {
        uid: pod.metadata.uid,
        propagationPolicy: 'Background',
      });
      if (gone.kind === 'error' && gone.status.code !== 404) return false;
      this.#events.record({
        about: set,
        reason: 'SuccessfulDelete',
        message: `Deleted pod: ${pod.metadata.name}`,
      });
    }
    return true;
  }

  /** Number of active pods of this set's siblings (same Deployment) on the pod's node. */
  #neighbours(set: ReplicaSetView, pod: PodView): number {
    const node = pod.spec.nodeName;
    if (node === undefined) return 0;
    const related = new Set<string>([set.metadata.uid]);
    const parent = controllerOf(set);
    if (parent !== undefined) {
      for (const one of this.#context.kube.ownedBy(parent.uid)) related.add(one.metadata.uid);
    }
    let count = 0;
    for (const other of this.#context.kube.podsOnNode(node)) {
      const view = asPod(other);
      if (isActive(view) && related.has(controllerOf(view)?.uid ?? '')) count++;
    }
    return count;
  }

  #writeStatus(before: ReplicaSetView): Outcome {
    const object = this.#context.kube.read(resources.replicasets, nameOfKey(keyOf(before)));
    if (object === undefined) return undefined;
    const set = asReplicaSet(object);
    const { counts, nextMicros } = this.#count(set);
    const old = set.status;
    const same =
      old !== undefined &&
      (old.replicas ?? 0) === counts.replicas &&
      (old.fullyLabeledReplicas ?? 0) === counts.fullyLabeledReplicas &&
      (old.readyReplicas ?? 0) === counts.readyReplicas &&
      (old.availableReplicas ?? 0) === counts.availableReplicas &&
      old.observedGeneration === set.metadata.generation;
    if (!same) {
      const status: JsonObject = { ...counts, observedGeneration: set.metadata.generation ?? 1 };
      const written = this.#client.update(
        resources.replicasets,
        withStatus(object, dropZeros(status)),
        'status',
      );
      if (written.kind === 'error' && written.status.code !== 404) return 'retry';
    }
    return nextMicros === undefined ? undefined : { againInMicros: nextMicros };
  }

  #count(set: ReplicaSetView): {
    readonly counts: {
      readonly replicas: number;
      readonly fullyLabeledReplicas: number;
      readonly readyReplicas: number;
      readonly availableReplicas: number;
    };
    /** When the next Ready pod becomes available (minReadySeconds). */
    readonly nextMicros: number | undefined;
  } {
    const { uid } = set.metadata;
    const wanted = set.spec.template.metadata?.labels ?? {};
    const { active, ready, labeled } = this.#tally.of(uid, wanted);
    const minReady = (set.spec.minReadySeconds ?? 0) * microsPerSecond;
    let available = ready;
    let nextMicros: number | undefined;
    if (minReady > 0) {
      for (const pod of this.#activePods(uid).filter(isReady)) {
        const since = microsOf(conditionOf(pod.status?.conditions, 'Ready')?.lastTransitionTime);
        const left = (since ?? 0) + minReady - this.#context.kernel.now();
        if (left <= 0) continue;
        available -= 1;
        nextMicros = Math.min(nextMicros ?? left, left);
      }
    }
    return {
      counts: {
        replicas: active,
        fullyLabeledReplicas: labeled,
        readyReplicas: ready,
        availableReplicas: available,
      },
      nextMicros,
    };
  }
}

/** Upstream omits zero counts except `replicas`. */
const dropZeros = (status: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(status).filter(([field, value]) => value !== 0 || field === 'replicas'),
  );
