// The nodes on which pods of a run land, compared with a plain scan of all nodes.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Room } from './room.ts';

type Step = { readonly app: number } | 'open' | 'close';
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ app: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.constant('open' as const) },
  { weight: 1, arbitrary: fc.constant('close' as const) },
);

/** Rank of a node: pods of the application, then all pods. */
const keyOf = (pods: readonly number[], app: number): number =>
  1000 * pods.filter((one) => one === app).length + pods.length;

it('a pod lands where fewest of its like are, then where fewest pods are, and nowhere when all are full', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 120 }),
      fc.integer({ min: 1, max: 6 }),
      (steps, most) => {
        const podsOf = Int32Array.of(9, 9, 9, 9);
        const room = new Room({ podRoom: most, podsOf, firstNode: 7, endNode: 127 });
        const nodes = new Map<number, number[]>();
        let opened = 7;
        for (const [pod, one] of steps.entries()) {
          if (one === 'open') {
            nodes.set(opened, []);
            room.open(opened++);
          } else if (one === 'close') {
            const [first] = nodes.keys();
            if (first === undefined) continue;
            nodes.delete(first);
            room.close(first);
          } else {
            const open = [...nodes.values()].filter(({ length }) => length < most);
            const best = Math.min(...open.map((pods) => keyOf(pods, one.app)));
            const node = room.take(one.app, pod);
            const pods = nodes.get(node);
            expect(pods === undefined).toBe(open.length === 0);
            if (pods === undefined) continue;
            expect(keyOf(pods, one.app)).toBe(best);
            expect(room.podsOf(node)).toHaveLength(pods.push(one.app));
          }
        }
      },
    ),
  );
});
