// Merge patches, checked against applying them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject, type Json, jsonEqual, objectOr } from '../api/json.ts';
import { mergePatchBetween } from './merge-diff.ts';

/** RFC 7386, section 2. */
const apply = (target: Json | undefined, patch: Json): Json => {
  if (!isObject(patch)) return patch;
  const out: Record<string, Json | undefined> = { ...objectOr(target) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key];
    else if (value !== undefined) out[key] = apply(out[key], value);
  }
  return out;
};

describe('mergePatchBetween', () => {
  it.each([
    [{ a: 1 }, { a: 1 }, undefined],
    [undefined, { a: 1 }, { a: 1 }],
    [{ a: 1, b: 2 }, { a: 1 }, { b: null }],
    [{ z: { a: 1, b: 1 } }, { z: { b: 2 } }, { z: { a: null, b: 2 } }],
    [{ list: [1, 2] }, { list: [2] }, { list: [2] }],
    [{ a: 1 }, { a: undefined }, { a: null }],
    [{ z: 1 }, { z: { a: 1 } }, { z: { a: 1 } }],
  ])('%j -> %j is %j', (before, after, expected) => {
    expect(mergePatchBetween(before, after)).toEqual(expected);
  });

  it('always leads from one to the other', () => {
    const leaf = fc.oneof(fc.nat(2), fc.boolean(), fc.constant('x'), fc.array(fc.nat(2)));
    const { tree } = fc.letrec<{ tree: Record<string, unknown> }>((tie) => ({
      tree: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(leaf, tie('tree')), {
        maxKeys: 3,
        depthIdentifier: 'd',
      }),
    }));
    fc.assert(
      fc.property(tree, tree, (before, after) => {
        const patch = mergePatchBetween(before, after);
        if (patch === undefined) expect(jsonEqual(before, after)).toBe(true);
        else expect(apply(before as Json, patch)).toEqual(after);
      }),
    );
  });
});
