// How many Ready pods an owner has on nodes that are not being drained. Used only where the last
// replicas are evicted one at a time. Knows ReplicaSets only.
import { isReady } from '../../api/conditions.ts';
import { defined } from '../../api/defined.ts';
import type { KubeObject, Pod } from '../../api/kube.ts';
import { resourceTypes } from '../../api/kube.ts';
import type { Drain, OwnerLookup } from '../../core/drain/index.ts';
import { Informer } from '../../runtime/index.ts';
import type { DisruptionDeps } from './deps.ts';

interface Replicas extends KubeObject {
  readonly status?: { readonly readyReplicas?: number };
}

const controllerUid = (pod: Pod): string | undefined =>
  pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;

export class Owners {
  readonly #informer: Informer<Replicas>;

  constructor({ kube, clock, random, log }: DisruptionDeps, changed: () => void) {
    this.#informer = new Informer<Replicas>({
      kube,
      clock,
      random,
      log,
      type: resourceTypes.replicasets,
      project: ({ apiVersion, kind, metadata, status }) => ({
        apiVersion,
        kind,
        metadata: {
          name: metadata.name,
          ...defined({ namespace: metadata.namespace }),
          uid: metadata.uid,
          resourceVersion: metadata.resourceVersion,
          creationTimestamp: metadata.creationTimestamp,
        },
        ...(status?.readyReplicas === undefined
          ? {}
          : { status: { readyReplicas: status.readyReplicas } }),
      }),
      indexes: { uid: ({ metadata }) => [metadata.uid] },
    });
    this.#informer.onChange(changed);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#informer.run(signal);
  }

  /** A lookup for these drains; undefined results until ReplicaSets are listed. */
  lookup(drains: readonly Drain[]): OwnerLookup {
    const here = new Map<string, number>();
    for (const { pods } of drains) {
      for (const { pod } of pods) {
        const uid = controllerUid(pod);
        if (uid !== undefined && isReady(pod)) here.set(uid, (here.get(uid) ?? 0) + 1);
      }
    }
    return (uid) => {
      const owner = this.#informer.index('uid', uid)[0];
      if (owner === undefined) return undefined;
      const ready = owner.status?.readyReplicas ?? 0;
      return { readyElsewhere: Math.max(0, ready - (here.get(uid) ?? 0)) };
    };
  }
}
