// The most instances that a node group may be asked to have, as the oracles read it: what people
// want, an update's surge and those that it retires, as the NodeGroup told them before. Judges
// nothing.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { Scaling } from './cloud.ts';
import { numberOf, objectsOf } from './read.ts';

/** Undefined where nobody has stated a size: then it is Auto Scaling's own. */
const mostOf = ({ spec, status }: JsonObject): number | undefined => {
  const { desired: surge, retiring, base } = objectOr(objectOr(status).surge);
  const stated = numberOf(objectOr(objectOr(spec).scaling).desired) ?? numberOf(base);
  if (stated === undefined) return undefined;
  return stated + (numberOf(surge) ?? 0) + (numberOf(retiring) ?? 0);
};

interface Told {
  readonly at: number;
  readonly most: number;
}

/** What leaders noted that they would ask for. */
const notedOf = ({ status }: JsonObject): readonly number[] =>
  objectsOf(objectOr(status).sizeCalls).flatMap(({ desired }) => numberOf(desired) ?? []);

export class AskedSizes {
  readonly #told = new Map<string, readonly Told[]>();
  /** Of each Auto Scaling group its size, and the one before. */
  readonly #sizes = new Map<string, { readonly now: number; readonly before: number }>();
  readonly #noted = new Map<string, ReadonlySet<number>>();

  take(group: string, at: number, object: JsonObject): void {
    this.#noted.set(group, new Set(notedOf(object)));
    const most = mostOf(object) ?? Number.POSITIVE_INFINITY;
    const all = this.#told.get(group) ?? [];
    if (all.at(-1)?.most !== most) this.#told.set(group, [...all.slice(-20), { at, most }]);
  }

  scaled({ autoScalingGroupName, desired }: Scaling): void {
    const now = this.#sizes.get(autoScalingGroupName)?.now ?? desired;
    if (now !== desired) this.#sizes.set(autoScalingGroupName, { now: desired, before: now });
    else if (!this.#sizes.has(autoScalingGroupName)) {
      this.#sizes.set(autoScalingGroupName, { now, before: now });
    }
  }

  /**
   * Whether a call that sets `desired` makes the group larger; what it did may be known before the
   * call is.
   */
  grows(group: string, desired: number): boolean {
    const size = this.#sizes.get(group);
    if (size === undefined) return false;
    return desired > (size.now === desired ? size.before : size.now);
  }

  /** A leader announced such a call, and none of its successors has forgotten it. */
  isNoted(group: string, desired: number): boolean {
    return this.#noted.get(group)?.has(desired) ?? false;
  }

  /** The most of what was told since then; undefined of a group that nobody has told of. */
  most(group: string, since: number): number | undefined {
    const all = this.#told.get(group);
    if (all === undefined) return undefined;
    const young = all.filter((_, i) => (all[i + 1]?.at ?? Number.POSITIVE_INFINITY) >= since);
    return Math.max(...young.map(({ most }) => most));
  }
}
