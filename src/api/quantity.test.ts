// Common quantities are parsed without big integers; a text with a sign takes the exact path and
// keeps its value.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { quantityValue } from './quantity.ts';

const suffix = fc.constantFrom('', 'm', 'Ki', 'Mi', 'Gi');

it('a usual text has the value of the exact parser, to the last digit', () => {
  fc.assert(
    fc.property(fc.nat(999_999_999), suffix, (digits, unit) => {
      const text = `${digits}${unit}`;
      const [usual, exact] = [quantityValue(text), quantityValue(`+${text}`)];
      expect(Math.abs(usual - exact)).toBeLessThanOrEqual(2 * Number.EPSILON * exact);
    }),
  );
});

it.each([
  ['250m', 0.25],
  ['70Mi', 73_400_320],
  ['1.5', 1.5],
  ['2e3', 2000],
  ['four', 0],
  [undefined, 0],
  [3, 3],
])('%s is %d', (text, value) => {
  expect(quantityValue(text)).toBe(value);
});
