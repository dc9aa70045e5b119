// `pattern`'s search for the cluster of a text, compared with testing each cluster, and its work
// limit.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QueryLimitError } from '../language/query-error.ts';
import { MemoryBudget } from '../stages/budget.ts';
import { Leaders, Steps } from './leaders.ts';

const vocabularySize = 6;
const leadersOf = (steps: Steps, budget = new MemoryBudget(1_000_000)) =>
  new Leaders({ vocabularySize, steps, budget });

/** The first leader that shares half of the words. */
const compared = (leaders: readonly Int32Array[], words: Int32Array): number | undefined => {
  const found = leaders.findIndex(
    (leader) => leader.filter((word, at) => word === words[at]).length >= words.length / 2,
  );
  return found === -1 ? undefined : found;
};

describe('leaders', () => {
  it('are found as by comparing with each of them', () => {
    const texts = fc.integer({ min: 0, max: 9 }).chain((length) =>
      fc.array(fc.array(fc.nat(vocabularySize - 1), { minLength: length, maxLength: length }), {
        maxLength: 60,
      }),
    );
    fc.assert(
      fc.property(texts, (all) => {
        const [leaders, seen]: [Leaders, Int32Array[]] = [leadersOf(new Steps()), []];
        for (const words of all.map((one) => Int32Array.from(one))) {
          const found = leaders.find(words);
          expect(found).toBe(compared(seen, words));
          if (found !== undefined) continue;
          leaders.add(words);
          seen.push(words);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are not looked at where no word is shared', () => {
    const leaders = new Leaders({
      vocabularySize: 2000,
      steps: new Steps(10_000),
      budget: new MemoryBudget(1_000_000),
    });
    // Comparing all pairs would take two million steps.
    for (let word = 0; word < 2000; word++) {
      expect(leaders.find(Int32Array.of(word))).toBeUndefined();
      leaders.add(Int32Array.of(word));
    }
  });

  it('are refused beyond so much work, with the remedy', () => {
    const steps = new Steps(100);
    const leaders = leadersOf(steps);
    const look = () => {
      for (let first = 0; first < 6; first++) {
        for (let second = 0; second < 6; second++) {
          const words = Int32Array.of(first, second, (first + second) % 6, (first * second) % 6, 0);
          if (leaders.find(words) === undefined) leaders.add(words);
        }
      }
    };
    expect(look).toThrow(QueryLimitError);
    expect(look).toThrow(/compare words more than 100 times: .*; add a `filter`, or take/);
  });

  it('are charged for, and given back when a build is done', () => {
    const budget = new MemoryBudget(1000);
    const once = () => {
      const leaders = leadersOf(new Steps(), budget);
      leaders.add(Int32Array.of(1, 2, 3, 4, 5));
      leaders.end();
    };
    expect(() => [once(), once(), once()]).not.toThrow();
    const leaders = leadersOf(new Steps(), budget);
    expect(() => leaders.add(new Int32Array(9))).toThrow(/little in common; add a `filter`/);
  });
});
