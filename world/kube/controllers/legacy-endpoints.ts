// The Endpoints object that older clients read beside EndpointSlices. Pure; upstream:
// pkg/controller/endpoint (Kubernetes 1.32): omits terminating pods, at most 1,000 addresses.
import type { JsonObject } from '../../../src/api/json.ts';
import type { KubeObject } from '../../../src/api/kube.ts';
import { isReady, isTerminating, type PodView, type ServiceView } from '../actors/index.ts';

/** Upstream's maxCapacity. */
const maxAddresses = 1000;
export const managedBy = 'endpoints.kubernetes.io/managed-by';

const addressOf = (pod: PodView): JsonObject => {
  const { name, namespace, uid } = pod.metadata;
  return {
    ip: pod.status?.podIP ?? '',
    nodeName: pod.spec.nodeName ?? '',
    targetRef: { kind: 'Pod', name, namespace: namespace ?? '', uid },
  };
};

const byAddress = (a: JsonObject, b: JsonObject): number => (String(a.ip) < String(b.ip) ? -1 : 1);

/** Everything except metadata that only the server sets. */
export const legacyEndpoints = (
  service: ServiceView,
  pods: readonly PodView[],
  ports: readonly JsonObject[],
): JsonObject => {
  const all = service.spec?.publishNotReadyAddresses === true;
  const counted = pods.filter((pod) => all || !isTerminating(pod)).slice(0, maxAddresses);
  const ready = counted.filter((pod) => all || isReady(pod)).map(addressOf);
  const notReady = counted.filter((pod) => !all && !isReady(pod)).map(addressOf);
  // An unnamed port omits the name field, unlike in a slice.
  const named = ports.map(({ name, ...port }) => (name === '' ? port : { name, ...port }));
  const subset: JsonObject = {
    ...(ready.length === 0 ? {} : { addresses: ready.sort(byAddress) }),
    ...(notReady.length === 0 ? {} : { notReadyAddresses: notReady.sort(byAddress) }),
    ...(named.length === 0 ? {} : { ports: named }),
  };
  const { name, namespace, labels } = service.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      name,
      namespace: namespace ?? '',
      labels: { ...labels, [managedBy]: 'endpoint-controller' },
    },
    ...(counted.length === 0 ? {} : { subsets: [subset] }),
  };
};

/** The stored metadata with the desired labels. */
export const keptMetadata = (old: KubeObject, wanted: JsonObject): JsonObject => {
  const { labels } = wanted.metadata as JsonObject;
  const { name, uid, resourceVersion } = old.metadata;
  const { namespace = '' } = old.metadata;
  return { name, namespace, uid, resourceVersion, labels };
};

export const sameSubsets = (a: JsonObject, b: JsonObject): boolean =>
  JSON.stringify(fingerprint(a)) === JSON.stringify(fingerprint(b));

/** Normalizes the order of fields, whatever the server stores. */
const fingerprint = (object: JsonObject): unknown => {
  const list = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value : []);
  const addresses = (value: unknown): unknown =>
    list(value).map(({ ip, nodeName, targetRef }) => [
      ip,
      nodeName,
      (targetRef as JsonObject | undefined)?.uid,
    ]);
  return list(object.subsets).map((subset) => [
    addresses(subset.addresses),
    addresses(subset.notReadyAddresses),
    list(subset.ports).map(({ name = '', port, protocol }) => [name, port, protocol]),
  ]);
};
