// The desired size of a node group without an update's surge, as the oracles read it, with versions
// that a controller may not have seen yet. Judges nothing.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { numberOf, textOf } from './read.ts';

/** The desired size in the spec, else the noted base, else the reported size minus the surge. */
const wantedOf = ({ spec, status }: JsonObject): number => {
  const { desired, surge } = objectOr(status);
  const stated = numberOf(objectOr(objectOr(spec).scaling).desired);
  const { base, desired: more } = objectOr(surge);
  return stated ?? numberOf(base) ?? (numberOf(desired) ?? 0) - (numberOf(more) ?? 0);
};

/** Recent desired sizes; the controller may have seen any of them. */
export class Wanted {
  readonly #told = new Map<string, { readonly at: number; readonly desired: number }[]>();

  /** Takes in one version of a NodeGroup (`at`: microseconds). */
  take(group: JsonObject, at: number): void {
    const nodeGroup = textOf(objectOr(group.metadata).name);
    const desired = wantedOf(group);
    const all = this.#told.get(nodeGroup) ?? [];
    if (all.at(-1)?.desired !== desired) this.#told.set(nodeGroup, [...all, { at, desired }]);
  }

  /** The smallest recent desired size; Infinity for a group that is not in the trace. */
  least(nodeGroup: string, since: number): number {
    const all = this.#told.get(nodeGroup) ?? [];
    const young = all.filter((_, i) => (all[i + 1]?.at ?? Number.POSITIVE_INFINITY) >= since);
    return Math.min(...young.map(({ desired }) => desired));
  }
}
