// HorizontalPodAutoscalers of a cluster without metrics-server: clamps sizes between minimum and
// maximum, and records an event that no metrics are available. Upstream:
// pkg/controller/podautoscaler (Kubernetes 1.32). Simulates no load.
import type { JsonObject } from '../../../src/api/json.ts';
import type { KubeObject } from '../../../src/api/kube.ts';
import type { StoreChange, WorldClient } from '../../contracts.ts';
import { microsPerSecond } from '../../kernel/index.ts';
import {
  asReplicaSet,
  type Cond,
  type EventRecorder,
  keyOf,
  kubeTime,
  metaOf,
  nameOfKey,
  type Outcome,
  resources,
  type Worker,
  withCondition,
} from '../actors/index.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';

type AutoscalerView = KubeObject & {
  readonly spec: {
    readonly minReplicas?: number;
    readonly maxReplicas: number;
    readonly scaleTargetRef: { readonly kind: string; readonly name: string };
  };
  readonly status?: { readonly conditions?: readonly Cond[] };
};

/** horizontal-pod-autoscaler-sync-period: a change is noticed within this period. */
const syncSeconds = 15;

const targets: Readonly<Record<string, (typeof resources)[keyof typeof resources]>> = {
  Deployment: resources.deployments,
  ReplicaSet: resources.replicasets,
  StatefulSet: resources.statefulsets,
};

const noMetrics =
  'failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch ' +
  'metrics ' +
  'from resource metrics API: the server could not find the requested resource (get ' +
  'pods.metrics.k8s.io)';

export class AutoscalerController implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #worker: Worker;
  /** `Kind/namespace/name` of a target -> its autoscaler. */
  readonly #byTarget = new Map<string, string>();

  constructor(context: ControllerContext) {
    this.#context = context;
    const { client, events } = controllerClient(context, 'horizontal-pod-autoscaler');
    this.#client = client;
    this.#events = events;
    this.#worker = newWorker(context, 'autoscaler', (key) => this.#reconcile(key));
    context.kube.onChange(resources.horizontalpodautoscalers, (change) => this.#changed(change));
    for (const target of Object.values(targets)) {
      context.kube.onChange(target, (change) => this.#targetChanged(change));
    }
  }

  resume(): void {
    for (const object of this.#context.kube.readAll(resources.horizontalpodautoscalers)) {
      this.#follow(asAutoscaler(object));
    }
  }

  #changed({ type, object, previous }: StoreChange): void {
    const autoscaler = asAutoscaler(object);
    if (type === 'DELETED') this.#byTarget.delete(targetKey(autoscaler));
    else if (!previous || asAutoscaler(previous).spec !== autoscaler.spec) this.#follow(autoscaler);
  }

  #follow(autoscaler: AutoscalerView): void {
    this.#byTarget.set(targetKey(autoscaler), keyOf(autoscaler));
    this.#soon(keyOf(autoscaler));
  }

  #targetChanged({ type, object, previous }: StoreChange): void {
    if (this.#byTarget.size === 0 || type === 'DELETED') return;
    const before = previous && asReplicaSet(previous).spec.replicas;
    if (before === asReplicaSet(object).spec.replicas) return;
    const key = this.#byTarget.get(`${object.kind}/${keyOf(object)}`);
    if (key !== undefined) this.#soon(key);
  }

  #soon(key: string): void {
    const random = this.#context.kernel.random('kube.autoscaler');
    this.#worker.markAfter(key, random.below(syncSeconds * microsPerSecond));
  }

  #reconcile(key: string): Outcome {
    const found = this.#context.kube.read(resources.horizontalpodautoscalers, nameOfKey(key));
    if (found === undefined) return undefined;
    const autoscaler = asAutoscaler(found);
    const { scaleTargetRef, minReplicas = 1, maxReplicas } = autoscaler.spec;
    const collection = targets[scaleTargetRef.kind];
    const namespace = autoscaler.metadata.namespace ?? '';
    const at = { namespace, name: scaleTargetRef.name };
    const target = collection && this.#context.kube.read(collection, at);
    if (collection === undefined || target === undefined) return undefined;
    const current = asReplicaSet(target).spec.replicas ?? 1;
    if (current === 0) return undefined;
    const wanted = Math.min(Math.max(current, minReplicas), maxReplicas);
    if (wanted !== current) {
      const body = { spec: { replicas: wanted } };
      const patch = { type: 'merge', body, subresource: 'scale' } as const;
      if (this.#client.patch(collection, at, patch).kind === 'error') return 'retry';
      const why = current < minReplicas ? 'below Spec.MinReplicas' : 'above Spec.MaxReplicas';
      this.#events.record({
        about: autoscaler,
        reason: 'SuccessfulRescale',
        message: `New size: ${wanted}; reason: Current number of replicas ${why}`,
      });
    } else {
      const message = noMetrics;
      const reason = 'FailedGetResourceMetric';
      this.#events.record({ about: autoscaler, type: 'Warning', reason, message });
    }
    return this.#write(autoscaler, current, wanted) ? undefined : 'retry';
  }

  #write(autoscaler: AutoscalerView, current: number, wanted: number): boolean {
    const now = kubeTime(this.#context.kernel.now());
    const able = {
      type: 'AbleToScale',
      status: 'True',
      reason: 'SucceededGetScale',
      message: "the HPA controller was able to get the target's current scale",
    };
    const active = {
      type: 'ScalingActive',
      status: 'False',
      reason: 'FailedGetResourceMetric',
      message: `the HPA was unable to compute the replica count: ${noMetrics}`,
    };
    const old = autoscaler.status?.conditions ?? [];
    const conditions = withCondition(withCondition(old, able, now), active, now);
    const status: JsonObject = {
      conditions,
      currentReplicas: current,
      desiredReplicas: wanted,
      currentMetrics: null,
    };
    const { uid } = metaOf(autoscaler);
    const at = nameOfKey(keyOf(autoscaler));
    const written = this.#client.patch(resources.horizontalpodautoscalers, at, {
      type: 'merge',
      body: { metadata: { uid }, status },
      subresource: 'status',
    });
    return written.kind === 'ok' || written.status.code === 404;
  }
}

const asAutoscaler = (object: KubeObject): AutoscalerView => object as AutoscalerView;

const targetKey = ({ metadata, spec }: AutoscalerView): string =>
  `${spec.scaleTargetRef.kind}/${metadata.namespace ?? ''}/${spec.scaleTargetRef.name}`;
