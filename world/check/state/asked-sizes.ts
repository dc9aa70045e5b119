// The largest size that the controller may request for a node group, from earlier versions of the
// NodeGroup: the stated desired size, an update's surge and its instances to terminate. Judges
// nothing.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { Scaling } from './cloud.ts';
import { numberOf, objectsOf } from './read.ts';

/** Undefined if neither spec nor status states a size: Auto Scaling then keeps its own. */
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

/** Sizes of calls that the status of the NodeGroup announces. */
const notedOf = ({ status }: JsonObject): readonly number[] =>
  objectsOf(objectOr(status).sizeCalls).flatMap(({ desired }) => numberOf(desired) ?? []);

export class RequestedSizes {
  readonly #told = new Map<string, readonly Told[]>();
  /** Current and previous desired size by Auto Scaling group. */
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
   * Whether a call that sets `desired` makes the group larger. The trace may show the effect of a
   * call before the call.
   */
  grows(group: string, desired: number): boolean {
    const size = this.#sizes.get(group);
    if (size === undefined) return false;
    return desired > (size.now === desired ? size.before : size.now);
  }

  /** The NodeGroup's status announces such a call. */
  isNoted(group: string, desired: number): boolean {
    return this.#noted.get(group)?.has(desired) ?? false;
  }

  /**
   * The largest allowed size since then; undefined for a group without a NodeGroup in the trace.
   */
  most(group: string, since: number): number | undefined {
    const all = this.#told.get(group);
    if (all === undefined) return undefined;
    const young = all.filter((_, i) => (all[i + 1]?.at ?? Number.POSITIVE_INFINITY) >= since);
    return Math.max(...young.map(({ most }) => most));
  }
}
