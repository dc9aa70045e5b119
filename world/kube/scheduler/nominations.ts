// Capacity that preemption freed, reserved for its pod until that pod is placed. Upstream:
// nominatedNodeName (Kubernetes 1.32). Reserves only capacity, not affinity.
import type { PodView } from '../actors/index.ts';
import { type Demand, demandOf } from './cache.ts';
import { addTaken, nothingTaken, type Taken } from './fit.ts';
import { priorityOf } from './preemption.ts';

interface Nominated {
  readonly node: string;
  readonly priority: number;
  readonly demand: Demand;
}

export class Nominations {
  readonly #byUid = new Map<string, Nominated>();

  set(pod: PodView, node: string): void {
    this.#byUid.set(pod.metadata.uid, { node, priority: priorityOf(pod), demand: demandOf(pod) });
  }

  delete(uid: string): void {
    this.#byUid.delete(uid);
  }

  nodeOf(uid: string): string | undefined {
    return this.#byUid.get(uid)?.node;
  }

  /** Capacity of the node reserved for other pods with at least this pod's priority. */
  keptFrom(pod: PodView, node: string): Taken {
    if (this.#byUid.size === 0) return nothingTaken;
    let taken = nothingTaken;
    for (const [uid, one] of this.#byUid) {
      const counts = one.node === node && one.priority >= priorityOf(pod);
      if (counts && uid !== pod.metadata.uid) taken = addTaken(taken, one.demand, 1);
    }
    return taken;
  }
}
