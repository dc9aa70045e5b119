// Distributes endpoints over EndpointSlices: each stays in its slice, new ones fill slices with
// room, at most 100 per slice. Pure; upstream: k8s.io/endpointslice reconciler.
import type { JsonObject } from '../../../src/api/json.ts';
import { objectOr } from '../../../src/api/json.ts';
import type { KubeObject } from '../../../src/api/kube.ts';

/** Upstream's --max-endpoints-per-slice. */
const maxEndpointsPerSlice = 100;

export interface Slice {
  /** Undefined for a slice to create. */
  readonly name: string | undefined;
  readonly endpoints: readonly JsonObject[];
  readonly object?: KubeObject & JsonObject;
}

const endpointUid = (endpoint: JsonObject): string =>
  String(objectOr(endpoint.targetRef).uid ?? '');

/** The desired content of every slice; an empty Service keeps one empty slice. */
export const spreadOverSlices = (
  wanted: readonly JsonObject[],
  have: readonly Slice[],
): readonly Slice[] => {
  const missing = new Map(wanted.map((endpoint) => [endpointUid(endpoint), endpoint]));
  const kept = have.map((slice) => {
    const endpoints: JsonObject[] = [];
    for (const old of slice.endpoints) {
      const uid = endpointUid(old);
      const fresh = missing.get(uid);
      if (fresh !== undefined) endpoints.push(fresh);
      missing.delete(uid);
    }
    return { ...slice, endpoints };
  });
  const rest = [...missing.values()];
  for (const slice of kept) {
    const room = maxEndpointsPerSlice - slice.endpoints.length;
    if (room > 0) slice.endpoints.push(...rest.splice(0, room));
  }
  const made: Slice[] = [];
  while (rest.length > 0 || kept.length + made.length === 0) {
    made.push({ name: undefined, endpoints: rest.splice(0, maxEndpointsPerSlice) });
  }
  return [...kept, ...made];
};

export const sameEndpoints = (a: readonly JsonObject[], b: readonly JsonObject[]): boolean =>
  a.length === b.length &&
  a.every((one, index) => {
    const other = b[index];
    return other !== undefined && fingerprint(one) === fingerprint(other);
  });

/** The mutable part of an endpoint, in a fixed field order whatever the server stores. */
const fingerprint = (endpoint: JsonObject): string => {
  const { ready, serving, terminating } = objectOr(endpoint.conditions);
  return JSON.stringify([
    endpointUid(endpoint),
    endpoint.addresses,
    ready,
    serving,
    terminating,
    endpoint.nodeName,
    endpoint.zone,
  ]);
};
