// Predicts the zone in which EC2 Auto Scaling launches a replacement, so that zones end within one
// node of each other and need no rebalancing. Auto Scaling launches in the zone with the fewest
// instances; the update controls only which old node is terminated next. Pure.

type Counts = ReadonlyMap<string, number>;

const add = (counts: Map<string, number>, zone: string, by: number): void => {
  counts.set(zone, (counts.get(zone) ?? 0) + by);
};

const fewest = (counts: Counts): readonly string[] => {
  const least = Math.min(...counts.values());
  return [...counts].filter(([, count]) => count === least).map(([zone]) => zone);
};

interface Zones {
  /** Every zone with at least one instance. */
  readonly zones: Iterable<string>;
  /** `staying`: the zone of each instance that stays, old or new. `fresh`: of the new ones only. */
  readonly staying: readonly string[];
  readonly fresh: readonly string[];
  /** Requested new instances whose zone is not known yet. */
  readonly pending: number;
  /** The number of new nodes at the end of the update. */
  readonly wanted: number;
}

/** How well zones end up if a node of a zone is replaced next. */
export type ZonePlacement =
  /** The replacement lands in a zone without new nodes, or every zone has its first one. */
  | 'wanted'
  /**
   * The replacement lands in a zone that needs more, while another zone waits for its first one.
   */
  | 'later'
  /** The replacement may land in a zone that would end with too many. */
  | 'elsewhere';

/** A model of the group's zones that is updated with each choice. */
export class ZonePlacements {
  readonly #staying = new Map<string, number>();
  readonly #fresh = new Map<string, number>();
  readonly #wanted: number;

  constructor({ zones, staying, fresh, pending, wanted }: Zones) {
    this.#wanted = wanted;
    for (const zone of zones) {
      this.#staying.set(zone, 0);
      this.#fresh.set(zone, 0);
    }
    for (const zone of staying) add(this.#staying, zone, 1);
    for (const zone of fresh) add(this.#fresh, zone, 1);
    for (let i = 0; i < pending; i++) this.#launch();
  }

  of(zone: string): ZonePlacement {
    const after = new Map(this.#staying);
    add(after, zone, -1);
    const lacking = this.#lacking();
    const places = fewest(after);
    if (places.some((place) => !lacking.has(place))) return 'elsewhere';
    const isBare = (place: string): boolean => this.#fresh.get(place) === 0;
    return places.every(isBare) || ![...lacking].some(isBare) ? 'wanted' : 'later';
  }

  /** Records that a node of the zone is terminated. */
  take(zone: string, { isReplaced }: { readonly isReplaced: boolean }): void {
    add(this.#staying, zone, -1);
    if (isReplaced) this.#launch();
  }

  /** Among the smallest zones Auto Scaling chooses arbitrarily; assume one that lacks new nodes. */
  #launch(): void {
    const lacking = this.#lacking();
    const places = fewest(this.#staying);
    const place = places.find((one) => lacking.has(one)) ?? places[0];
    if (place === undefined) return;
    add(this.#staying, place, 1);
    add(this.#fresh, place, 1);
  }

  #lacking(): ReadonlySet<string> {
    return spreadOut(this.#fresh, this.#wanted).lacking;
  }
}

interface SpreadOut {
  /** New nodes per zone at the end. */
  readonly counts: Counts;
  /** Zones that need more new nodes. */
  readonly lacking: ReadonlySet<string>;
}

/** By how much the smallest zones can grow until they are as large as the next larger one. */
const upToNext = (counts: Counts, least: number): number => {
  let next = Number.POSITIVE_INFINITY;
  for (const count of counts.values()) if (count > least && count < next) next = count;
  return next - least;
};

/**
 * The most even distribution that `wanted` new nodes can still reach. Proceeds by zone, not by
 * node.
 */
const spreadOut = (fresh: Counts, wanted: number): SpreadOut => {
  const counts = new Map(fresh);
  const lacking = new Set<string>();
  let left = wanted - [...counts.values()].reduce((sum, count) => sum + count, 0);
  while (left > 0 && counts.size > 0) {
    const places = fewest(counts);
    const rise = upToNext(counts, counts.get(places[0] ?? '') ?? 0);
    const rounds = Math.max(1, Math.min(rise, Math.floor(left / places.length)));
    // The remainder may land in any of these zones.
    for (const [at, zone] of places.entries()) {
      lacking.add(zone);
      if (at < left) add(counts, zone, rounds);
    }
    left -= rounds * places.length;
  }
  return { counts, lacking };
};

/** From this difference on Auto Scaling may rebalance zones. */
const uneven = 2;

const isEven = (counts: Counts): boolean =>
  Math.max(...counts.values()) - Math.min(...counts.values()) < uneven;

/**
 * How many of `surge` new nodes may be launched before the first drain: at least one, and as many
 * as keep zones balanced at the end, whichever of the smallest zones Auto Scaling chooses. If the
 * surge covers every old node, all are launched: with too few new nodes, pods would move to old
 * nodes first.
 */
export const evenSurge = (
  surge: number,
  {
    zones,
    old,
    fresh,
  }: {
    /** The zones of the group, and the zone of each old and new instance. */
    readonly zones: readonly string[];
    readonly old: readonly string[];
    readonly fresh: readonly string[];
  },
): number => {
  const all = new Map<string, number>([...zones, ...old, ...fresh].map((zone) => [zone, 0]));
  const made = new Map(all);
  for (const zone of [...old, ...fresh]) add(all, zone, 1);
  for (const zone of fresh) add(made, zone, 1);
  const wanted = old.length + fresh.length;
  if (surge >= old.length || !isEven(spreadOut(made, wanted).counts)) return surge;
  let most = Math.min(surge, 1);
  for (let count = 1; count <= surge; count++) {
    // Assume the worst choice among the smallest zones.
    const [zone = ''] = fewest(all).toSorted((a, b) => (made.get(b) ?? 0) - (made.get(a) ?? 0));
    add(all, zone, 1);
    add(made, zone, 1);
    if (isEven(spreadOut(made, wanted).counts)) most = count;
    else break;
  }
  return most;
};
