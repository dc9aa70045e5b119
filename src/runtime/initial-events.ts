// The first state of a collection from a watch that begins with the present objects, and whether a
// server serves such watches. Never sends a request.
import type { KubeObject } from '../api/kube.ts';
import { KubeError, type KubeErrorCode, type WatchEvent } from '../ports/index.ts';
import { keyOf } from './object-cache.ts';

/** Whether the server begins watches with the present objects; shared by informers of a server. */
export interface InitialEvents {
  isServed: boolean;
}

/** Without the feature gate; before Kubernetes 1.27; with an etcd that reports no progress. */
const refusals: ReadonlySet<KubeErrorCode> = new Set(['Invalid', 'BadRequest', 'ServerError']);

/** Whether a server that answers so does not serve initial events. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof KubeError && refusals.has(error.code);

/** A server may send changes, too, before the bookmark that ends the present objects. */
export const collect = <T extends KubeObject>(
  objects: Map<string, T>,
  type: Exclude<WatchEvent<T>['type'], 'BOOKMARK'>,
  object: T,
): void => {
  const key = keyOf(object.metadata);
  if (type === 'DELETED') objects.delete(key);
  else objects.set(key, object);
};
