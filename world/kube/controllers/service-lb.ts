// Load balancers of Services, as the cloud controller manager maintains them: created for type
// LoadBalancer, with the instances of nodes without the exclusion label as targets, and deleted
// before the Service. Upstream: cloud-provider/controllers/service (1.32). Models no traffic.
import { instanceIdOfProviderId } from '../../../src/api/brand.ts';
import type {
  GroupResource,
  ServiceBalancers,
  StoreChange,
  WantedLoadBalancer,
  WorldClient,
} from '../../contracts.ts';
import {
  asNode,
  asService,
  cloudControllerIdentity,
  type EventRecorder,
  isTerminating,
  keyOf,
  type NodeView,
  nameOfKey,
  type Outcome,
  resources,
  type ServiceView,
  type Worker,
} from '../actors/index.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';

const services: GroupResource = resources.services;
const finalizer = 'service.kubernetes.io/load-balancer-cleanup';
const exclusionLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';
const autoscalerTaint = 'ToBeDeletedByClusterAutoscaler';
const internalAnnotation = 'service.beta.kubernetes.io/aws-load-balancer-internal';
const schemeAnnotation = 'service.beta.kubernetes.io/aws-load-balancer-scheme';

/** Since 1.27 node readiness does not count: load balancers check health themselves. */
const isTarget = (node: NodeView): boolean =>
  node.metadata.labels?.[exclusionLabel] === undefined &&
  !isTerminating(node) &&
  !(node.spec?.taints ?? []).some((taint) => taint.key === autoscalerTaint);

const targetOf = (node: NodeView): string | undefined =>
  isTarget(node) ? instanceIdOfProviderId(node.spec?.providerID ?? '') : undefined;

/** A Service with a loadBalancerClass is left to the controller of that class. */
const wantsBalancer = (service: ServiceView): boolean =>
  service.spec?.type === 'LoadBalancer' &&
  (service.spec.loadBalancerClass ?? '') === '' &&
  !isTerminating(service);

const hasFinalizer = ({ metadata }: ServiceView): boolean =>
  metadata.finalizers?.includes(finalizer) === true;

/** cloudprovider.DefaultLoadBalancerName: `a` and the uid without dashes, 32 characters. */
const balancerName = ({ metadata }: ServiceView): string =>
  `a${metadata.uid.replaceAll('-', '')}`.slice(0, 32);

const isInternal = ({ metadata: { annotations = {} } }: ServiceView): boolean =>
  annotations[schemeAnnotation] === 'internal' ||
  !['', 'false', undefined].includes(annotations[internalAnnotation]);

export class ServiceLoadBalancers implements Controller {
  readonly #context: ControllerContext;
  readonly #balancers: ServiceBalancers;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #worker: Worker;
  /** Services with a load balancer, or with one to delete. */
  readonly #keys = new Set<string>();

  constructor(context: ControllerContext, balancers: ServiceBalancers) {
    this.#context = context;
    this.#balancers = balancers;
    const identity = cloudControllerIdentity(context.version);
    const { client, events } = controllerClient(context, 'service-controller', identity);
    this.#client = client;
    this.#events = events;
    this.#worker = newWorker(context, 'service-lb', (key) => this.#reconcile(key));
    context.kube.onChange(services, ({ type, object }) => {
      if (type === 'DELETED') this.#keys.delete(keyOf(object));
      else this.#look(asService(object));
    });
    context.kube.onChange(resources.nodes, (change) => this.#nodeChanged(change));
  }

  resume(): void {
    for (const object of this.#context.kube.readAll(services)) this.#look(asService(object));
  }

  #look(service: ServiceView): void {
    const key = keyOf(service);
    if (!wantsBalancer(service) && !hasFinalizer(service)) {
      this.#keys.delete(key);
      return;
    }
    this.#keys.add(key);
    this.#worker.mark(key);
  }

  #nodeChanged({ type, object, previous }: StoreChange): void {
    if (this.#keys.size === 0) return;
    const now = type === 'DELETED' ? undefined : targetOf(asNode(object));
    const before = previous === undefined ? undefined : targetOf(asNode(previous));
    if (now === before) return;
    for (const key of this.#keys) this.#worker.mark(key);
  }

  #reconcile(key: string): Outcome {
    const object = this.#context.kube.read(services, nameOfKey(key));
    if (object === undefined) return undefined;
    const service = asService(object);
    if (wantsBalancer(service)) return this.#ensure(key, service);
    return hasFinalizer(service) ? this.#remove(key, service) : undefined;
  }

  #ensure(key: string, service: ServiceView): Outcome {
    const isNew = !hasFinalizer(service);
    if (isNew) {
      const finalizers = [...(service.metadata.finalizers ?? []), finalizer];
      // Adds the finalizer before it creates the load balancer that the finalizer protects.
      if (!this.#patchMetadata(key, service, finalizers)) return 'retry';
      this.#tell(service, 'EnsuringLoadBalancer', 'Ensuring load balancer');
    }
    const { hostname } = this.#balancers.ensure(this.#wanted(key, service));
    if (service.status?.loadBalancer?.ingress?.[0]?.hostname === hostname) return undefined;
    if (!this.#patchStatus(key, [{ hostname }])) return 'retry';
    this.#tell(service, 'EnsuredLoadBalancer', 'Ensured load balancer');
    return undefined;
  }

  #remove(key: string, service: ServiceView): Outcome {
    this.#tell(service, 'DeletingLoadBalancer', 'Deleting load balancer');
    this.#balancers.remove(balancerName(service));
    const isShown = (service.status?.loadBalancer?.ingress ?? []).length > 0;
    if (isShown && !isTerminating(service) && !this.#patchStatus(key, null)) return 'retry';
    const finalizers = (service.metadata.finalizers ?? []).filter((one) => one !== finalizer);
    if (!this.#patchMetadata(key, service, finalizers)) return 'retry';
    this.#tell(service, 'DeletedLoadBalancer', 'Deleted load balancer');
    return undefined;
  }

  #wanted(key: string, service: ServiceView): WantedLoadBalancer {
    const instances: string[] = [];
    for (const node of this.#context.kube.readAll(resources.nodes)) {
      const instance = targetOf(asNode(node));
      if (instance !== undefined) instances.push(instance);
    }
    return {
      name: balancerName(service),
      service: key,
      isInternal: isInternal(service),
      ports: (service.spec?.ports ?? []).map(({ port, nodePort = 0, protocol = 'TCP' }) => ({
        port,
        nodePort,
        protocol,
      })),
      instances: instances.sort(),
    };
  }

  #tell(service: ServiceView, reason: string, message: string): void {
    this.#events.record({ about: service, reason, message });
  }

  /** False to retry; a deleted Service needs nothing. */
  #patchMetadata(key: string, { metadata }: ServiceView, finalizers: readonly string[]): boolean {
    const body = { metadata: { uid: metadata.uid, finalizers } };
    const patched = this.#client.patch(services, nameOfKey(key), { type: 'merge', body });
    return patched.kind === 'ok' || patched.status.code === 404;
  }

  #patchStatus(key: string, ingress: readonly { readonly hostname: string }[] | null): boolean {
    const body = { status: { loadBalancer: { ingress } } };
    const patch = { type: 'merge', body, subresource: 'status' } as const;
    const patched = this.#client.patch(services, nameOfKey(key), patch);
    return patched.kind === 'ok' || patched.status.code === 404;
  }
}
