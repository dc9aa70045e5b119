import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duplicateMembers } from './duplicate-members.ts';

describe('members that a JSON text has twice', () => {
  it.each([
    ['{}', []],
    ['{"a":1,"b":{"a":1}}', []],
    ['{"a":1,"a":2,"a":3}', ['a']],
    ['{"a":{"b":1,"b":2}}', ['a.b']],
    ['[{"op":1,"op":2},{"op":1}]', ['[0].op']],
    ['{"a":[1,{"b":[[],{"c":1,"c":2}]}]}', ['a[1].b[1].c']],
    ['{"a,{":"}]","x":"\\\\","a,{":"\\"a\\""}', ['a,{']],
    ['{"\\u0061":1,"a":2}', ['a']],
    ['{"a":1, "b": {"a": 1} , "a" : {"a":1}}', ['a']],
    ['{"a":["x","x"],"b":"a","c":"a"}', []],
    ['"a"', []],
  ] as const)('%s', (text, paths) => {
    expect(duplicateMembers(text)).toEqual(paths);
  });

  it('are none in what JSON.stringify writes, however deep', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        const once = JSON.stringify(JSON.parse(text));
        expect(duplicateMembers(once)).toEqual([]);
      }),
    );
    expect(duplicateMembers(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)).toEqual([]);
  });
});
