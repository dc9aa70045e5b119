// EndpointSlices of Services with a selector: their pods' addresses with ready, serving and
// terminating, and the Endpoints object for older clients. Membership follows each pod's change.
// Upstream: pkg/controller/endpointslice and endpoint, k8s.io/endpointslice (1.32).
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import type { StoreChange, WorldClient } from '../../contracts.ts';
import {
  asNode,
  asPod,
  asService,
  hasAll,
  isFinished,
  isNamespaceEnding,
  isReady,
  isTerminating,
  keyOf,
  nameOfKey,
  type Outcome,
  type PodView,
  resources,
  SelectorIndex,
  type ServiceView,
  type Worker,
} from '../actors/index.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';
import { keptMetadata, legacyEndpoints, managedBy, sameSubsets } from './legacy-endpoints.ts';
import { controllerReference } from './pod-template.ts';
import { type Slice, sameEndpoints, spreadOverSlices } from './slices.ts';

const manager = 'endpointslice-controller.k8s.io';

export class EndpointSliceController implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  /** Client of the controller that maintains Endpoints: another identity in the audit log. */
  readonly #legacy: WorldClient;
  readonly #worker: Worker;
  readonly #index = new SelectorIndex();
  /** Service key to names of the pods it selects. */
  readonly #members = new Map<string, Set<string>>();
  /** Deleted Services whose Endpoints still have to be deleted. */
  readonly #deleted = new Set<string>();

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#client = controllerClient(context, 'endpointslice-controller').client;
    this.#legacy = controllerClient(context, 'endpoint-controller').client;
    this.#worker = newWorker(context, 'endpointslice', (key) => this.#reconcile(key));
    context.kube.onChange(resources.services, (change) => this.#serviceChanged(change));
    context.kube.onChange(resources.pods, (change) => this.#podChanged(change));
    context.kube.onChange(resources.endpointslices, ({ type, object }) => {
      const service = object.metadata.labels?.['kubernetes.io/service-name'];
      if (type === 'DELETED' && service !== undefined) {
        this.#worker.mark(`${object.metadata.namespace ?? ''}/${service}`);
      }
    });
  }

  resume(): void {
    for (const object of this.#context.kube.readAll(resources.services)) {
      this.#open(asService(object));
    }
  }

  #serviceChanged({ type, object, previous }: StoreChange): void {
    const service = asService(object);
    if (type === 'DELETED') {
      const key = keyOf(service);
      this.#members.delete(key);
      this.#index.remove(key);
      this.#deleted.add(key);
      this.#worker.mark(key);
      return;
    }
    if (previous === undefined || asService(previous).spec !== service.spec) this.#open(service);
  }

  #open(service: ServiceView): void {
    const { selector } = service.spec ?? {};
    if (selector === undefined || !hasSelector(service)) return;
    const key = keyOf(service);
    const namespace = service.metadata.namespace ?? '';
    this.#index.set(key, namespace, { matchLabels: selector });
    const members = new Set<string>();
    for (const pod of this.#context.kube.readAll(resources.pods, namespace)) {
      if (hasAll(selector, asPod(pod).metadata.labels)) members.add(pod.metadata.name);
    }
    this.#members.set(key, members);
    this.#worker.mark(key);
  }

  #podChanged({ type, object, previous }: StoreChange): void {
    const pod = asPod(object);
    const namespace = pod.metadata.namespace ?? '';
    const { labels } = pod.metadata;
    const before = previous?.metadata.labels;
    const near = this.#index.candidates(namespace, labels, before === labels ? undefined : before);
    for (const key of near) {
      const members = this.#members.get(key);
      const service = this.#context.kube.read(resources.services, nameOfKey(key));
      if (members === undefined || service === undefined) continue;
      const selector = asService(service).spec?.selector;
      const inside = type !== 'DELETED' && hasAll(selector, pod.metadata.labels);
      const was = members.has(pod.metadata.name);
      if (inside) members.add(pod.metadata.name);
      else members.delete(pod.metadata.name);
      if (inside !== was) this.#worker.mark(key);
      else if (inside && (previous === undefined || !sameAddress(asPod(previous), pod))) {
        this.#worker.mark(key);
      }
    }
  }

  #reconcile(key: string): Outcome {
    const object = this.#context.kube.read(resources.services, nameOfKey(key));
    if (object === undefined) return this.#dropLegacy(key);
    this.#deleted.delete(key);
    const service = asService(object);
    // Slices of a Service without a selector belong to other controllers.
    if (isTerminating(service) || !hasSelector(service)) return undefined;
    const pods = this.#podsOf(key, service);
    const wanted = pods.map((pod) => this.#endpoint(service, pod));
    const have = this.#slicesOf(service);
    const ports = portsOf(service, pods[0]);
    let ok = true;
    for (const slice of spreadOverSlices(wanted, have)) {
      const old =
        slice.name === undefined ? undefined : have.find((one) => one.name === slice.name);
      if (old === undefined) ok = this.#create(service, slice.endpoints, ports) && ok;
      else if (slice.endpoints.length === 0 && have.length > 1) ok = this.#delete(old) && ok;
      else if (!sameEndpoints(old.endpoints, slice.endpoints) || !samePorts(old.object, ports)) {
        ok = this.#update(old, slice.endpoints, ports) && ok;
      }
    }
    ok = this.#keepLegacy(service, pods, ports) && ok;
    return ok ? undefined : 'retry';
  }

  #keepLegacy(
    service: ServiceView,
    pods: readonly PodView[],
    ports: readonly JsonObject[],
  ): boolean {
    const { name, namespace = '' } = service.metadata;
    const wanted = legacyEndpoints(service, pods, ports);
    const old = this.#context.kube.read(resources.endpoints, { namespace, name });
    if (old !== undefined && sameSubsets(old, wanted)) return true;
    const written =
      old === undefined
        ? this.#legacy.create(resources.endpoints, namespace, wanted)
        : this.#legacy.update(resources.endpoints, {
            ...wanted,
            metadata: keptMetadata(old, wanted),
          });
    if (written.kind === 'ok' || written.status.code === 404) return true;
    return isNamespaceEnding(written.status);
  }

  /** Deletes the Endpoints with the Service of the same name, whoever maintains them. */
  #dropLegacy(key: string): Outcome {
    const old = this.#context.kube.read(resources.endpoints, nameOfKey(key));
    const isOwn = old?.metadata.labels?.[managedBy] === 'endpoint-controller';
    if (old === undefined || !(isOwn || this.#deleted.has(key))) return undefined;
    const gone = this.#legacy.delete(resources.endpoints, nameOfKey(key), {
      uid: old.metadata.uid,
    });
    if (gone.kind === 'error' && gone.status.code !== 404) return 'retry';
    this.#deleted.delete(key);
    return undefined;
  }

  #podsOf(key: string, service: ServiceView): PodView[] {
    const namespace = service.metadata.namespace ?? '';
    const pods: PodView[] = [];
    for (const name of this.#members.get(key) ?? []) {
      const object = this.#context.kube.read(resources.pods, { namespace, name });
      if (object === undefined) continue;
      const pod = asPod(object);
      if (pod.status?.podIP !== undefined && !isFinished(pod)) pods.push(pod);
    }
    return pods;
  }

  #endpoint(service: ServiceView, pod: PodView): JsonObject {
    const serving = isReady(pod);
    const terminating = isTerminating(pod);
    const node = this.#context.kube.read(resources.nodes, { name: pod.spec.nodeName ?? '' });
    const zone = node && asNode(node).metadata.labels?.['topology.kubernetes.io/zone'];
    const { name, namespace, uid } = pod.metadata;
    return {
      addresses: [pod.status?.podIP ?? ''],
      conditions: {
        ready: service.spec?.publishNotReadyAddresses === true || (serving && !terminating),
        serving,
        terminating,
      },
      nodeName: pod.spec.nodeName ?? '',
      targetRef: { kind: 'Pod', name, namespace: namespace ?? '', uid },
      ...defined({ zone }),
    };
  }

  #slicesOf(service: ServiceView): Slice[] {
    const slices: Slice[] = [];
    for (const object of this.#context.kube.ownedBy(service.metadata.uid)) {
      if (object.kind !== 'EndpointSlice') continue;
      const endpoints = (object as { readonly endpoints?: readonly JsonObject[] | null }).endpoints;
      slices.push({ name: object.metadata.name, endpoints: endpoints ?? [], object });
    }
    return slices;
  }

  #create(
    service: ServiceView,
    endpoints: readonly JsonObject[],
    ports: readonly JsonObject[],
  ): boolean {
    const { name, namespace, labels } = service.metadata;
    const made = this.#client.create(resources.endpointslices, namespace, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        generateName: `${name}-`,
        labels: {
          ...labels,
          'endpointslice.kubernetes.io/managed-by': manager,
          'kubernetes.io/service-name': name,
        },
        ownerReferences: [controllerReference(service)],
      },
      addressType: 'IPv4',
      endpoints,
      ports,
    });
    return made.kind === 'ok' || isNamespaceEnding(made.status);
  }

  #update(slice: Slice, endpoints: readonly JsonObject[], ports: readonly JsonObject[]): boolean {
    const object: JsonObject = slice.object ?? {};
    const written = this.#client.update(resources.endpointslices, { ...object, endpoints, ports });
    return written.kind === 'ok' || written.status.code === 404;
  }

  #delete(slice: Slice): boolean {
    if (slice.object === undefined) return true;
    const gone = this.#client.delete(resources.endpointslices, nameOfKey(keyOf(slice.object)));
    return gone.kind === 'ok' || gone.status.code === 404;
  }
}

const hasSelector = ({ spec }: ServiceView): boolean =>
  Object.keys(spec?.selector ?? {}).length > 0;

const sameAddress = (a: PodView, b: PodView): boolean =>
  a.status?.podIP === b.status?.podIP &&
  isReady(a) === isReady(b) &&
  isTerminating(a) === isTerminating(b) &&
  isFinished(a) === isFinished(b);

/** Resolves named target ports in the first pod: pods of one Service rarely differ. */
const portsOf = (service: ServiceView, pod: PodView | undefined): readonly JsonObject[] =>
  (service.spec?.ports ?? []).map((port) => {
    const target = port.targetPort ?? port.port;
    const named = pod?.spec.containers
      .flatMap((container) => container.ports ?? [])
      .find((one) => one.name === target)?.containerPort;
    return {
      name: port.name ?? '',
      port: typeof target === 'number' ? target : (named ?? port.port),
      protocol: port.protocol ?? 'TCP',
    };
  });

const samePorts = (slice: Slice['object'], ports: readonly JsonObject[]): boolean =>
  JSON.stringify(slice?.ports ?? []) === JSON.stringify(ports);
