// The disruption controller: maintains every budget's status with counters that follow each pod's
// change instead of listing pods. Upstream: pkg/controller/disruption (Kubernetes 1.32). It never
// evicts; the API server's eviction decrements disruptionsAllowed in this status.
import type { JsonObject } from '../../../src/api/json.ts';
import { selectorMatches } from '../../../src/api/selectors.ts';
import type { StoreChange, WorldClient } from '../../contracts.ts';
import {
  asBudget,
  asDeployment,
  asPod,
  asReplicaSet,
  type BudgetView,
  conditionOf,
  controllerOf,
  type EventRecorder,
  isReady,
  isTerminating,
  keyOf,
  kubeTime,
  nameOfKey,
  type Outcome,
  type Owner,
  type PodView,
  resources,
  SelectorIndex,
  type Worker,
  withCondition,
  withStatus,
} from '../actors/index.ts';
import {
  type BudgetFacts,
  budgetNumbers,
  budgetStatus,
  keptDisruptions,
  sameStatus,
} from './budget-status.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';

interface Member {
  readonly healthy: boolean;
  readonly owner: Owner | undefined;
}

/** The pods that one budget selects, updated change by change. */
interface Scope {
  readonly key: string;
  readonly members: Map<string, Member>;
  /** Number of members per controller, by uid. */
  readonly owners: Map<string, { readonly owner: Owner; count: number }>;
  healthy: number;
}

export class DisruptionController implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #worker: Worker;
  readonly #scopes = new Map<string, Scope>();
  readonly #index = new SelectorIndex();
  /** uid of a controller to keys of the budgets that select its pods. */
  readonly #byOwner = new Map<string, Set<string>>();

  constructor(context: ControllerContext) {
    this.#context = context;
    const { client, events } = controllerClient(context, 'disruption-controller');
    this.#client = client;
    this.#events = events;
    this.#worker = newWorker(context, 'disruption', (key) => this.#reconcile(key));
    context.kube.onChange(resources.poddisruptionbudgets, (change) => this.#budgetChanged(change));
    context.kube.onChange(resources.pods, (change) => this.#podChanged(change));
    context.kube.onChange(resources.deployments, (change) => this.#scaleChanged(change));
    context.kube.onChange(resources.replicasets, (change) => this.#scaleChanged(change));
  }

  resume(): void {
    for (const object of this.#context.kube.readAll(resources.poddisruptionbudgets)) {
      this.#open(asBudget(object));
    }
  }

  #budgetChanged({ type, object, previous }: StoreChange): void {
    const budget = asBudget(object);
    const key = keyOf(budget);
    if (type === 'DELETED') {
      this.#close(key);
      this.#worker.forget(key);
      return;
    }
    const respecified =
      previous === undefined || asBudget(previous).spec.selector !== budget.spec.selector;
    if (respecified || !this.#scopes.has(key)) this.#open(budget);
    this.#worker.mark(key);
  }

  /** Counts the namespace's pods once; afterwards follows their changes. */
  #open(budget: BudgetView): void {
    const key = keyOf(budget);
    const namespace = budget.metadata.namespace ?? '';
    this.#close(key);
    const scope: Scope = { key, members: new Map(), owners: new Map(), healthy: 0 };
    this.#scopes.set(key, scope);
    if (budget.spec.selector !== undefined) this.#index.set(key, namespace, budget.spec.selector);
    for (const pod of this.#context.kube.readAll(resources.pods, namespace)) {
      this.#admit(scope, budget, asPod(pod));
    }
    this.#worker.mark(key);
  }

  #close(key: string): void {
    for (const uid of this.#scopes.get(key)?.owners.keys() ?? []) this.#unlink(uid, key);
    this.#scopes.delete(key);
    this.#index.remove(key);
  }

  #unlink(uid: string, key: string): void {
    const keys = this.#byOwner.get(uid);
    keys?.delete(key);
    if (keys?.size === 0) this.#byOwner.delete(uid);
  }

  #podChanged({ type, object, previous }: StoreChange): void {
    const pod = asPod(object);
    const namespace = pod.metadata.namespace ?? '';
    const { labels } = pod.metadata;
    const before = previous?.metadata.labels;
    const near = this.#index.candidates(namespace, labels, before === labels ? undefined : before);
    for (const key of near) {
      const scope = this.#scopes.get(key);
      const budget = this.#read(key);
      if (scope === undefined || budget === undefined) continue;
      const changed = type === 'DELETED' ? this.#drop(scope, pod) : this.#admit(scope, budget, pod);
      if (changed) this.#worker.mark(key);
    }
  }

  /** A controller's new size affects the budgets that select its pods. */
  #scaleChanged({ type, object, previous }: StoreChange): void {
    const before = previous === undefined ? undefined : asReplicaSet(previous).spec.replicas;
    if (type === 'MODIFIED' && before === asReplicaSet(object).spec.replicas) return;
    const { uid } = object.metadata;
    for (const key of this.#byOwner.get(uid) ?? []) this.#worker.mark(key);
    if (object.kind !== 'Deployment') return;
    // A Deployment's size is found through its ReplicaSets.
    for (const set of this.#context.kube.ownedBy(uid)) {
      for (const key of this.#byOwner.get(set.metadata.uid) ?? []) this.#worker.mark(key);
    }
  }

  #read(key: string): BudgetView | undefined {
    const object = this.#context.kube.read(resources.poddisruptionbudgets, nameOfKey(key));
    return object === undefined ? undefined : asBudget(object);
  }

  /** Updates the counters with the pod's current state; true when they changed. */
  #admit(scope: Scope, budget: BudgetView, pod: PodView): boolean {
    if (!selectorMatches(budget.spec.selector, pod.metadata.labels)) return this.#drop(scope, pod);
    const healthy = isReady(pod) && !isTerminating(pod);
    const old = scope.members.get(pod.metadata.name);
    const owner = controllerOf(pod);
    if (old?.healthy === healthy && old.owner?.uid === owner?.uid) {
      // A terminating pod's entry must be removed from disruptedPods.
      return budget.status?.disruptedPods?.[pod.metadata.name] !== undefined;
    }
    this.#drop(scope, pod);
    scope.members.set(pod.metadata.name, { healthy, owner });
    if (healthy) scope.healthy++;
    if (owner !== undefined) {
      const known = scope.owners.get(owner.uid);
      if (known === undefined) {
        scope.owners.set(owner.uid, { owner, count: 1 });
        const keys = this.#byOwner.get(owner.uid) ?? new Set<string>();
        this.#byOwner.set(owner.uid, keys.add(scope.key));
      } else known.count++;
    }
    return true;
  }

  #drop(scope: Scope, pod: PodView): boolean {
    const old = scope.members.get(pod.metadata.name);
    if (old === undefined) return false;
    scope.members.delete(pod.metadata.name);
    if (old.healthy) scope.healthy--;
    const known = old.owner && scope.owners.get(old.owner.uid);
    if (known && --known.count === 0) {
      scope.owners.delete(known.owner.uid);
      this.#unlink(known.owner.uid, scope.key);
    }
    return true;
  }

  #reconcile(key: string): Outcome {
    const object = this.#context.kube.read(resources.poddisruptionbudgets, nameOfKey(key));
    const scope = this.#scopes.get(key);
    if (object === undefined || scope === undefined) return undefined;
    const budget = asBudget(object);
    const now = this.#context.kernel.now();
    const namespace = budget.metadata.namespace ?? '';
    const facts = this.#facts(scope, budget);
    if (typeof facts === 'string') return this.#failed(object, budget, facts);
    const { kept, nextExpiry } = keptDisruptions(budget.status?.disruptedPods, now, (name) => {
      const pod = this.#context.kube.read(resources.pods, { namespace, name });
      return pod !== undefined && !isTerminating(asPod(pod));
    });
    // A pod whose eviction was admitted counts as unhealthy although it may still be Ready.
    const leaving = Object.keys(kept).filter((name) => scope.members.get(name)?.healthy === true);
    const next = budgetStatus(
      budget,
      { ...budgetNumbers(budget, facts), healthy: facts.healthy - leaving.length },
      { disrupted: kept, now: kubeTime(now) },
    );
    const waiting = nextExpiry === undefined ? undefined : { againInMicros: nextExpiry - now };
    if (sameStatus(budget, next)) return waiting;
    // With the resourceVersion in the body, a concurrent eviction's decrement wins, as upstream.
    const body = withStatus(object, next);
    const written = this.#client.update(resources.poddisruptionbudgets, body, 'status');
    return written.kind === 'error' && written.status.code !== 404 ? 'retry' : waiting;
  }

  /** The facts, or the reason why the expected number is unknown. */
  #facts(scope: Scope, budget: BudgetView): BudgetFacts | string {
    const counted = { matching: scope.members.size, healthy: scope.healthy };
    if (!needsScale(budget)) return { ...counted, expectedByScale: 0 };
    const scales = new Map<string, number>();
    for (const { owner } of scope.owners.values()) {
      if (scaledKinds[owner.kind] === undefined) return 'found no controllers for its pods';
      const scale = this.#scaleOf(owner, budget.metadata.namespace ?? '');
      if (scale !== undefined) scales.set(scale.uid, scale.replicas);
    }
    const expectedByScale = [...scales.values()].reduce((sum, one) => sum + one, 0);
    return { ...counted, expectedByScale };
  }

  /** The scale behind a pod's controller: the Deployment's if one exists. */
  #scaleOf(
    owner: Owner,
    namespace: string,
  ): { readonly uid: string; readonly replicas: number } | undefined {
    const collection = scaledKinds[owner.kind];
    if (collection === undefined) return undefined;
    const object = this.#context.kube.read(collection, { namespace, name: owner.name });
    if (object === undefined || object.metadata.uid !== owner.uid) return undefined;
    const set = asReplicaSet(object);
    const parent = controllerOf(set);
    if (parent?.kind === 'Deployment') {
      const above = this.#context.kube.read(resources.deployments, {
        namespace,
        name: parent.name,
      });
      if (above?.metadata.uid === parent.uid) {
        return { uid: parent.uid, replicas: asDeployment(above).spec.replicas ?? 1 };
      }
    }
    return { uid: owner.uid, replicas: set.spec.replicas ?? 1 };
  }

  /** Fails closed, as upstream: evictions are refused until the numbers are known. */
  #failed(object: JsonObject, budget: BudgetView, why: string): Outcome {
    const old = conditionOf(budget.status?.conditions, 'DisruptionAllowed');
    const observed = budget.status?.observedGeneration === budget.metadata.generation;
    if (observed && old?.reason === 'SyncFailed' && old.message === why) return undefined;
    this.#events.record({
      about: budget,
      type: 'Warning',
      reason: 'CalculateExpectedPodCountFailed',
      message: `Failed to calculate the number of expected pods: ${why}`,
    });
    const generation = budget.metadata.generation ?? 1;
    const condition = {
      type: 'DisruptionAllowed',
      status: 'False',
      reason: 'SyncFailed',
      message: why,
      observedGeneration: generation,
    };
    const now = kubeTime(this.#context.kernel.now());
    const status: JsonObject = {
      currentHealthy: 0,
      desiredHealthy: 0,
      expectedPods: 0,
      ...budget.status,
      disruptionsAllowed: 0,
      observedGeneration: generation,
      conditions: withCondition(budget.status?.conditions ?? [], condition, now),
    };
    const body = withStatus(object, status);
    const written = this.#client.update(resources.poddisruptionbudgets, body, 'status');
    return written.kind === 'error' && written.status.code !== 404 ? 'retry' : undefined;
  }
}

/**
 * Only a plain minAvailable counts existing pods; every other form needs the controllers' scale.
 */
const needsScale = (budget: BudgetView): boolean =>
  budget.spec.maxUnavailable !== undefined || typeof budget.spec.minAvailable === 'string';

const scaledKinds: Readonly<Record<string, (typeof resources)[keyof typeof resources]>> = {
  ReplicaSet: resources.replicasets,
  Deployment: resources.deployments,
  StatefulSet: resources.statefulsets,
  ReplicationController: resources.replicationcontrollers,
};
