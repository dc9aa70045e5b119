// Which pods use which claims, updated change by change. A pod without claims, the common case,
// costs one check.
import type { StoreChange, WorldKube } from '../../contracts.ts';
import {
  asPod,
  claimsOf,
  isFinished,
  keyOf,
  nameOfKey,
  type PodView,
  resources,
} from '../actors/index.ts';

export class ClaimUsers {
  readonly #kube: WorldKube;
  readonly #byClaim = new Map<string, Set<string>>();

  /** Calls `changed` with the claim whenever the state of one of its users changed. */
  constructor(kube: WorldKube, changed: (claimKey: string, change: StoreChange) => void) {
    this.#kube = kube;
    kube.onChange(resources.pods, (change) => {
      for (const key of this.#note(asPod(change.object), change.type !== 'DELETED')) {
        changed(key, change);
      }
    });
  }

  resume(): void {
    for (const pod of this.#kube.readAll(resources.pods)) this.#note(asPod(pod), true);
  }

  /** Pods that reference the claim and have not ended. */
  of(claimKey: string): readonly PodView[] {
    const pods: PodView[] = [];
    for (const key of this.#byClaim.get(claimKey) ?? []) {
      const object = this.#kube.read(resources.pods, nameOfKey(key));
      if (object !== undefined && !isFinished(asPod(object))) pods.push(asPod(object));
    }
    return pods;
  }

  #note(pod: PodView, exists: boolean): readonly string[] {
    const keys = claimsOf(pod).map((name) => `${pod.metadata.namespace ?? ''}/${name}`);
    for (const key of keys) {
      const users = this.#byClaim.get(key) ?? new Set<string>();
      if (exists) users.add(keyOf(pod));
      else users.delete(keyOf(pod));
      if (users.size === 0) this.#byClaim.delete(key);
      else this.#byClaim.set(key, users);
    }
    return keys;
  }
}
