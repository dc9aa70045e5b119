// The first state of a collection from a watch that begins with the present objects, and whether a
// server serves such watches. Never sends a request.
import type { EpochMs } from '../api/brand.ts';
import type { KubeObject } from '../api/kube.ts';
import { KubeError, type WatchEvent } from '../ports/index.ts';
import { keyOf } from './object-cache.ts';

/** After this time a server that had trouble is asked again. */
const againAfterMs = 600_000;

/** Whether the server begins watches with the present objects; shared by informers of a server. */
export class InitialEvents {
  #againAt = 0;

  isServed(now: EpochMs): boolean {
    return now >= this.#againAt;
  }
  /** The server did not end the present objects in time. */
  late(now: EpochMs): void {
    this.#againAt = Math.max(this.#againAt, now + againAfterMs);
  }
  /**
   * Notes an error of the watch. True if the server refuses initial events for good: without the
   * feature gate, and before Kubernetes 1.27. An etcd that reports no progress is a ServerError.
   */
  isRefusal(error: unknown, now: EpochMs): boolean {
    const code = error instanceof KubeError ? error.code : undefined;
    if (code === 'ServerError') this.late(now);
    const isRefused = code === 'Invalid' || code === 'BadRequest';
    if (isRefused) this.#againAt = Number.POSITIVE_INFINITY;
    return isRefused;
  }
}

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
