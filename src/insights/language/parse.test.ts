import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseQuery } from './parse.ts';
import { printQuery } from './print.ts';
import { explainQueryError, QueryError } from './query-error.ts';

const refusal = (text: string): string => {
  try {
    parseQuery(text);
  } catch (error) {
    if (error instanceof QueryError) return explainQueryError(text, error);
    throw error;
  }
  return 'taken';
};

/** The tree without positions and texts, which differ between two spellings of one query. */
const shape = (text: string): unknown =>
  JSON.parse(
    JSON.stringify(parseQuery(text).commands, (key, value: unknown) =>
      key === 'span' || key === 'text' ? undefined : value,
    ),
  );

const name = fc.constantFrom('verb', 'a.b.0', 'user.username', '@timestamp', 'x_1');
const value = fc.oneof(
  fc.constantFrom('"get"', "'it\\'s'", '"a\\\\b"', '1', '2.5', '`odd name`', 'a.`b/c`.d'),
  name,
);
const expression = fc.letrec<{ any: string; sum: string; one: string }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    tie('one'),
    fc
      .tuple(tie('sum'), fc.constantFrom('=', '==', '!=', '<', '>='), tie('sum'))
      .map((p) => p.join(' ')),
    fc
      .tuple(
        tie('sum'),
        fc.constantFrom('like', 'not like', '=~'),
        fc.constantFrom('"x"', '/a/b|c/', '/(?i)x+/'),
      )
      .map((p) => p.join(' ')),
    fc
      .tuple(tie('sum'), fc.constantFrom('in', 'not in'), value)
      .map(([a, b, c]) => `${a} ${b} [${c}, 1]`),
    fc.tuple(tie('any'), fc.constantFrom('and', 'or', 'AND'), tie('any')).map((p) => p.join(' ')),
    tie('any').map((inner) => `not (${inner})`),
  ),
  sum: fc.oneof(
    { depthSize: 'small' },
    tie('one'),
    fc
      .tuple(tie('sum'), fc.constantFrom('+', '-', '*', '/', '%', '^'), tie('one'))
      .map((p) => p.join(' ')),
    tie('one').map((inner) => `-${inner}`),
  ),
  one: fc.oneof(
    { depthSize: 'small' },
    value,
    tie('any').map((inner) => `(${inner})`),
    value.map((v) => `strlen(${v})`),
  ),
}));
const command = fc.oneof(
  expression.any.map((e) => `filter ${e}`),
  fc.array(expression.any, { minLength: 1, maxLength: 3 }).map((all) => `fields ${all.join(', ')}`),
  fc.tuple(name, fc.constantFrom('asc', 'desc', '')).map(([f, d]) => `sort ${f} ${d}`),
  fc.constantFrom(
    'limit 5',
    'stats count(*) as n, pct(a, 95) by bin(5m), verb',
    'parse @message "a*b*" as x, y',
  ),
  fc.constantFrom(
    'parse @message /(?<q>a+)/',
    'unnest items into item',
    'display verb as v # note\n',
    'pattern concat(a, "x") | diff previousWeek',
    'limit any 7',
    'where regexReplace(a, /x+\\/"/, "y") = "z"',
    'parse a csv as x, y',
    'parse logfmt as lf',
    'parse a /(\\d+)/ as n multi',
  ),
  fc.constantFrom(
    'json field=a.b "c.`d`" as e',
    'expand a.`b-c`',
    'addtotals fieldname=`a b` col=true a, b',
    'addtotals',
    'accum a AS b',
    'lookup users id as user.id, b as c OUTPUT name, `e mail`',
    'filldown a* `b c`',
    'filldown',
    'countFrequent a, `b c`.d',
    'cidrlookup nets a.b OUTPUT owner',
    'cidrlookup nets a AS cidr OUTPUTNEW owner AS `who is`, region',
    'stats count(*) as n by bin(1m) | fillmissing',
    'stats count(*) as n, max(b) as m by bin(1m) | fillmissing with 0 for n, "none" for m',
    'pattern @message | diff',
  ),
);

describe('a query', () => {
  it('printed and parsed again means the same', () => {
    fc.assert(
      fc.property(fc.array(command, { minLength: 1, maxLength: 4 }), (commands) => {
        const text = commands.join('\n| ');
        // Only one `pattern` is allowed.
        const at = commands.findIndex((one) => one.startsWith('pattern'));
        fc.pre(commands.findLastIndex((one) => one.startsWith('pattern')) === at);
        fc.pre(!commands.slice(0, Math.max(0, at)).some((one) => /^(?:stats|limit)/.test(one)));
        const printed = printQuery(parseQuery(text));
        expect(shape(printed)).toEqual(shape(text));
        expect(printQuery(parseQuery(printed))).toBe(printed);
      }),
      { numRuns: 500 },
    );
  });

  it('may be written as people write it', () => {
    expect(shape('FIELDS a|FILTER a LIKE /x\\/y/ AND NOT b = 1|SORT a DESC')).toEqual(
      shape('fields a\n| filter a like /x\\/y/ and not b = 1 # why\n| sort a desc'),
    );
    // Slashes in a path are not escaped: the expression ends where the query can continue.
    expect(shape('filter uri like /api/v1/pods/ | limit 1')).toEqual(
      shape('filter uri =~ /api/v1/pods/\n|limit 1'),
    );
    expect(parseQuery('filter uri like /^[^/|]+[|/]/ | limit 1').commands).toHaveLength(2);
    expect(shape('fields a.`b.c`[0], `odd-name`')).toEqual(shape('fields `a`.`b.c`.0, `odd-name`'));
  });

  it.each([
    [
      'fields, objectRef.resource',
      'column 7: expected a field or an expression, found `,`',
      'before the comma',
    ],
    ['fields a | patern a', 'column 12: `patern` is not a command', 'commands: fields'],
    ['filtr a = 1', 'column 1: `filtr` is not a command', 'did you mean `filter`?'],
    [
      'stats count(*)\n| anomaly x',
      'line 2, column 3: `anomaly` is not evaluated here',
      'trained model',
    ],
    ['diff previousDay', '`diff` compares patterns: it stands after `pattern` alone', ''],
    ['pattern a | diff previousWek', 'not `previousWek`', 'did you mean `previousWeek`?'],
    ['pattern a | pattern b', '`pattern` takes events', ''],
    ['SOURCE "x" | fields a', '`SOURCE` is not evaluated here', ''],
    ['filter a = ', 'expected a field, a value or a function, found the end of the query', ''],
    ['filter a = "x', 'column 12: this quote is never closed', ''],
    ['filter a like /x', 'column 15: this regular expression is never closed', 'end it with `/`'],
    ['filter (a = 1', 'expected `)`', ''],
    ['filter a && b', 'found `&`', 'write `and`'],
    ['fields `a', 'this backtick is never closed', ''],
    ['fields a.', 'a field name ends in a dot', ''],
    ['limit 0', '`limit` takes a whole number from 1 to 100000', ''],
    ['limit 100001', '`limit` takes', ''],
    ['limit 5 5', 'expected `|` or the end of the query, found `5`', ''],
    ['parse @message "a" as b', 'this pattern has no `*`', ''],
    ['parse @message "*-*" as b', '2 `*` and 1 name after `as`', ''],
    ['dedup a | filter b = 1', '`filter` cannot follow `dedup`', 'before `dedup`'],
    [Array(11).fill('stats count(*)').join('|'), 'at most 10 `stats`', ''],
    ['unnest a', 'expected `into` and a name', ''],
    ['', 'the query is empty', 'commands:'],
    ['| fields a', 'expected a command, found `|`', ''],
    ['fields a |', 'expected a command, found the end of the query', ''],
    [`filter ${'('.repeat(9000)}`, 'nested deeper than 100', ''],
    [`filter ${'not '.repeat(2000)}a`, 'nested deeper than 100', ''],
    [`fields ${'1+'.repeat(2000)}1`, 'more than 500 operators in a row', ''],
    ['x'.repeat(10_001), 'at most 10000 characters', ''],
    ['fields \u001b[31m', 'expected a field', ''],
  ])('that cannot be is refused with its place: %s', (text, words, hint) => {
    const told = refusal(text);
    expect(told).toContain(words);
    expect(told).toContain(hint);
    expect(told).not.toContain('\u001b');
    expect(Math.max(...told.split('\n').map((line) => line.length))).toBeLessThan(250);
  });

  it('of thousands of conditions is parsed', () => {
    const long = Array.from({ length: 800 }, (_, index) => `a = ${index}`).join(' or ');
    expect(parseQuery(`filter ${long}`).commands).toHaveLength(1);
  });
});
