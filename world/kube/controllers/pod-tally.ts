// Counts the active pods of each ReplicaSet, the Ready ones and their labels, as pods change. A
// reconcile of a set thus costs the same whatever its size. Counts only; acts on nothing.
import type { WorldKube } from '../../contracts.ts';
import {
  asPod,
  controllerOf,
  isActive,
  isReady,
  type PodView,
  resources,
} from '../actors/index.ts';

type Labels = Readonly<Record<string, string>>;

interface Counted {
  readonly owner: string;
  readonly isReady: boolean;
  readonly labels: Labels;
}

interface Tally {
  active: number;
  ready: number;
  /** Keyed by label text: pods of one template usually share it. */
  readonly labels: Map<string, { readonly labels: Labels; count: number }>;
}

const none: Labels = {};

/** Undefined when no ReplicaSet counts the pod. */
const countedOf = (pod: PodView): Counted | undefined => {
  const owner = controllerOf(pod);
  if (owner?.kind !== 'ReplicaSet' || !isActive(pod)) return undefined;
  return { owner: owner.uid, isReady: isReady(pod), labels: pod.metadata.labels ?? none };
};

const isSame = (a: Counted | undefined, b: Counted | undefined): boolean =>
  a === b || (a?.owner === b?.owner && a?.isReady === b?.isReady && a?.labels === b?.labels);

export class PodTally {
  readonly #tallies = new Map<string, Tally>();

  constructor(kube: WorldKube) {
    for (const pod of kube.readAll(resources.pods)) this.#count(countedOf(asPod(pod)), 1);
    kube.onChange(resources.pods, ({ type, object, previous }) => {
      const before = previous && countedOf(asPod(previous));
      const after = type === 'DELETED' ? undefined : countedOf(asPod(object));
      if (isSame(before, after)) return;
      this.#count(before, -1);
      this.#count(after, 1);
    });
  }

  /** The tally of the set with this uid; `wanted` are the labels of its template. */
  of(
    uid: string,
    wanted: Labels,
  ): { readonly active: number; readonly ready: number; readonly labeled: number } {
    const tally = this.#tallies.get(uid);
    if (tally === undefined) return { active: 0, ready: 0, labeled: 0 };
    const pairs = Object.entries(wanted);
    let labeled = 0;
    for (const { labels, count } of tally.labels.values()) {
      if (pairs.every(([key, value]) => labels[key] === value)) labeled += count;
    }
    return { active: tally.active, ready: tally.ready, labeled };
  }

  #count(pod: Counted | undefined, by: 1 | -1): void {
    if (pod === undefined) return;
    const tally = this.#tallies.get(pod.owner) ?? { active: 0, ready: 0, labels: new Map() };
    this.#tallies.set(pod.owner, tally);
    tally.active += by;
    if (pod.isReady) tally.ready += by;
    const text = JSON.stringify(pod.labels);
    const group = tally.labels.get(text) ?? { labels: pod.labels, count: 0 };
    tally.labels.set(text, group);
    group.count += by;
    if (group.count === 0) tally.labels.delete(text);
    if (tally.active === 0) this.#tallies.delete(pod.owner);
  }
}
