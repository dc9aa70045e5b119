// EndpointSlices for manually maintained Endpoints of a Service without a selector: one slice per
// set of ports and address family. Upstream: pkg/controller/endpointslicemirroring (Kubernetes
// 1.36). Never mirrors Endpoints that the world's own controller maintains.
import { defined } from '../../../src/api/defined.ts';
import { type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { KubeObject } from '../../../src/api/kube.ts';
import type { WorldClient } from '../../contracts.ts';
import {
  asService,
  isNamespaceEnding,
  isTerminating,
  keyOf,
  metaOf,
  nameOfKey,
  type Outcome,
  resources,
  type Worker,
} from '../actors/index.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';
import { controllerReference } from './pod-template.ts';

const manager = 'endpointslicemirroring-controller.k8s.io';
const managedBy = 'endpointslice.kubernetes.io/managed-by';
const serviceName = 'kubernetes.io/service-name';
const skipMirror = 'endpointslice.kubernetes.io/skip-mirror';
const leaderRecord = 'control-plane.alpha.kubernetes.io/leader';
const notCopied: ReadonlySet<string> = new Set([
  'endpoints.kubernetes.io/last-change-trigger-time',
  'kubectl.kubernetes.io/last-applied-configuration',
]);
/** --mirroring-max-endpoints-per-subset. */
const maxEndpoints = 1000;

/** Desired content of one slice. */
interface Wanted {
  readonly addressType: 'IPv4' | 'IPv6';
  readonly ports: readonly JsonObject[];
  readonly endpoints: JsonObject[];
}

const listOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.map(objectOr) : [];

const endpointOf = (address: JsonObject, ready: boolean): JsonObject => ({
  addresses: [address.ip ?? ''],
  conditions: { ready },
  ...defined({
    hostname: address.hostname,
    targetRef: address.targetRef,
    nodeName: address.nodeName,
  }),
});

const portOf = ({ name = '', port, protocol = 'TCP', appProtocol }: JsonObject): JsonObject => ({
  name,
  port: port ?? 0,
  protocol,
  ...defined({ appProtocol }),
});

const shapeOf = (slice: JsonObject): string =>
  JSON.stringify([slice.addressType, listOf(slice.ports).map(portOf)]);

/** The slices that mirror the object, by address family and ports. */
export const mirrored = (endpoints: JsonObject): ReadonlyMap<string, Wanted> => {
  const slices = new Map<string, Wanted>();
  for (const subset of listOf(endpoints.subsets)) {
    const ports = listOf(subset.ports).map(portOf);
    const addresses = [
      ...listOf(subset.addresses).map((address) => ({ address, ready: true })),
      ...listOf(subset.notReadyAddresses).map((address) => ({ address, ready: false })),
    ];
    for (const { address, ready } of addresses.slice(0, maxEndpoints)) {
      const addressType = String(address.ip).includes(':') ? 'IPv6' : 'IPv4';
      const fresh: Wanted = { addressType, ports, endpoints: [] };
      const shape = shapeOf({ addressType, ports });
      const slice = slices.get(shape) ?? fresh;
      slices.set(shape, slice);
      slice.endpoints.push(endpointOf(address, ready));
    }
  }
  return slices;
};

const metadataOf = (endpoints: KubeObject): JsonObject => {
  const { name, labels, annotations } = metaOf(endpoints);
  const copied = Object.entries(annotations ?? {}).filter(([key]) => !notCopied.has(key));
  return {
    labels: { ...labels, [serviceName]: name, [managedBy]: manager },
    ...(copied.length === 0 ? {} : { annotations: Object.fromEntries(copied) }),
  };
};

export class EndpointMirroring implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #worker: Worker;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#client = controllerClient(context, 'endpointslicemirroring-controller').client;
    this.#worker = newWorker(context, 'endpoint-mirroring', (key) => this.#reconcile(key));
    context.kube.onChange(resources.endpoints, ({ type, object }) => {
      // Its slices are dependents and are garbage-collected with it.
      if (type !== 'DELETED') this.#look(keyOf(object));
    });
    context.kube.onChange(resources.services, ({ type, object, previous }) => {
      const respecified = previous === undefined || asService(previous).spec !== object.spec;
      if (type !== 'DELETED' && respecified) this.#look(keyOf(object));
    });
    context.kube.onChange(resources.endpointslices, ({ type, object }) => {
      const { labels, namespace = '' } = object.metadata;
      if (type !== 'DELETED' || labels?.[managedBy] !== manager) return;
      this.#worker.mark(`${namespace}/${labels[serviceName] ?? ''}`);
    });
  }

  resume(): void {
    for (const object of this.#context.kube.readAll(resources.endpoints)) this.#look(keyOf(object));
  }

  /** Endpoints of Services with a selector change often and are never mirrored. */
  #look(key: string): void {
    if (this.#isMirrored(key) || this.#slicesOf(key).length > 0) this.#worker.mark(key);
  }

  #isMirrored(key: string): boolean {
    const name = nameOfKey(key);
    const service = this.#context.kube.read(resources.services, name);
    const endpoints = this.#context.kube.read(resources.endpoints, name);
    if (service === undefined || endpoints === undefined) return false;
    const { labels, annotations } = metaOf(endpoints);
    if (labels?.[skipMirror] === 'true' || annotations?.[leaderRecord] !== undefined) return false;
    return asService(service).spec?.selector === undefined && !isTerminating(asService(service));
  }

  #slicesOf(key: string): readonly (KubeObject & JsonObject)[] {
    const endpoints = this.#context.kube.read(resources.endpoints, nameOfKey(key));
    if (endpoints === undefined) return [];
    const { uid } = endpoints.metadata;
    return [...this.#context.kube.ownedBy(uid, resources.endpointslices)].filter(
      ({ metadata }) => metadata.labels?.[managedBy] === manager,
    );
  }

  #reconcile(key: string): Outcome {
    const endpoints = this.#context.kube.read(resources.endpoints, nameOfKey(key));
    if (endpoints === undefined) return undefined;
    const wanted = new Map(this.#isMirrored(key) ? mirrored(endpoints) : []);
    let ok = true;
    for (const slice of this.#slicesOf(key)) {
      const next = wanted.get(shapeOf(slice));
      wanted.delete(shapeOf(slice));
      ok = (next === undefined ? this.#delete(slice) : this.#update(endpoints, slice, next)) && ok;
    }
    for (const next of wanted.values()) ok = this.#create(endpoints, next) && ok;
    return ok ? undefined : 'retry';
  }

  #create(endpoints: KubeObject, wanted: Wanted): boolean {
    const { name, namespace } = endpoints.metadata;
    const made = this.#client.create(resources.endpointslices, namespace, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        generateName: `${name}-`,
        ...metadataOf(endpoints),
        ownerReferences: [controllerReference(endpoints)],
      },
      ...wanted,
    });
    return made.kind === 'ok' || isNamespaceEnding(made.status);
  }

  #update(endpoints: KubeObject, slice: KubeObject & JsonObject, wanted: Wanted): boolean {
    const { annotations: _annotations, ...kept } = objectOr(slice.metadata as unknown as Json);
    const metadata = { ...kept, ...metadataOf(endpoints) };
    const next = { ...slice, metadata, endpoints: wanted.endpoints };
    const written = this.#client.update(resources.endpointslices, next);
    return written.kind === 'ok' || written.status.code === 404;
  }

  #delete(slice: KubeObject): boolean {
    const gone = this.#client.delete(resources.endpointslices, nameOfKey(keyOf(slice)));
    return gone.kind === 'ok' || gone.status.code === 404;
  }
}
