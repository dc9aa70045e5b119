// Load balancers of Services, only as far as a drain shows: which nodes would be targets, kept in an
// annotation of the Service, and a host name in its status. No cloud resource is made. Upstream:
// cloud-provider/controllers/service; nodes with the exclusion label are left out.
import type { StoreChange, WorldClient } from '../../contracts.ts';
import {
  asNode,
  asService,
  cloudControllerIdentity,
  isTerminating,
  keyOf,
  type NodeView,
  nameOfKey,
  type Outcome,
  resources,
  type Worker,
} from '../actors/index.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';

/** Names of the target nodes, sorted and joined by commas. The world's own, not Kubernetes'. */
export const targetsAnnotation = 'world.drover.dev/load-balancer-targets';
const exclusionLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';
const autoscalerTaint = 'ToBeDeletedByClusterAutoscaler';

/** Since 1.27 readiness does not count: load balancers check health themselves. */
const isTarget = (node: NodeView): boolean =>
  node.metadata.labels?.[exclusionLabel] === undefined &&
  !isTerminating(node) &&
  !(node.spec?.taints ?? []).some((taint) => taint.key === autoscalerTaint);

export class ServiceLoadBalancers implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #worker: Worker;
  readonly #services = new Set<string>();

  constructor(context: ControllerContext) {
    this.#context = context;
    const identity = cloudControllerIdentity(context.version);
    this.#client = controllerClient(context, 'service-controller', identity).client;
    this.#worker = newWorker(context, 'service-lb', (key) => this.#reconcile(key));
    context.kube.onChange(resources.services, ({ type, object }) => {
      const key = keyOf(object);
      const wanted = type !== 'DELETED' && asService(object).spec?.type === 'LoadBalancer';
      if (wanted) this.#services.add(key);
      else this.#services.delete(key);
      if (wanted) this.#worker.mark(key);
    });
    context.kube.onChange(resources.nodes, (change) => this.#nodeChanged(change));
  }

  resume(): void {
    for (const object of this.#context.kube.readAll(resources.services)) {
      if (asService(object).spec?.type !== 'LoadBalancer') continue;
      this.#services.add(keyOf(object));
      this.#worker.mark(keyOf(object));
    }
  }

  #nodeChanged({ type, object, previous }: StoreChange): void {
    if (this.#services.size === 0) return;
    const now = type !== 'DELETED' && isTarget(asNode(object));
    const before = previous !== undefined && isTarget(asNode(previous));
    if (now === before) return;
    for (const key of this.#services) this.#worker.mark(key);
  }

  #reconcile(key: string): Outcome {
    const object = this.#context.kube.read(resources.services, nameOfKey(key));
    if (object === undefined || isTerminating(asService(object))) return undefined;
    const service = asService(object);
    const targets = [...this.#context.kube.readAll(resources.nodes)]
      .filter((node) => isTarget(asNode(node)))
      .map((node) => node.metadata.name)
      .sort()
      .join(',');
    if (service.metadata.annotations?.[targetsAnnotation] !== targets) {
      const patched = this.#client.patch(resources.services, nameOfKey(key), {
        type: 'merge',
        body: { metadata: { annotations: { [targetsAnnotation]: targets } } },
      });
      if (patched.kind === 'error') return 'retry';
    }
    if ((service.status?.loadBalancer?.ingress ?? []).length > 0) return undefined;
    // As the in-tree provider names a classic load balancer: 32 hex digits of the uid.
    const hostname = `a${service.metadata.uid.replaceAll('-', '').slice(0, 31)}.elb.amazonaws.com`;
    const patched = this.#client.patch(resources.services, nameOfKey(key), {
      type: 'merge',
      body: { status: { loadBalancer: { ingress: [{ hostname }] } } },
      subresource: 'status',
    });
    return patched.kind === 'ok' ? undefined : 'retry';
  }
}
