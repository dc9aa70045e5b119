// The scheduler: binds pods to nodes, makes room by preemption, or reports why not. One pod at a
// time; a waiting pod is retried after an event that could help it. Upstream: pkg/scheduler
// (Kubernetes 1.32). The chooser decides where a pod may run.
import { defined } from '../../../src/api/defined.ts';
import type { StoreChange, WorldClient, WorldKube } from '../../contracts.ts';
import { type Kernel, microsPerSecond } from '../../kernel/index.ts';
import {
  asClaim,
  asNode,
  asPod,
  claimsOf,
  conditionOf,
  EventRecorder,
  isTerminating,
  keyOf,
  kubeTime,
  type Latency,
  nameOfKey,
  type Outcome,
  type PodView,
  resources,
  schedulerIdentity,
  selectedNodeAnnotation,
  Worker,
} from '../actors/index.ts';
import { type Choice, Chooser } from './chooser.ts';

/** Backoff of an unschedulable pod (upstream podInitialBackoffSeconds, podMaxBackoffSeconds). */
const firstBackoffSeconds = 1;
const maxBackoffSeconds = 10;
/** Upstream retries after 5 minutes even without an event that could help. */
const flushSeconds = 300;
/** How long to wait for volume binding (upstream's bindTimeoutSeconds). */
const volumeTimeoutSeconds = 600;

interface Waiting {
  readonly attempts: number;
  readonly at: number;
  /** The pod has placement constraints: placing another pod may help it. */
  readonly constrained: boolean;
}

export class Scheduler {
  readonly #kernel: Kernel;
  readonly #kube: WorldKube;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #worker: Worker;
  readonly #chooser: Chooser;
  /** Unschedulable pods, with attempts and the time of the last one. */
  readonly #waiting = new Map<string, Waiting>();
  /** Number of constrained waiting pods; zero avoids iterating when a pod is placed. */
  #constrained = 0;

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
    const random = options.kernel.random('kube.scheduler.ties');
    this.#chooser = new Chooser({ kube: options.kube, random });
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
      ...defined({ latency: options.latency }),
    });
    this.#kube.onChange(resources.nodes, (change) => this.#nodeChanged(change));
    this.#kube.onChange(resources.pods, (change) => this.#podChanged(change));
    this.#kube.onChange(resources.persistentvolumeclaims, ({ object }) =>
      this.#claimChanged(object),
    );
  }

  resume(): void {
    for (const node of this.#kube.readAll(resources.nodes))
      this.#chooser.cache.setNode(asNode(node));
    for (const object of this.#kube.readAll(resources.pods)) {
      const pod = asPod(object);
      this.#chooser.cache.setPod(pod);
      if (!isMine(pod)) continue;
      const nominated = pod.status?.nominatedNodeName;
      if (nominated !== undefined && nominated !== '')
        this.#chooser.nominations.set(pod, nominated);
      this.#worker.mark(keyOf(pod));
    }
  }

  #nodeChanged({ type, object, previous }: StoreChange): void {
    const node = asNode(object);
    if (type === 'DELETED') {
      this.#chooser.cache.removeNode(node.metadata.name);
      return;
    }
    const old = previous === undefined ? undefined : asNode(previous);
    const same =
      type === 'MODIFIED' &&
      node.metadata.labels === old?.metadata.labels &&
      node.spec === old?.spec &&
      node.status?.allocatable === old?.status?.allocatable;
    if (same) return;
    this.#chooser.cache.setNode(node);
    this.#wake();
  }

  #podChanged({ type, object, previous }: StoreChange): void {
    const pod = asPod(object);
    if (type === 'DELETED') {
      const key = keyOf(pod);
      if (this.#waiting.has(key)) {
        this.#forget(key);
        this.#worker.forget(key);
      }
      this.#chooser.nominations.delete(pod.metadata.uid);
      if (this.#chooser.cache.removePod(pod.metadata.uid)) this.#wake();
      return;
    }
    if (isMine(pod)) {
      const before = previous && asPod(previous);
      // Scheduling gates were removed or the spec changed; the pod's own conditions do not count.
      const changed = before?.spec !== pod.spec || before.metadata.labels !== pod.metadata.labels;
      if (type === 'ADDED' || changed) this.#worker.mark(keyOf(pod));
      return;
    }
    this.#chooser.cache.setPod(pod);
    if (this.#constrained > 0 && previous && isMine(asPod(previous))) this.#wake('constrained');
  }

  /** Retries the pods that use this claim, whether they were refused or not. */
  #claimChanged({ metadata }: StoreChange['object']): void {
    for (const object of this.#kube.readAll(resources.pods, metadata.namespace)) {
      const pod = asPod(object);
      if (isMine(pod) && claimsOf(pod).includes(metadata.name)) this.#worker.mark(keyOf(pod));
    }
  }

  #forget(key: string): void {
    if (this.#waiting.get(key)?.constrained === true) this.#constrained--;
    this.#waiting.delete(key);
  }

  /** Capacity was freed or a node added: waiting pods are retried after their backoff. */
  #wake(who: 'all' | 'constrained' = 'all'): void {
    for (const [key, { attempts, at, constrained }] of this.#waiting) {
      if (who === 'constrained' && !constrained) continue;
      const backoff = Math.min(firstBackoffSeconds * 2 ** (attempts - 1), maxBackoffSeconds);
      const left = at + backoff * microsPerSecond - this.#kernel.now();
      if (left <= 0) this.#worker.mark(key);
      else this.#worker.markAfter(key, left);
    }
  }

  #schedule(key: string): Outcome {
    const object = this.#kube.read(resources.pods, nameOfKey(key));
    if (object === undefined || !isMine(asPod(object)) || isTerminating(asPod(object))) {
      this.#forget(key);
      return undefined;
    }
    const pod = asPod(object);
    const choice = this.#chooser.choose(pod);
    if (choice.kind === 'node') {
      return choice.claims.length === 0
        ? this.#bind(pod, choice.node)
        : this.#provision(pod, choice);
    }
    const { claims } = this.#forgetSelection(pod);
    if (claims > 0) return { againInMicros: firstBackoffSeconds * microsPerSecond };
    const attempts = (this.#waiting.get(key)?.attempts ?? 0) + 1;
    this.#forget(key);
    const constrained = isConstrained(pod);
    if (constrained) this.#constrained++;
    this.#waiting.set(key, { attempts, at: this.#kernel.now(), constrained });
    if (choice.kind === 'preempt') this.#preempt(pod, choice);
    this.#refused(pod, choice);
    return { againInMicros: flushSeconds * microsPerSecond };
  }

  /** Selects the node for the provisioner; the claims' changes requeue the pod. */
  #provision(pod: PodView, choice: Extract<Choice, { readonly kind: 'node' }>): Outcome {
    const namespace = pod.metadata.namespace ?? '';
    for (const claim of choice.claims) {
      const { name, annotations } = claim.metadata;
      if (annotations?.[selectedNodeAnnotation] === choice.node) continue;
      const body = { metadata: { annotations: { [selectedNodeAnnotation]: choice.node } } };
      const patch = { type: 'merge', body } as const;
      const at = { namespace, name };
      const named = this.#client.patch(resources.persistentvolumeclaims, at, patch);
      if (named.kind === 'error') return 'retry';
    }
    return { againInMicros: volumeTimeoutSeconds * microsPerSecond };
  }

  /** Clears the node selected for the pod's volumes, so that another can be selected. */
  #forgetSelection(pod: PodView): { readonly claims: number } {
    let claims = 0;
    const namespace = pod.metadata.namespace ?? '';
    for (const name of claimsOf(pod)) {
      const object = this.#kube.read(resources.persistentvolumeclaims, { namespace, name });
      const claim = object && asClaim(object);
      if (claim?.metadata.annotations?.[selectedNodeAnnotation] === undefined) continue;
      if (claim.spec.volumeName) continue;
      const body = { metadata: { annotations: { [selectedNodeAnnotation]: null } } };
      const patch = { type: 'merge', body } as const;
      const at = { namespace, name };
      if (this.#client.patch(resources.persistentvolumeclaims, at, patch).kind === 'ok') claims++;
    }
    return { claims };
  }

  /** Marks and deletes the victims; reserves the room for the pod. */
  #preempt(pod: PodView, choice: Extract<Choice, { readonly kind: 'preempt' }>): void {
    this.#chooser.nominations.set(pod, choice.node);
    const now = kubeTime(this.#kernel.now());
    for (const victim of choice.victims) {
      if (isTerminating(victim)) continue;
      const name = nameOfKey(keyOf(victim));
      const condition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'PreemptionByScheduler',
        message: 'default-scheduler: preempting to accommodate a higher priority pod',
        lastTransitionTime: now,
      };
      this.#client.patch(resources.pods, name, {
        type: 'strategic',
        body: { status: { conditions: [condition] } },
        subresource: 'status',
      });
      const { uid } = victim.metadata;
      const gone = this.#client.delete(resources.pods, name, { uid });
      if (gone.kind === 'error') continue;
      this.#events.record({
        about: victim,
        reason: 'Preempted',
        message: `Preempted by pod ${pod.metadata.uid} on node ${choice.node}`,
      });
    }
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
    this.#forget(keyOf(pod));
    this.#chooser.nominations.delete(uid);
    this.#events.record({
      about: pod,
      reason: 'Scheduled',
      message: `Successfully assigned ${keyOf(pod)} to ${node}`,
    });
    return undefined;
  }

  #refused(pod: PodView, choice: Exclude<Choice, { readonly kind: 'node' }>): void {
    const { message } = choice;
    this.#events.record({ about: pod, type: 'Warning', reason: 'FailedScheduling', message });
    const old = conditionOf(pod.status?.conditions, 'PodScheduled');
    const nominated = choice.kind === 'preempt' ? choice.node : pod.status?.nominatedNodeName;
    const said =
      old?.status === 'False' && old.reason === 'Unschedulable' && old.message === message;
    if (said && nominated === pod.status?.nominatedNodeName) return;
    const now = kubeTime(this.#kernel.now());
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastProbeTime: null,
      lastTransitionTime: old?.status === 'False' ? (old.lastTransitionTime ?? now) : now,
    };
    const room = nominated === undefined ? {} : { nominatedNodeName: nominated };
    this.#client.patch(resources.pods, nameOfKey(keyOf(pod)), {
      type: 'strategic',
      body: { status: { conditions: [condition], ...room } },
      subresource: 'status',
    });
  }
}

const isMine = (pod: PodView): boolean =>
  (pod.spec.nodeName === undefined || pod.spec.nodeName === '') &&
  (pod.spec.schedulerName ?? 'default-scheduler') === 'default-scheduler' &&
  (pod.spec.schedulingGates ?? []).length === 0 &&
  pod.status?.phase !== 'Succeeded' &&
  pod.status?.phase !== 'Failed';

const isConstrained = ({ spec }: PodView): boolean =>
  spec.topologySpreadConstraints !== undefined || spec.affinity?.podAffinity !== undefined;
