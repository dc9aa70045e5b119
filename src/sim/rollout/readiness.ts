// Current number of Ready nodes, and of Ready pods per application. Counted incrementally, so that
// a query costs the same in a large cluster. Read-only.

import type { World } from '../../../world/index.ts';
import { type JsonObject, objectOr } from '../../api/json.ts';
import { appNamespace } from './workload.ts';

const isReady = ({ status }: JsonObject): boolean => {
  const { conditions } = objectOr(status);
  const all = Array.isArray(conditions) ? conditions.map(objectOr) : [];
  return all.some(({ type, status: is }) => type === 'Ready' && is === 'True');
};

const appOf = (pod: JsonObject): string => String(objectOr(objectOr(pod.metadata).labels).app);

export class Readiness {
  #nodes = 0;
  #pods = 0;
  readonly #ready = new Map<string, number>();

  /** Call before the world is populated. */
  constructor({ kube }: World) {
    kube.onChange({ group: '', resource: 'nodes' }, ({ type, object, previous }) => {
      if (previous !== undefined && isReady(previous)) this.#nodes -= 1;
      if (type !== 'DELETED' && isReady(object)) this.#nodes += 1;
    });
    kube.onChange({ group: '', resource: 'pods' }, ({ type, object, previous }) => {
      if (object.metadata.namespace !== appNamespace) return;
      if (previous !== undefined) this.#count(previous, -1);
      if (type !== 'DELETED') this.#count(object, 1);
    });
  }

  get nodes(): number {
    return this.#nodes;
  }
  /** Pods of applications, Ready or not. */
  get pods(): number {
    return this.#pods;
  }
  readyOf(app: string): number {
    return this.#ready.get(app) ?? 0;
  }

  #count(pod: JsonObject, by: 1 | -1): void {
    this.#pods += by;
    if (!isReady(pod)) return;
    const app = appOf(pod);
    this.#ready.set(app, this.readyOf(app) + by);
  }
}
