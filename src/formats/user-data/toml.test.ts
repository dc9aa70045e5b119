// TOML with the place of every value: what TOML 1.0 accepts and refuses, and that printing and
// parsing are inverse. Samples: article 003, bottlerocket-os/bottlerocket#2024 and #2057, toml.io.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../api/json.ts';
import { find, toJson } from './located.ts';
import { parseToml, printToml } from './toml.ts';

const read = (text: string): unknown => {
  const { value, faults } = parseToml(text);
  return faults.length > 0
    ? faults.map(({ at, message }) => `${at.line}:${at.column} ${message}`)
    : toJson(value);
};

describe('TOML', () => {
  it.each([
    [
      "settings.kubernetes.node-labels.'a/b' = '1'",
      { settings: { kubernetes: { 'node-labels': { 'a/b': '1' } } } },
    ],
    [
      'a = 1 # c\n[b]\nc = true\n[b.d]\ne = [1, 2,\n 3,]',
      { a: 1, b: { c: true, d: { e: [1, 2, 3] } } },
    ],
    ['[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 3', { a: [{ b: 1 }, { b: 2, c: { d: 3 } }] }],
    ['a = """\nx\\\n   y"""\nb = \'\'\'\n\\n\'\'\'', { a: 'xy', b: '\\n' }],
    ['a = "\\u00e9\\t"', { a: 'é\t' }],
    ['a = {b = 1, c.d = "x"}', { a: { b: 1, c: { d: 'x' } } }],
    [
      'a = 0xff\nb = 1_000\nc = -1.5e3\nd = 1979-05-27 07:32:00Z',
      { a: 255, b: 1000, c: -1500, d: '1979-05-27 07:32:00Z' },
    ],
    ['__proto__ = 1', JSON.parse('{"__proto__":1}')],
  ])('%s', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it.each([
    ['a = 1\na = 2', '2:1 a is set twice, first on line 1'],
    [
      '[settings.kubernetes]\na = 1\n[settings.kubernetes]\nb = 2',
      '3:11 [settings.kubernetes] occurs twice, first on line 1',
    ],
    ['a.b = 1\n[a]', '2:2 [a] occurs twice, first on line 1'],
    ['a = x', '1:5 "x" is no value; a text needs quotes'],
    ['a = "x', '1:5 the text does not end'],
    ['a', '1:2 expected = after the key, found "the end"'],
    ['a = 01', '1:5 "01" is no value; a text needs quotes'],
    ['MIME-Version: 1.0', '1:13 expected = after the key, found ":"'],
  ])('refuses %j', (text, fault) => {
    expect(read(text)).toContain(fault);
  });

  it('tells the rest after a fault', () => {
    const { value, faults } = parseToml('a = x\nb = 2\n[c\nd = 3\n');
    expect(faults.map(({ at }) => at.line)).toEqual([1, 3]);
    expect(toJson(value)).toEqual({ b: 2 });
  });

  it('has the place of a value, moved into its file', () => {
    const { value } = parseToml('[a]\n  b = "x"\n', { line: 10, column: 5 });
    expect(find(value, 'a', 'b')?.at).toEqual({ line: 11, column: 11 });
  });
});

const leaf = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.array(fc.string(), { maxLength: 3 }),
);
const tree = fc.letrec<{ node: Json }>((tie) => ({
  node: fc.oneof({ maxDepth: 3 }, leaf, fc.dictionary(fc.string(), tie('node'), { maxKeys: 4 })),
})).node;

describe('printing and reading', () => {
  it('keep every value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), tree, { maxKeys: 5 }), (value) => {
        const { value: back, faults } = parseToml(printToml(value));
        expect(faults).toEqual([]);
        expect(toJson(back)).toEqual(value);
      }),
    );
  });

  it('never throw on anything', () => {
    const token = fc.constantFrom(
      '[',
      ']',
      '=',
      '.',
      '"',
      "'",
      '\n',
      '{',
      '}',
      '#',
      '\\',
      'a',
      '1',
      '"""',
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(token, fc.string())),
        (tokens) => void parseToml(tokens.join('')),
      ),
    );
  });
});
