// StatefulSets: named pods, created in order, removed in reverse, updated from the highest ordinal
// down; status and revisions. Upstream: pkg/controller/statefulset (Kubernetes 1.32), without the
// alpha maxUnavailable. Never deletes a claim itself: see claim-retention.ts.
import type { JsonObject } from '../../../src/api/json.ts';
import type { StoreChange, WorldClient } from '../../contracts.ts';
import { microsPerSecond } from '../../kernel/index.ts';
import {
  asPod,
  asStatefulSet,
  conditionOf,
  controllerOf,
  countsTheSame,
  type EventRecorder,
  isFinished,
  isNamespaceEnding,
  isTerminating,
  keyOf,
  lostController,
  microsOf,
  nameOfKey,
  type Outcome,
  type PodTemplate,
  type PodView,
  resources,
  type StatefulSetStatus,
  type StatefulSetView,
  type Worker,
  withStatus,
} from '../actors/index.ts';
import { keepClaimOwners } from './claim-retention.ts';
import { Claims } from './claims.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';
import { Revisions, revisionName, templateOf } from './revisions.ts';
import {
  isHealthy,
  isOnDelete,
  isOrdered,
  ordinalOf,
  partitionOf,
  podRevision,
  runsReady,
  startOrdinal,
  statefulClaims,
  statefulPod,
  statefulPodName,
  wantedOrdinals,
} from './stateful-pod.ts';

const hashLabel = 'controller.kubernetes.io/hash';

/** The current and the update revision. */
interface Versions {
  readonly current: { readonly revision: string; readonly template: PodTemplate };
  readonly update: { readonly revision: string; readonly template: PodTemplate };
}

/** State of one sync of a set. */
interface Pass {
  readonly set: StatefulSetView;
  readonly versions: Versions;
  /** Pods by ordinal, as of the start of the sync. */
  readonly pods: ReadonlyMap<number, PodView>;
  readonly ordered: boolean;
}

type Step = 'ok' | 'wait' | 'failed';

export class StatefulSetController implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #worker: Worker;
  readonly #revisions: Revisions;
  readonly #claims: Claims;

  constructor(context: ControllerContext) {
    this.#context = context;
    const { client, events } = controllerClient(context, 'statefulset-controller');
    this.#client = client;
    this.#events = events;
    this.#revisions = new Revisions({ kube: context.kube, client, hashLabel });
    this.#worker = newWorker(context, 'statefulset', (key) => this.#reconcile(key));
    this.#claims = new Claims({
      kube: context.kube,
      client,
      parents: resources.statefulsets,
      kind: 'StatefulSet',
      children: resources.pods,
      mark: (key) => this.#worker.mark(key),
      isMember: (set, pod) => ordinalOf(asStatefulSet(set), asPod(pod)) >= 0,
    });
    context.kube.onChange(resources.statefulsets, (change) => {
      if (change.type !== 'DELETED') this.#worker.mark(keyOf(change.object));
    });
    context.kube.onChange(resources.pods, (change) => this.#podChanged(change));
  }

  resume(): void {
    this.#claims.resume();
    for (const set of this.#context.kube.readAll(resources.statefulsets)) {
      this.#worker.mark(keyOf(set));
    }
  }

  #podChanged(change: StoreChange): void {
    const pod = asPod(change.object);
    const before = change.previous && asPod(change.previous);
    if (before && countsTheSame(before, pod) && change.type === 'MODIFIED') return;
    for (const owner of [lostController(before, pod), controllerOf(pod)]) {
      if (owner?.kind !== 'StatefulSet') continue;
      this.#worker.mark(`${pod.metadata.namespace ?? ''}/${owner.name}`);
    }
  }

  #reconcile(key: string): Outcome {
    const object = this.#context.kube.read(resources.statefulsets, nameOfKey(key));
    if (object === undefined) {
      this.#worker.forget(key);
      return undefined;
    }
    const set = asStatefulSet(object);
    if (isTerminating(set)) return undefined;
    const versions = this.#versions(set);
    if (versions === undefined || !this.#claims.settle(set)) return 'retry';
    const pass: Pass = { set, versions, pods: this.#podsOf(set), ordered: isOrdered(set) };
    const kept = keepClaimOwners(set, { kube: this.#context.kube, client: this.#client });
    const step = this.#step(pass);
    const wait = this.#writeStatus(key, versions);
    if (step === 'failed' || !kept || wait === 'retry') return 'retry';
    return wait;
  }

  #versions(set: StatefulSetView): Versions | undefined {
    const name = revisionName(set);
    const settled =
      set.status?.updateRevision === name &&
      set.status.observedGeneration === set.metadata.generation;
    if (!settled && this.#revisions.ensure(set) === undefined) return undefined;
    const update = { revision: name, template: set.spec.template };
    const current = set.status?.currentRevision;
    if (current === undefined || current === '' || current === name) {
      return { current: update, update };
    }
    const old = this.#revisions.of(set).find((one) => one.metadata.name === current);
    const template = old && templateOf(old);
    if (template === undefined) return { current: update, update };
    return { current: { revision: current, template }, update };
  }

  #podsOf(set: StatefulSetView): Map<number, PodView> {
    const pods = new Map<number, PodView>();
    for (const object of this.#context.kube.ownedBy(set.metadata.uid)) {
      if (object.kind !== 'Pod') continue;
      const pod = asPod(object);
      const ordinal = ordinalOf(set, pod);
      if (ordinal >= 0 && controllerOf(pod)?.uid === set.metadata.uid) pods.set(ordinal, pod);
    }
    return pods;
  }

  /** Creates missing pods, then removes surplus ones, then updates, in upstream's order. */
  #step(pass: Pass): Step {
    const wanted = wantedOrdinals(pass.set);
    for (const ordinal of wanted) {
      const step = this.#settle(pass, ordinal);
      if (step === 'failed') return step;
      if (step === 'wait' && pass.ordered) return step;
    }
    const condemned = [...pass.pods.keys()]
      .filter((ordinal) => !wanted.includes(ordinal))
      .sort((a, b) => b - a);
    const first = this.#firstUnhealthy(pass, wanted, condemned);
    for (const ordinal of condemned) {
      const step = this.#remove(pass, ordinal, first);
      if (step === 'failed') return step;
      if (step === 'wait' && pass.ordered) return step;
    }
    return this.#update(pass, wanted);
  }

  #settle(pass: Pass, ordinal: number): Step {
    const { set } = pass;
    const pod = pass.pods.get(ordinal);
    if (pod === undefined) return this.#create(pass, ordinal) ? 'wait' : 'failed';
    if (isFinished(pod)) {
      if (isTerminating(pod)) return 'wait';
      const failed = pod.status?.phase === 'Failed';
      this.#events.record({
        about: set,
        type: failed ? 'Warning' : 'Normal',
        reason: failed ? 'RecreatingFailedPod' : 'RecreatingTerminatedPod',
        message:
          `StatefulSet ${keyOf(set)} is recreating ` +
          `${failed ? 'failed' : 'terminated'} Pod ${pod.metadata.name}`,
      });
      return this.#delete(set, pod) ? 'wait' : 'failed';
    }
    if (isTerminating(pod) || !runsReady(pod)) return 'wait';
    return this.#availableIn(set, pod) > 0 ? 'wait' : 'ok';
  }

  /** The unhealthy pod with the lowest ordinal may be removed despite its state. */
  #firstUnhealthy(
    { pods }: Pass,
    wanted: readonly number[],
    condemned: readonly number[],
  ): number | undefined {
    const ill = (ordinal: number): boolean => {
      const pod = pods.get(ordinal);
      return pod !== undefined && !isHealthy(pod);
    };
    return wanted.find(ill) ?? [...condemned].reverse().find(ill);
  }

  #remove(pass: Pass, ordinal: number, firstUnhealthy: number | undefined): Step {
    const pod = pass.pods.get(ordinal);
    if (pod === undefined) return 'ok';
    if (isTerminating(pod)) return 'wait';
    if (pass.ordered && !runsReady(pod) && ordinal !== firstUnhealthy) return 'wait';
    return this.#delete(pass.set, pod) ? 'wait' : 'failed';
  }

  /**
   * Updates one outdated pod at a time, from the highest ordinal, and stops at an unhealthy one.
   */
  #update(pass: Pass, wanted: readonly number[]): Step {
    const { set, versions } = pass;
    if (isOnDelete(set)) return 'ok';
    const least = startOrdinal(set) + partitionOf(set);
    for (const ordinal of [...wanted].reverse()) {
      if (ordinal < least) break;
      const pod = pass.pods.get(ordinal);
      if (pod === undefined) return 'wait';
      if (podRevision(pod) !== versions.update.revision && !isTerminating(pod)) {
        return this.#delete(set, pod) ? 'wait' : 'failed';
      }
      if (!isHealthy(pod) || this.#availableIn(set, pod) > 0) return 'wait';
    }
    return 'ok';
  }

  #create({ set, versions }: Pass, ordinal: number): boolean {
    const namespace = set.metadata.namespace ?? '';
    for (const claim of statefulClaims(set, ordinal)) {
      const { name } = claim.metadata as { readonly name: string };
      if (this.#context.kube.read(resources.persistentvolumeclaims, { namespace, name })) continue;
      const made = this.#client.create(resources.persistentvolumeclaims, namespace, claim);
      this.#noteClaim(set, ordinal, name, made.kind === 'ok' ? undefined : made.status.message);
      if (made.kind === 'error') return isNamespaceEnding(made.status);
    }
    const old = !isOnDelete(set) && ordinal < startOrdinal(set) + partitionOf(set);
    const version = old ? versions.current : versions.update;
    const made = this.#client.create(resources.pods, namespace, statefulPod(set, ordinal, version));
    // A terminating namespace refuses new pods.
    if (made.kind === 'error' && isNamespaceEnding(made.status)) return true;
    const what = `create Pod ${statefulPodName(set, ordinal)} in StatefulSet ${set.metadata.name}`;
    this.#note(set, 'Create', what, made.kind === 'ok' ? undefined : made.status.message);
    return made.kind === 'ok';
  }

  #delete(set: StatefulSetView, pod: PodView): boolean {
    const { name, uid } = pod.metadata;
    const gone = this.#client.delete(resources.pods, nameOfKey(keyOf(pod)), { uid });
    if (gone.kind === 'error' && gone.status.code === 404) return true;
    const what = `delete Pod ${name} in StatefulSet ${set.metadata.name}`;
    this.#note(set, 'Delete', what, gone.kind === 'ok' ? undefined : gone.status.message);
    return gone.kind === 'ok';
  }

  #noteClaim(
    set: StatefulSetView,
    ordinal: number,
    claim: string,
    error: string | undefined,
  ): void {
    const what =
      `create Claim ${claim} Pod ${statefulPodName(set, ordinal)} ` +
      `in StatefulSet ${set.metadata.name}`;
    this.#events.record({
      about: set,
      type: error === undefined ? 'Normal' : 'Warning',
      reason: error === undefined ? 'SuccessfulCreate' : 'FailedCreate',
      message: error === undefined ? `${what} success` : `${what} failed error: ${error}`,
    });
  }

  #note(
    set: StatefulSetView,
    verb: 'Create' | 'Delete',
    what: string,
    error: string | undefined,
  ): void {
    this.#events.record({
      about: set,
      type: error === undefined ? 'Normal' : 'Warning',
      reason: `${error === undefined ? 'Successful' : 'Failed'}${verb}`,
      message: error === undefined ? `${what} successful` : `${what} failed error: ${error}`,
    });
  }

  #availableIn(set: StatefulSetView, pod: PodView): number {
    const wait = (set.spec.minReadySeconds ?? 0) * microsPerSecond;
    if (wait === 0) return 0;
    const since = microsOf(conditionOf(pod.status?.conditions, 'Ready')?.lastTransitionTime) ?? 0;
    return Math.max(0, since + wait - this.#context.kernel.now());
  }

  #writeStatus(key: string, versions: Versions): Outcome {
    const object = this.#context.kube.read(resources.statefulsets, nameOfKey(key));
    if (object === undefined) return undefined;
    const set = asStatefulSet(object);
    const pods = [...this.#podsOf(set).values()];
    const { status, nextMicros } = this.#count(set, pods, versions);
    const old = set.status ?? {};
    const fields = Object.keys(status) as (keyof StatefulSetStatus)[];
    if (fields.some((field) => (old[field] ?? 0) !== (status[field] ?? 0))) {
      const body = withStatus(object, withoutZeros(status));
      const written = this.#client.update(resources.statefulsets, body, 'status');
      if (written.kind === 'error' && written.status.code !== 404) return 'retry';
      const inUse = new Set(pods.map((pod) => podRevision(pod) ?? ''));
      inUse.add(versions.update.revision).add(status.currentRevision ?? '');
      this.#revisions.truncate(set, inUse);
    }
    return nextMicros === undefined ? undefined : { againInMicros: nextMicros };
  }

  #count(
    set: StatefulSetView,
    pods: readonly PodView[],
    { current, update }: Versions,
  ): { readonly status: StatefulSetStatus; readonly nextMicros: number | undefined } {
    const living = pods.filter((pod) => !isTerminating(pod));
    const of = (revision: string): number =>
      living.filter((pod) => podRevision(pod) === revision).length;
    const ready = pods.filter(runsReady);
    const waits = ready.map((pod) => this.#availableIn(set, pod)).filter((left) => left > 0);
    const updated = of(update.revision);
    const done = !isOnDelete(set) && updated === pods.length && ready.length === pods.length;
    const currentRevision = done ? update.revision : current.revision;
    return {
      status: {
        observedGeneration: set.metadata.generation ?? 1,
        replicas: pods.length,
        readyReplicas: ready.length,
        availableReplicas: ready.length - waits.length,
        currentReplicas: done ? updated : of(current.revision),
        updatedReplicas: updated,
        currentRevision,
        updateRevision: update.revision,
        collisionCount: 0,
      },
      nextMicros: waits.length === 0 ? undefined : Math.min(...waits),
    };
  }
}

/** Upstream omits zero counts except these. */
const kept: ReadonlySet<string> = new Set(['replicas', 'availableReplicas', 'collisionCount']);

const withoutZeros = (status: StatefulSetStatus): JsonObject =>
  Object.fromEntries(
    Object.entries(status).filter(([field, value]) => value !== 0 || kept.has(field)),
  );
