// How many instances people want of a node group, as the oracles read it: with what a controller
// may not have seen yet. Judges nothing.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { numberOf, textOf } from './read.ts';

/** Net of what is an update's: stated, or the base that was noted, or told beside the surge. */
const wantedOf = ({ spec, status }: JsonObject): number => {
  const { desired, surge } = objectOr(status);
  const stated = numberOf(objectOr(objectOr(spec).scaling).desired);
  const { base, desired: more } = objectOr(surge);
  return stated ?? numberOf(base) ?? (numberOf(desired) ?? 0) - (numberOf(more) ?? 0);
};

/** What people have wanted of late, the fewest and the most: we may have seen any of it. */
export class Wanted {
  readonly #told = new Map<string, { readonly at: number; readonly desired: number }[]>();

  /** A NodeGroup as it is from then on (`at`: microseconds). */
  take(group: JsonObject, at: number): void {
    const nodeGroup = textOf(objectOr(group.metadata).name);
    const desired = wantedOf(group);
    const all = this.#told.get(nodeGroup) ?? [];
    if (all.at(-1)?.desired !== desired) this.#told.set(nodeGroup, [...all, { at, desired }]);
  }

  /** Infinity of a group that nobody has told of. */
  least(nodeGroup: string, since: number): number {
    const all = this.#told.get(nodeGroup) ?? [];
    const young = all.filter((_, i) => (all[i + 1]?.at ?? Number.POSITIVE_INFINITY) >= since);
    return Math.min(...young.map(({ desired }) => desired));
  }
}
