import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LinearRegex, RegexError } from './index.ts';

const quantifier = fc.constantFrom(
  '',
  '',
  '',
  '*',
  '+',
  '?',
  '*?',
  '+?',
  '??',
  '{2}',
  '{1,3}',
  '{0,2}?',
);
const atom = fc.oneof(
  fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '\\d', '\\w', '\\s', '\\.', '1', 'ab', '\\W'),
  fc.constantFrom('^', '$', '\\b', '\\B'),
);
const isAssertion = (text: string): boolean => /^(?:\^|\$|\\b|\\B)$/.test(text);
const pattern: fc.Arbitrary<string> = fc.letrec<{ re: string; seq: string; part: string }>(
  (tie) => ({
    re: fc.oneof(
      { depthSize: 'small' },
      tie('seq'),
      fc.tuple(tie('seq'), tie('seq')).map((p) => p.join('|')),
    ),
    seq: fc.array(tie('part'), { maxLength: 4 }).map((parts) => parts.join('')),
    part: fc.oneof(
      { depthSize: 'small' },
      fc.tuple(atom, quantifier).map(([a, q]) => (isAssertion(a) ? a : a + q)),
      fc
        .tuple(fc.constantFrom('(', '(?:'), tie('re'), fc.constantFrom('', '', '?', '{2}'))
        .map(([o, r, q]) => `${o}${r})${q}`),
    ),
  }),
).re;
const subject = fc.string({
  unit: fc.constantFrom('a', 'b', 'c', '1', ' ', '.', '\n', 'A'),
  maxLength: 14,
});

describe('a regular expression', () => {
  it('is found where the engine of the platform finds it', () => {
    fc.assert(
      fc.property(pattern, subject, (source, text) => {
        const theirs = new RegExp(source).exec(text);
        const ours = new LinearRegex(source);
        expect(ours.test(text)).toBe(theirs !== null);
        expect(ours.find(text)?.start).toBe(theirs?.index);
        // Only ECMAScript forbids an empty iteration, which can make its match longer.
        if (/\)[?*+{]/.test(source)) return;
        expect(ours.find(text)?.groups[0]).toBe(theirs?.[0]);
      }),
      { numRuns: 3000 },
    );
  });

  it('holds in its groups what the engine of the platform holds', () => {
    const cases = [
      ['(a+)(b*)c', 'xaabbc'],
      ['(a|ab)(c|bcd)', 'abcd'],
      ['(?<verb>\\w+) (?<name>[^ ]+)', 'GET /api/v1 x'],
      ['(a)|(b)', 'b'],
      ['x(.*?)y(.*)', 'x1y2y3'],
    ] as const;
    for (const [source, text] of cases) {
      expect(new LinearRegex(source).find(text)?.groups).toEqual([
        ...(new RegExp(source).exec(text) ?? []),
      ]);
    }
    expect([...new LinearRegex('(?<verb>a)(?P<name>b)').names]).toEqual([
      ['verb', 1],
      ['name', 2],
    ]);
  });

  it('ignores case after (?i) and only there', () => {
    expect(new LinearRegex('(?i)vpclambda').test('x vpcLambda/v0')).toBe(true);
    expect(new LinearRegex('a(?i:b)c').test('aBc')).toBe(true);
    expect(new LinearRegex('a(?i:b)c').test('aBC')).toBe(false);
    expect(new LinearRegex('(?i)[a-c]x').test('BX')).toBe(true);
    expect(new LinearRegex('(?i)ä').test('Ä')).toBe(true);
    expect(new LinearRegex('(?s)a.b').test('a\nb')).toBe(true);
    expect(new LinearRegex('(?m)^b$').test('a\nb\nc')).toBe(true);
  });

  it.each([
    ['(?=a)b', 'look-ahead', 0],
    ['a(?<!b)', 'look-behind', 1],
    ['(a)\\1', 'backreference', 3],
    ['a++', 'possessive', 2],
    ['a**', 'two quantifiers', 0],
    ['*a', 'nothing before', 0],
    ['(a', 'never closed', 0],
    ['a)', 'without', 1],
    ['[a', 'never closed', 0],
    ['[z-a]', 'wrong way', 1],
    ['\\p{L}', 'Unicode classes', 0],
    ['a{3,2}', 'wrong way', 1],
    ['((a{1000}){1000}){9}', 'too large', 0],
    ['a{1001}', 'at most 1000', 1],
    ['\\y', 'stands for nothing', 0],
    ['a\\', 'nothing after it', 1],
    ['('.repeat(200), 'nested deeper', 100],
  ])('that cannot be bounded or read is refused: %s', (source, words, at) => {
    const error = (() => {
      try {
        return new LinearRegex(source);
      } catch (caught) {
        return caught;
      }
    })();
    expect(error).toBeInstanceOf(RegexError);
    expect(String(error)).toContain(words);
    expect(error).toMatchObject({ at });
  });

  it('that would take a backtracking engine for ever is answered', () => {
    const text = `${'a'.repeat(50_000)}!`;
    for (const source of ['(a+)+$', '(a|aa)+$', '(a*)*b', '(.*a){12}$', '(x+x+)+y', 'a.*a.*a.*b']) {
      expect(new LinearRegex(source).test(text)).toBe(false);
    }
    expect(new LinearRegex('(a|b|ab)*!').find(text)?.end).toBe(text.length);
  });

  it('stays within its table where it has very many states', () => {
    const alphabet = ['a', 'b'];
    let seed = 1;
    const text = Array.from({ length: 60_000 }, () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return alphabet[seed % 2];
    }).join('');
    // "An a, 18 units before the end": 2^18 states if all were built.
    expect(new LinearRegex('a[ab]{17}$').test(text)).toBe(/a[ab]{17}$/.test(text));
  });

  it.each([
    ['vpcLambda', 'vpcLambda'],
    ['^kube-apiserver-audit', 'kube-apiserver-audit'],
    ['a|b', ''],
    ['(?i)abc', ''],
    ['x?eviction.*coredns-\\w+', 'eviction'],
    ['(?:node)+s', 'node'],
    ['a{0}bc', 'bc'],
  ])('knows what every match of %s contains', (source, required) => {
    expect(new LinearRegex(source).required).toBe(required);
  });
});
