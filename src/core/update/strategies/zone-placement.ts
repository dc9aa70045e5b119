// Where EC2 Auto Scaling starts the node that replaces an old one, and where new ones are still
// wanted so that no zone ends with two more than another: it would start and end nodes to even them
// out afterwards. Auto Scaling launches where the group has fewest instances; which old node goes
// first is what an update can choose. Pure.

type Counts = ReadonlyMap<string, number>;

const add = (counts: Map<string, number>, zone: string, by: number): void => {
  counts.set(zone, (counts.get(zone) ?? 0) + by);
};

const fewest = (counts: Counts): readonly string[] => {
  const least = Math.min(...counts.values());
  return [...counts].filter(([, count]) => count === least).map(([zone]) => zone);
};

interface Zones {
  /** Of every zone that has any instance. */
  readonly zones: Iterable<string>;
  /** The zone of each instance that stays, of both revisions, and of each of them that is new. */
  readonly staying: readonly string[];
  readonly fresh: readonly string[];
  /** New instances that were asked for and have no zone yet. */
  readonly pending: number;
  /** As many new nodes there are to be at the end. */
  readonly wanted: number;
}

/** How good it is that a node of a zone goes now and is replaced. */
export type Landing =
  /** Its replacement comes to a zone that has no new node yet, or no zone waits for its first. */
  | 'wanted'
  /** It comes to where more are wanted, and another zone waits for its first. */
  | 'later'
  /** It may come to a zone that would end with too many. */
  | 'elsewhere';

/** A picture of the group that follows each choice. */
export class Landings {
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

  of(zone: string): Landing {
    const after = new Map(this.#staying);
    add(after, zone, -1);
    const lacking = this.#lacking();
    const places = fewest(after);
    if (places.some((place) => !lacking.has(place))) return 'elsewhere';
    const isBare = (place: string): boolean => this.#fresh.get(place) === 0;
    return places.every(isBare) || ![...lacking].some(isBare) ? 'wanted' : 'later';
  }

  /** A node of the zone goes. */
  take(zone: string, { isReplaced }: { readonly isReplaced: boolean }): void {
    add(this.#staying, zone, -1);
    if (isReplaced) this.#launch();
  }

  /** Of zones with equally many, one that lacks new nodes: who knows. */
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
  /** Of new nodes, at the end. */
  readonly counts: Counts;
  /** Zones in which more are to be started. */
  readonly lacking: ReadonlySet<string>;
}

/** By how much zones of the fewest may grow before they have as many as the next. */
const upToNext = (counts: Counts, least: number): number => {
  let next = Number.POSITIVE_INFINITY;
  for (const count of counts.values()) if (count > least && count < next) next = count;
  return next - least;
};

/**
 * New nodes as even as they still can become, `wanted` of them in all. Takes steps by zones, not by
 * nodes.
 */
const spreadOut = (fresh: Counts, wanted: number): SpreadOut => {
  const counts = new Map(fresh);
  const lacking = new Set<string>();
  let left = wanted - [...counts.values()].reduce((sum, count) => sum + count, 0);
  while (left > 0 && counts.size > 0) {
    const places = fewest(counts);
    const rise = upToNext(counts, counts.get(places[0] ?? '') ?? 0);
    const rounds = Math.max(1, Math.min(rise, Math.floor(left / places.length)));
    // What is left may go to any of these.
    for (const [at, zone] of places.entries()) {
      lacking.add(zone);
      if (at < left) add(counts, zone, rounds);
    }
    left -= rounds * places.length;
  }
  return { counts, lacking };
};

/** Auto Scaling may even zones out from this difference on. */
const uneven = 2;

const isEven = (counts: Counts): boolean =>
  Math.max(...counts.values()) - Math.min(...counts.values()) < uneven;

/**
 * How many of `surge` new nodes may be started before the first old one goes: as many as leave
 * zones even at the end, wherever Auto Scaling starts them of zones that have equally few; one at
 * least. Where there is one for every old node they all are: pods that find too few new nodes go to
 * old ones, and are moved twice.
 */
export const evenSurge = (
  surge: number,
  {
    zones,
    old,
    fresh,
  }: {
    /** Of the group, and the zone of each of its instances. */
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
    // Chance at its worst.
    const [zone = ''] = fewest(all).toSorted((a, b) => (made.get(b) ?? 0) - (made.get(a) ?? 0));
    add(all, zone, 1);
    add(made, zone, 1);
    if (isEven(spreadOut(made, wanted).counts)) most = count;
    else break;
  }
  return most;
};
