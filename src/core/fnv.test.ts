import { describe, expect, it } from 'vitest';
import { fnv1a, fnv1aHex } from './fnv.ts';

describe('FNV-1a of a text', () => {
  it.each([
    ['', '811c9dc5'],
    ['a', 'e40c292c'],
    ['b', 'e70c2de5'],
    ['foobar', 'bf9cf968'],
  ])('%j is %s, as the reference has it', (text, hex) => {
    expect(fnv1aHex(text)).toBe(hex);
    expect(fnv1a(text)).toBe(Number.parseInt(hex, 16));
  });

  it('is another from another beginning', () => {
    expect(fnv1a('a', 1)).not.toBe(fnv1a('a'));
  });
});
