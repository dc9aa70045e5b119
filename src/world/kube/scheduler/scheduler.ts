// The scheduler: gives pods without a node one, or says why not. One pod at a time, costs bounded
// by a sample of nodes. Upstream: pkg/scheduler (Kubernetes 1.32); no preemption, no pod affinity.
import type { Random } from '../../../ports/index.ts';
import type { StoreChange, WorldClient, WorldKube } from '../../contracts.ts';
import { type Kernel, microsPerSecond } from '../../kernel/index.ts';
import {
  asNode,
  asPod,
  conditionOf,
  EventRecorder,
  isTerminating,
  keyOf,
  kubeTime,
  type Latency,
  nameOfKey,
  nodeTermsMatch,
  type Outcome,
  type PodView,
  resources,
  schedulerIdentity,
  selects,
  Worker,
} from '../actors/index.ts';
import {
  type Demand,
  demandOf,
  hostPortsOf,
  type NodeInfo,
  SchedulerCache,
  spreadGroupOf,
} from './cache.ts';
import {
  antiAffinityRefusal,
  podViews,
  type Refusal,
  roomRefusal,
  spreadRefusal,
  staticRefusal,
  unavailableMessage,
} from './fit.ts';
import { scoresOf } from './score.ts';

/** Upstream scores at least 100 feasible nodes; more would cost and change little here. */
const feasibleNodesToScore = 100;
/** Backoff of a pod that found no node (upstream podInitialBackoffSeconds, podMaxBackoffSeconds). */
const firstBackoffSeconds = 1;
const maxBackoffSeconds = 10;
/** Upstream looks again after 5 minutes even if nothing that could help has happened. */
const flushSeconds = 300;
/** Templates whose static answers are kept; more distinct ones are rare. */
const cachedTemplates = 500;

/** Per node: the version of the node that was looked at, and the answer. */
type StaticAnswers = WeakMap<
  NodeInfo,
  { readonly version: number; readonly refusal: Refusal | undefined }
>;

export class Scheduler {
  readonly #kernel: Kernel;
  readonly #kube: WorldKube;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #worker: Worker;
  readonly #random: Random;
  readonly #cache = new SchedulerCache();
  /** Pods that found no node, with attempts and the time of the last one. */
  readonly #waiting = new Map<string, { readonly attempts: number; readonly at: number }>();
  readonly #answers = new Map<string, StaticAnswers>();
  #start = 0;

  constructor(options: {
    readonly kernel: Kernel;
    readonly kube: WorldKube;
    readonly version: string;
    readonly events: boolean;
    readonly latency?: Latency;
  }) {
    this.#kernel = options.kernel;
    this.#kube = options.kube;
    this.#client = options.kube.as(schedulerIdentity(options.version));
    this.#random = options.kernel.random('kube.scheduler.ties');
    this.#events = new EventRecorder({
      kernel: options.kernel,
      client: this.#client,
      component: 'default-scheduler',
      enabled: options.events,
    });
    this.#worker = new Worker({
      kernel: options.kernel,
      name: 'scheduler',
      reconcile: (key) => this.#schedule(key),
      ...(options.latency === undefined ? {} : { latency: options.latency }),
    });
    this.#kube.onChange(resources.nodes, (change) => this.#nodeChanged(change));
    this.#kube.onChange(resources.pods, (change) => this.#podChanged(change));
  }

  resume(): void {
    for (const node of this.#kube.readAll(resources.nodes)) this.#cache.setNode(asNode(node));
    for (const object of this.#kube.readAll(resources.pods)) {
      const pod = asPod(object);
      this.#cache.setPod(pod);
      if (isMine(pod)) this.#worker.mark(keyOf(pod));
    }
  }

  #nodeChanged({ type, object, previous }: StoreChange): void {
    const node = asNode(object);
    if (type === 'DELETED') {
      this.#cache.removeNode(node.metadata.name);
      return;
    }
    const old = previous === undefined ? undefined : asNode(previous);
    const same =
      type === 'MODIFIED' &&
      node.metadata.labels === old?.metadata.labels &&
      node.spec === old?.spec &&
      node.status?.allocatable === old?.status?.allocatable;
    if (same) return;
    this.#cache.setNode(node);
    this.#wake();
  }

  #podChanged({ type, object }: StoreChange): void {
    const pod = asPod(object);
    if (type === 'DELETED') {
      if (this.#waiting.delete(keyOf(pod))) this.#worker.forget(keyOf(pod));
      if (this.#cache.removePod(pod.metadata.uid)) this.#wake();
      return;
    }
    if (isMine(pod)) {
      if (type === 'ADDED') this.#worker.mark(keyOf(pod));
      return;
    }
    this.#cache.setPod(pod);
  }

  /** Something freed room or added a node: whoever waits looks again when its backoff is over. */
  #wake(): void {
    for (const [key, { attempts, at }] of this.#waiting) {
      const backoff = Math.min(firstBackoffSeconds * 2 ** (attempts - 1), maxBackoffSeconds);
      const left = at + backoff * microsPerSecond - this.#kernel.now();
      if (left <= 0) this.#worker.mark(key);
      else this.#worker.markAfter(key, left);
    }
  }

  #schedule(key: string): Outcome {
    const object = this.#kube.read(resources.pods, nameOfKey(key));
    if (object === undefined || !isMine(asPod(object)) || isTerminating(asPod(object))) {
      this.#waiting.delete(key);
      return undefined;
    }
    const pod = asPod(object);
    const found = this.#choose(pod);
    if (found.kind === 'node') return this.#bind(pod, found.node);
    const known = this.#waiting.get(key);
    this.#waiting.set(key, { attempts: (known?.attempts ?? 0) + 1, at: this.#kernel.now() });
    this.#refused(pod, unavailableMessage(found.refusals));
    return { againInMicros: flushSeconds * microsPerSecond };
  }

  #bind(pod: PodView, node: string): Outcome {
    const { name, namespace, uid } = pod.metadata;
    const bound = this.#client.create({ group: '', resource: 'pods/binding' }, namespace, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace: namespace ?? '', uid },
      target: { kind: 'Node', name: node },
    });
    if (bound.kind === 'error') return 'retry';
    this.#waiting.delete(keyOf(pod));
    this.#events.record({
      about: pod,
      reason: 'Scheduled',
      message: `Successfully assigned ${keyOf(pod)} to ${node}`,
    });
    return undefined;
  }

  #refused(pod: PodView, message: string): void {
    this.#events.record({ about: pod, type: 'Warning', reason: 'FailedScheduling', message });
    const old = conditionOf(pod.status?.conditions, 'PodScheduled');
    if (old?.status === 'False' && old.message === message) return;
    const now = kubeTime(this.#kernel.now());
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastProbeTime: null,
      lastTransitionTime: old?.status === 'False' ? (old.lastTransitionTime ?? now) : now,
    };
    this.#client.patch(resources.pods, nameOfKey(keyOf(pod)), {
      type: 'strategic',
      body: { status: { conditions: [condition] } },
      subresource: 'status',
    });
  }

  #choose(
    pod: PodView,
  ):
    | { readonly kind: 'node'; readonly node: string }
    | { readonly kind: 'none'; readonly refusals: readonly Refusal[] } {
    const demand = demandOf(pod);
    const ports = hostPortsOf(pod);
    const answers = this.#staticAnswers(pod);
    const refusals: Refusal[] = [];
    const feasible: NodeInfo[] = [];
    const nodes = this.#candidates(pod);
    const begin = nodes.length === 0 ? 0 : this.#start % nodes.length;
    let looked = 0;
    for (; looked < nodes.length && feasible.length < feasibleNodesToScore; looked++) {
      const node = nodes[(begin + looked) % nodes.length];
      if (node === undefined) continue;
      const refusal =
        this.#staticRefusal(pod, node, answers) ??
        roomRefusal(demand, ports, node) ??
        this.#dynamicRefusal(pod, node);
      if (refusal === undefined) feasible.push(node);
      else refusals.push(refusal);
    }
    this.#start = begin + looked;
    if (!isSome(feasible)) return { kind: 'none', refusals: this.#all(refusals, nodes) };
    return { kind: 'node', node: this.#best(pod, demand, feasible).name };
  }

  /** Equal scores are left to chance, as upstream does. */
  #best(pod: PodView, demand: Demand, feasible: readonly [NodeInfo, ...NodeInfo[]]): NodeInfo {
    const scores = scoresOf(feasible, {
      pod,
      demand,
      counts: this.#cache.spread(spreadGroupOf(pod)),
      podsOn: (node) => podViews(this.#kube.podsOnNode(node.name)),
    });
    const most = scores.reduce((max, score) => Math.max(max, score), -1);
    const best = feasible.filter((_node, i) => scores[i] === most);
    return best[this.#random.below(best.length)] ?? feasible[0];
  }

  /** Daemon pods name their one node: the others need no look. */
  #candidates(pod: PodView): readonly NodeInfo[] {
    const pinned = pinnedNode(pod);
    if (pinned === undefined) return this.#cache.list;
    const node = this.#cache.nodes.get(pinned);
    return node?.exists === true ? [node] : [];
  }

  /** A pinned pod is refused by all nodes that were not looked at, too. */
  #all(refusals: readonly Refusal[], looked: readonly NodeInfo[]): readonly Refusal[] {
    const rest = this.#cache.list.length - looked.length;
    const other: Refusal = {
      reasons: ["node(s) didn't match Pod's node affinity/selector"],
      stuck: true,
    };
    return rest <= 0 ? refusals : [...refusals, ...Array.from({ length: rest }, () => other)];
  }

  #staticAnswers(pod: PodView): StaticAnswers | undefined {
    // Pinned pods look at one node: nothing to keep.
    if (pinnedNode(pod) !== undefined) return undefined;
    const { nodeSelector, affinity, tolerations } = pod.spec;
    const key = JSON.stringify([nodeSelector, affinity?.nodeAffinity, tolerations]);
    let answers = this.#answers.get(key);
    if (answers === undefined) {
      if (this.#answers.size >= cachedTemplates) this.#answers.clear();
      answers = new WeakMap();
      this.#answers.set(key, answers);
    }
    return answers;
  }

  #staticRefusal(
    pod: PodView,
    node: NodeInfo,
    answers: StaticAnswers | undefined,
  ): Refusal | undefined {
    if (answers === undefined) return staticRefusal(pod, node);
    const known = answers.get(node);
    if (known?.version === node.version) return known.refusal;
    const refusal = staticRefusal(pod, node);
    answers.set(node, { version: node.version, refusal });
    return refusal;
  }

  #dynamicRefusal(pod: PodView, node: NodeInfo): Refusal | undefined {
    const anti = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    if (anti !== undefined || node.antiAffinity > 0) {
      const refusal = antiAffinityRefusal(
        pod,
        node,
        (near, topologyKey) => this.#domainPods(near, topologyKey),
        node.antiAffinity > 0,
      );
      if (refusal !== undefined) return refusal;
    }
    if (pod.spec.topologySpreadConstraints === undefined) return undefined;
    return spreadRefusal(pod, node, (constraint) => this.#domainCounts(pod, constraint));
  }

  *#domainPods(node: NodeInfo, topologyKey: string): Generator<PodView> {
    if (topologyKey === 'kubernetes.io/hostname') {
      yield* podViews(this.#kube.podsOnNode(node.name));
      return;
    }
    const value = node.labels[topologyKey];
    if (value === undefined) return;
    for (const other of this.#cache.list) {
      if (other.labels[topologyKey] === value) yield* podViews(this.#kube.podsOnNode(other.name));
    }
  }

  /** Walks the pods of all nodes: only pods with a hard spread constraint pay for it. */
  #domainCounts(
    pod: PodView,
    constraint: {
      readonly topologyKey: string;
      readonly labelSelector?: Parameters<typeof selects>[0];
    },
  ): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    const terms =
      pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
        ?.nodeSelectorTerms;
    for (const node of this.#cache.list) {
      const domain = node.labels[constraint.topologyKey];
      if (domain === undefined) continue;
      if (terms !== undefined && !nodeTermsMatch(terms, node)) continue;
      let count = counts.get(domain) ?? 0;
      for (const other of podViews(this.#kube.podsOnNode(node.name))) {
        const counted =
          other.metadata.namespace === pod.metadata.namespace &&
          !isTerminating(other) &&
          selects(constraint.labelSelector, other.metadata.labels);
        if (counted) count++;
      }
      counts.set(domain, count);
    }
    return counts;
  }
}

const isMine = (pod: PodView): boolean =>
  (pod.spec.nodeName === undefined || pod.spec.nodeName === '') &&
  (pod.spec.schedulerName ?? 'default-scheduler') === 'default-scheduler' &&
  (pod.spec.schedulingGates ?? []).length === 0 &&
  pod.status?.phase !== 'Succeeded' &&
  pod.status?.phase !== 'Failed';

const pinnedNode = (pod: PodView): string | undefined => {
  const terms =
    pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      ?.nodeSelectorTerms;
  if (terms?.length !== 1) return undefined;
  const field = terms[0]?.matchFields?.[0];
  return field?.key === 'metadata.name' && field.operator === 'In' && field.values?.length === 1
    ? field.values[0]
    : undefined;
};

const isSome = <T>(list: readonly T[]): list is readonly [T, ...T[]] => list.length > 0;
