// The index of selectors never omits a matching one.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { selectorMatches } from '../../../src/api/selectors.ts';
import { SelectorIndex } from './selector-index.ts';

const name = fc.constantFrom('app', 'tier', 'zone');
const value = fc.constantFrom('a', 'b', 'c');
const labels = fc.dictionary(name, value);
const requirement = fc.record({
  key: name,
  operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
  values: fc.uniqueArray(value, { maxLength: 2 }),
});
const selector = fc.record({
  matchLabels: labels,
  matchExpressions: fc.array(requirement, { maxLength: 2 }),
});

describe('the index of selectors', () => {
  it('offers every selector that matches, and none of another namespace', () => {
    fc.assert(
      fc.property(fc.array(selector, { maxLength: 12 }), labels, (selectors, object) => {
        const index = new SelectorIndex();
        for (const [i, one] of selectors.entries()) index.set(`s${i}`, 'demo', one);
        const offered = index.candidates('demo', object);
        for (const [i, one] of selectors.entries()) {
          if (selectorMatches(one, object)) expect(offered).toContain(`s${i}`);
        }
        expect(index.candidates('other', object).size).toBe(0);
        for (const i of selectors.keys()) index.remove(`s${i}`);
        expect(index.candidates('demo', object).size).toBe(0);
      }),
    );
  });

  it('does not offer selectors of other values', () => {
    const index = new SelectorIndex();
    for (let i = 0; i < 50; i++) {
      index.set(`s${i}`, 'demo', { matchLabels: { team: 'all', app: `app${i}` } });
    }
    // The first selector is filed arbitrarily; every later one is distinguished by `app`.
    expect(index.candidates('demo', { team: 'all', app: 'app7' }).size).toBeLessThanOrEqual(2);
  });
});
