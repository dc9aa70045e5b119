// The next node of a run, compared with a plain choice that examines every node and budget each
// time.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anInput } from '../../../../test/builders/core-update-plan.ts';
import { Candidates, type Field } from './candidates.ts';
import { type Compiled, compile } from './compiled.ts';

const drainTimeoutSeconds = 900;

interface Drawn {
  readonly model: Compiled;
  readonly outstanding: Int32Array;
  readonly left: Int32Array;
}

/** Up to 24 nodes in three zones with up to three pods of each of three budgets. */
const drawn: fc.Arbitrary<Drawn> = fc
  .record({
    nodes: fc.array(
      fc.record({
        zone: fc.constantFrom('a', 'b', 'c'),
        isReady: fc.boolean(),
        isHopeless: fc.boolean(),
        counts: fc.array(fc.nat(3), { minLength: 3, maxLength: 3 }),
      }),
      { minLength: 1, maxLength: 24 },
    ),
    replace: fc.array(fc.integer({ min: 20, max: 900 }), { minLength: 3, maxLength: 3 }),
    allowed: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 3, maxLength: 3 }),
    outstanding: fc.array(fc.nat(5), { minLength: 3, maxLength: 3 }),
    left: fc.array(fc.nat(40), { minLength: 3, maxLength: 3 }),
  })
  .map(({ nodes, replace, allowed, outstanding, left }) => {
    const apps = replace.map((seconds, i) => ({ replace: seconds, allowed: allowed[i] ?? 1 }));
    const input = anInput(0, apps, { strategy: 'SURGE', drainTimeoutSeconds });
    const model = compile({
      ...input,
      nodes: nodes.map(({ counts, ...node }, i) => ({
        ...node,
        name: `n${i}`,
        pods: counts.flatMap((count, app) =>
          Array.from({ length: count }, (_, pod) => ({ name: `p${pod}`, app })),
        ),
      })),
    });
    return { model, outstanding: Int32Array.from(outstanding), left: Int32Array.from(left) };
  });

const rounds = (pods: number, allowed: number): number => Math.ceil(pods / allowed);

/** By the rules of core/update/strategies/surge.ts, node by node. */
const plainChoice = (
  { model, outstanding, left }: Drawn,
  { hasSpare, isAlone, perZone }: Pick<Field, 'hasSpare' | 'isAlone' | 'perZone'>,
  gone: ReadonlySet<number>,
): number => {
  const { input, allowed, zoneOf } = model;
  const keys = input.nodes.flatMap((node, index) => {
    const loads = input.budgets.flatMap((_, budget) => {
      const count = node.pods.filter(({ app }) => input.apps[app]?.budget === budget).length;
      const seconds = (input.apps[budget]?.replace.p50 ?? 0) + 30;
      const most = allowed[budget] ?? 1;
      const out = outstanding[budget] ?? 0;
      const chain = ((left[budget] ?? 0) / most) * seconds;
      return count === 0 ? [] : [{ count, seconds, most, out, chain }];
    });
    const beside = loads.map((one) => rounds(one.out + one.count, one.most) * one.seconds);
    const alone = loads.map((one) => rounds(one.count, one.most) * one.seconds);
    const isHeld = !isAlone && beside.some((took) => took > 0.9 * drainTimeoutSeconds);
    if (gone.has(index) || isHeld || (node.isReady && !hasSpare)) return [];
    const plainRank = node.isHopeless === true ? 3 : 2;
    const rank = node.isReady ? (node.pods.length === 0 ? 1 : plainRank) : 0;
    const wait = Math.max(0, ...beside) - Math.max(0, ...alone);
    const chain = Math.max(0, ...loads.map((one) => one.chain));
    return [[rank, -(perZone[zoneOf[index] ?? 0] ?? 0), wait, -chain, index]];
  });
  const [first] = keys.toSorted((a, b) => {
    const at = a.findIndex((one, i) => one !== b[i]);
    return (a[at] ?? 0) - (b[at] ?? 0);
  });
  return first?.[4] ?? -1;
};

describe('the next node of a run', () => {
  it.each([
    ['beside others', { hasSpare: true, isAlone: false }],
    ['alone', { hasSpare: true, isAlone: true }],
    ['where none that serves may go', { hasSpare: false, isAlone: false }],
  ])('is that of the plain rules, %s, until none is left', (_, flags) => {
    fc.assert(
      fc.property(drawn, (one) => {
        const { model, outstanding, left } = one;
        const order = model.input.nodes.map((_node, i) => i);
        const candidates = new Candidates(model, order);
        const perZone = new Int32Array(4);
        for (const zone of model.zoneOf) perZone[zone] = (perZone[zone] ?? 0) + 1;
        const gone = new Set<number>();
        for (let i = 0; i <= order.length; i++) {
          const expected = plainChoice(one, { ...flags, perZone }, gone);
          const { node } = candidates.next({ ...flags, perZone, outstanding, left });
          expect(node).toBe(expected);
          if (node === -1) break;
          gone.add(node);
          const zone = model.zoneOf[node] ?? 0;
          perZone[zone] = (perZone[zone] ?? 0) - 1;
        }
      }),
    );
  });

  it('comes back when the budget that held it is less in use, and says before that it is held', () => {
    const input = anInput(2, [{ replace: 300, allowed: 1 }], { strategy: 'SURGE' });
    const model = compile(input);
    const candidates = new Candidates(model, [0, 1]);
    const outstanding = Int32Array.of(2);
    const about = {
      hasSpare: true,
      isAlone: false,
      perZone: Int32Array.of(2),
      left: Int32Array.of(2),
    };
    expect(candidates.next({ ...about, outstanding })).toEqual({ node: -1, isHeldByGate: true });
    expect(candidates.hasFree).toBe(false);
    outstanding[0] = 1;
    candidates.eased(0, 1);
    expect(candidates.hasFree).toBe(true);
    expect(candidates.next({ ...about, outstanding }).node).toBe(0);
    expect(candidates.size).toBe(1);
  });
});
