// Zone placement of replacements, over distributions of nodes across zones. Each zone gets its
// first new node before any gets another by choice. No zone ends with two more than another,
// however EC2 Auto Scaling breaks ties.
import { describe, expect, it } from 'vitest';
import { evenSurge, type ZonePlacement, ZonePlacements } from './zone-placement.ts';

const zones = ['a', 'b', 'c'] as const;
type Zone = (typeof zones)[number];
type PerZone = Readonly<Record<Zone, number>>;

const orders: readonly (readonly Zone[])[] = [
  ['a', 'b', 'c'],
  ['c', 'b', 'a'],
  ['b', 'a', 'c'],
];
const worst: Readonly<Record<ZonePlacement, number>> = { wanted: 0, later: 1, elsewhere: 2 };
const listOf = (counts: PerZone): readonly Zone[] =>
  zones.flatMap((zone) => Array.from({ length: counts[zone] }, () => zone));
const sumOf = (counts: PerZone): number => listOf(counts).length;

/**
 * An update of one node at a time: first the surge, then each old node is replaced or terminated
 * with decrement.
 */
const update = (old: PerZone, most: number, order: readonly Zone[]) => {
  const left = { ...old };
  const fresh = { a: 0, b: 0, c: 0 };
  const wanted = sumOf(old);
  const total = (zone: Zone): number => left[zone] + fresh[zone];
  const launch = (): Zone => {
    const [zone = 'a'] = order.toSorted((x, y) => total(x) - total(y));
    fresh[zone] += 1;
    return zone;
  };
  const surge = evenSurge(most, { zones, old: listOf(old), fresh: [] });
  for (let i = 0; i < surge; i++) launch();
  let extra = surge;
  const started: Zone[] = [];
  while (sumOf(left) > 0) {
    const placements = new ZonePlacements({
      zones,
      staying: [...listOf(left), ...listOf(fresh)],
      fresh: listOf(fresh),
      pending: 0,
      wanted,
    });
    const rank = (zone: Zone): number => worst[placements.of(zone)];
    const fullest = order.filter((zone) => left[zone] > 0).toSorted((x, y) => total(y) - total(x));
    const best = fullest.toSorted((x, y) => rank(x) - rank(y))[0] ?? 'a';
    const isReplaced = sumOf(fresh) < wanted && (rank(best) < worst.elsewhere || extra === 0);
    left[isReplaced ? best : (fullest[0] ?? 'a')] -= 1;
    if (isReplaced) started.push(launch());
    else extra -= 1;
  }
  return { fresh, started };
};

const spread = (counts: PerZone): number =>
  Math.max(...Object.values(counts)) - Math.min(...Object.values(counts));

const upTo = [0, 1, 2, 3, 4, 5];
const distributions = upTo.flatMap((a) => upTo.flatMap((b) => upTo.map((c) => ({ a, b, c }))));

describe('zones of an update', () => {
  it.each(orders)('end even, ties broken %s %s %s', (...order) => {
    for (const old of distributions.filter((one) => sumOf(one) > 0)) {
      const inUse = zones.filter((zone) => old[zone] > 0).length;
      for (const most of [inUse, 1, Math.min(inUse + 1, sumOf(old)), sumOf(old)]) {
        const { fresh } = update(old, most, order);
        expect(sumOf(fresh)).toBe(sumOf(old));
        const told = `${JSON.stringify({ old, most })} -> ${JSON.stringify(fresh)}`;
        // All at once leaves no choice.
        if (most >= sumOf(old)) continue;
        expect(spread(fresh), told).toBeLessThan(2);
      }
    }
  });

  it('give the first replacement to the zone that got no new node', () => {
    // Auto Scaling launches the third of the first new nodes in a zone of its choice.
    const { fresh, started } = update({ a: 1, b: 1, c: 2 }, 3, ['a', 'b', 'c']);
    expect(started).toEqual(['c']);
    expect(fresh).toEqual({ a: 2, b: 1, c: 1 });
  });
});

describe('a replacement', () => {
  const of = (staying: string, fresh: string, more: { pending?: number; wanted?: number } = {}) =>
    new ZonePlacements({
      zones,
      staying: [...staying],
      fresh: [...fresh],
      pending: more.pending ?? 0,
      wanted: more.wanted ?? 4,
    });

  it.each<readonly [string, string, string, ZonePlacement]>([
    ['stays in its zone where that is the emptiest then', 'aaabbcc', 'c', 'wanted'],
    ['of the fullest zone may land anywhere', 'aaabbcc', 'a', 'elsewhere'],
    ['lands where there are enough', 'aaabbcc', 'b', 'elsewhere'],
  ])('%s', (_, staying, zone, placement) => {
    expect(of(staying, 'aab').of(zone)).toBe(placement);
  });

  it('in another zone comes later than the first of a zone', () => {
    const placements = of('aaabbbccc', 'ab', { wanted: 9 });
    expect(placements.of('a')).toBe('later');
    expect(placements.of('c')).toBe('wanted');
  });

  it('that was asked for and has no zone yet counts where it will land', () => {
    expect(of('aabbc', 'ab', { pending: 1, wanted: 3 }).of('a')).toBe('elsewhere');
  });

  it('counts where it lands once its node was chosen', () => {
    const placements = of('aaabbbccc', 'abc', { wanted: 6 });
    placements.take('a', { isReplaced: true });
    expect(placements.of('a')).toBe('elsewhere' satisfies ZonePlacement);
    expect(placements.of('b')).toBe('wanted');
  });
});

describe('the first new nodes', () => {
  const of = (surge: number, old: string, fresh = '') =>
    evenSurge(surge, { zones, old: [...old], fresh: [...fresh] });

  it.each<readonly [string, number, string, number]>([
    ['one in each zone, where zones are even', 3, 'abc', 3],
    ['as many as may be unavailable', 10, 'aaaaabbbbbccccc', 10],
    ['fewer where chance could give a zone too many', 3, 'aabb', 2],
    ['one where a zone without nodes would get them all', 2, 'abb', 1],
    ['all, where there is one for each old node', 2, 'ab', 2],
    ['one at least', 1, 'abcc', 1],
    ['none of none', 0, 'abc', 0],
  ])('are %s', (_, surge, old, most) => {
    expect(of(surge, old)).toBe(most);
  });

  it('count those of an update before', () => {
    expect(of(2, 'ab', 'cc')).toBe(2);
    expect(of(3, 'abbb', 'aac')).toBeLessThan(3);
  });
});
