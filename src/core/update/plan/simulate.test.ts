// The model of one run: what is launched, evicted and late, and how long it takes, by strategy.
import { describe, expect, it } from 'vitest';
import { anInput, exactly, withSpread } from '../../../../test/builders/core-update-plan.ts';
import { boundsOf } from './bounds.ts';
import { simulate } from './simulate.ts';

const web = { allowed: 1, replace: 40 };
const seeds = Array.from({ length: 20 }, (_, i) => i + 1);

describe("EKS' strategy", () => {
  it('launches the surge, replaces every node and takes the surplus away one by one', () => {
    const result = simulate(anInput(3, [web], { zones: 3 }), 1);
    expect(result.launches).toBe(3 + 6);
    expect(result.drains).toHaveLength(3);
    // 120 s boot, 3 x (10 + 60 + 45), then six surplus nodes of 45 s each, those with pods 10 s
    // more.
    expect(result.seconds).toBeGreaterThanOrEqual(120 + 3 * 115 + 6 * 45);
    expect(result.late).toEqual([]);
  });

  it('evicts pods again that landed on nodes of the surplus', () => {
    const all = seeds.map((seed) => simulate(anInput(3, [{ ...web, perNode: 3 }]), seed));
    expect(Math.max(...all.map(({ evictions }) => evictions))).toBeGreaterThan(9);
  });

  it('drains nothing before the last of the surge is there', () => {
    const input = anInput(4, [web], { zones: 2 });
    const times = { ...input.times, boot: { p50: 100, p90: 400, source: 'test' } };
    const starts = seeds.map(
      (seed) => simulate({ ...input, times }, seed).drains[0]?.startSeconds ?? 0,
    );
    // Four boots are rarely all faster than the median.
    expect(starts.filter((start) => start > 100).length).toBeGreaterThan(15);
  });

  it('drains in an order of chance, which the seed decides', () => {
    const order = (seed: number) =>
      simulate(anInput(8, [web]), seed)
        .drains.map(({ node }) => node)
        .join(' ');
    expect(order(1)).toBe(order(1));
    expect(new Set(seeds.map(order)).size).toBeGreaterThan(10);
  });
});

describe('MINIMAL', () => {
  it('launches one for each node and waits for it before the next goes', () => {
    const input = anInput(3, [web], { strategy: 'MINIMAL', hasRoomElsewhere: true });
    // The replacement launches when its predecessor begins to terminate: the longer of 45 and 120
    // counts.
    expect(simulate(input, 1)).toMatchObject({ launches: 3, seconds: 3 * (10 + 60 + 120) });
    const times = { ...input.times, boot: exactly(30) };
    expect(simulate({ ...input, times }, 1).seconds).toBe(3 * (10 + 60 + 45));
  });

  it('is late where a budget waits for a place that only the next node brings', () => {
    const input = anInput(2, [{ ...web, perNode: 2 }], { strategy: 'MINIMAL' });
    const stuck = simulate(input, 1);
    expect(stuck).toMatchObject({ launches: 2, drains: [{}, {}] });
    expect(stuck.late).toHaveLength(1);
    expect(stuck.seconds).toBeGreaterThan(900);
    expect(simulate({ ...input, hasRoomElsewhere: true }, 1).late).toEqual([]);
  });
});

describe("Drover's strategy", () => {
  it.each([1, 2, 3])('launches as many as there are nodes, over %i zones', (zones) => {
    const input = anInput(9, [{ ...web, perNode: 3 }], { strategy: 'SURGE', zones });
    const result = simulate(input, 1);
    expect(result.launches).toBe(9);
    expect(result.evictions).toBe(27);
    expect(result.evictionsOfOnePod).toBe(1);
  });

  it('takes nodes that are not Ready and empty ones first', () => {
    const input = anInput(4, [web], { strategy: 'SURGE' });
    const nodes = input.nodes.map((node, i) => ({
      ...node,
      isReady: i !== 2,
      pods: i === 3 ? [] : node.pods,
    }));
    const order = simulate({ ...input, nodes }, 1).drains.map(({ node }) => node);
    expect(order.slice(0, 2)).toEqual(['n3', 'n4']);
  });

  it('never lets a budget keep a batch beyond the time of a drain', () => {
    const slow = { allowed: 1, replace: 300, perNode: 1 };
    const more = { maxUnavailable: 10, zones: 3 };
    const late = (strategy: 'DEFAULT' | 'SURGE') =>
      seeds.flatMap((seed) => simulate(anInput(30, [slow], { ...more, strategy }), seed).late);
    expect(late('SURGE')).toEqual([]);
    expect(late('DEFAULT').length).toBeGreaterThan(0);
  });
});

describe('a drain that is over its time', () => {
  const slow = { allowed: 1, replace: 400, perNode: 4 };
  it('is reported', () => {
    expect(simulate(anInput(1, [slow]), 1).late).toEqual(['n1']);
  });
  it('is shorter with force, whatever the budget says', () => {
    const free = simulate(anInput(1, [slow], { strategy: 'SURGE' }), 1);
    const forced = simulate(anInput(1, [slow], { strategy: 'SURGE', force: true }), 1);
    expect(free.seconds).toBe(120 + 3 * 400 + 10 + 105);
    expect(forced.seconds).toBe(120 + 900 + 10 + 105);
  });
});

describe('the lower bound', () => {
  it('is that of the nodes where budgets are wide', () => {
    const bounds = boundsOf(anInput(10, [{ allowed: 5, replace: 40 }], { maxUnavailable: 2 }));
    expect(bounds.lowerBound).toBe(120 + (10 * 115) / 2);
  });

  it('is that of the budget where its replacements are slow, with the k* from which on it is', () => {
    const bounds = boundsOf(anInput(30, [{ allowed: 1, replace: 300 }], { maxUnavailable: 10 }));
    expect(bounds.budgetBound).toBe(120 + 29 * 300 + 10 + 105);
    expect(bounds).toMatchObject({ lowerBound: bounds.budgetBound, budget: 'demo/b0', kStar: 1 });
  });

  const shapes = [1, 2, 3].flatMap((zones) =>
    [3, 10, 30].flatMap((count) =>
      [1, 3, 10].flatMap((maxUnavailable) =>
        (['DEFAULT', 'MINIMAL', 'SURGE'] as const).map(
          (strategy) => [count, zones, maxUnavailable, strategy] as const,
        ),
      ),
    ),
  );
  it.each(shapes)(
    'of %i nodes, %i zones, %i at once, %s is never beaten',
    (count, zones, m, strategy) => {
      const apps = [
        { allowed: 2, replace: 60, perNode: 2 },
        { allowed: 1, replace: 90, stateful: true },
      ];
      const input = anInput(count, apps, {
        zones,
        maxUnavailable: m,
        strategy,
        hasRoomElsewhere: true,
      });
      const { lowerBound } = boundsOf(input);
      for (const seed of seeds.slice(0, 5)) {
        expect(simulate(input, seed).seconds).toBeGreaterThanOrEqual(lowerBound - 1e-6);
      }
    },
  );
});

describe('spread', () => {
  it('makes runs differ, and longer than the sum of the medians, since times are skewed', () => {
    const input = withSpread(anInput(10, [web], { strategy: 'SURGE' }));
    const minutes = seeds.map((seed) => simulate(input, seed).seconds / 60);
    const median = simulate(input, 1, { medians: true }).seconds / 60;
    expect(Math.max(...minutes) / Math.min(...minutes)).toBeGreaterThan(1.1);
    expect(minutes.toSorted((a, b) => a - b)[10]).toBeGreaterThan(median);
  });
});
