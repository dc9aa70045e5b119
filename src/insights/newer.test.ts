// The commands and functions added in 2026: the examples on AWS's pages, and the cases that they
// leave open.
import { describe, expect, it } from 'vitest';
import { columnOf, execute, rowsOf } from '../../test/builders/insights.ts';
import { explainQueryError, QueryError, QueryLimitError } from './language/query-error.ts';
import { readLookupTable } from './lookup-table.ts';

const at = (second: number, more: object) => ({
  stageTimestamp: `2022-09-25T13:58:${String(second).padStart(2, '0')}Z`,
  ...more,
});
const refusal = (query: string): string => {
  try {
    execute(query, [at(1, {})]);
  } catch (error) {
    if (error instanceof QueryError) return explainQueryError(query, error);
    throw error;
  }
  throw new Error(`not refused: ${query}`);
};

describe('limit any', () => {
  const many = Array.from({ length: 1000 }, (_, n) => at(n % 60, { n, even: n % 2 === 0 }));

  it('answers the first that match and reads no further', () => {
    const found = execute('filter even | limit any 3 | fields n', many, { chunkBytes: 600 });
    expect(found.rows.map(({ values }) => values[0])).toEqual([0, 2, 4]);
    expect(found.matched).toBe(3);
    // Later commands count or show only these rows.
    expect(rowsOf('limit any 4 | stats count(*), max(n)', many)).toEqual([['4', '3']]);
    expect(rowsOf('filter n > 997 | limit any 5 | display n', many)).toHaveLength(2);
  });

  it('behind an order answers the first in it', () => {
    expect(columnOf('sort n desc | limit any 2 | display n', many)).toEqual(['999', '998']);
    expect(rowsOf('stats count(*) as c by even | sort c, even desc | limit any 1', many)).toEqual([
      ['true', '500'],
    ]);
  });
});

describe('parse', () => {
  const line = 'level=error msg="no route to \\"a b\\"" duration=1.5 host=web-01 retry';
  const lines = (...all: readonly string[]) => all.map((text, n) => at(n, { text }));

  it('logfmt makes a map', () => {
    const some = lines(line, 'level=info duration=0.5', 'words only');
    expect(
      rowsOf(
        'parse text logfmt as lf | sort @timestamp | display lf.level, lf.msg, lf.duration, lf.retry',
        some,
      ),
    ).toEqual([
      ['error', 'no route to "a b"', '1.5', ''],
      ['info', undefined, '0.5', undefined],
      [undefined, undefined, undefined, undefined],
    ]);
    expect(
      rowsOf('parse text logfmt as lf | filter lf.duration > 1 | display lf.host', some),
    ).toEqual([['web-01']]);
    expect(rowsOf('parse text logfmt as lf | stats count(*) by lf.level', some)).toEqual([
      ['error', '1'],
      ['info', '1'],
      [undefined, '1'],
    ]);
    expect(columnOf('parse logfmt as lf | display lf.a', ['a=1 b=2', 'a="1'])).toEqual(['1', '1']);
    expect(columnOf('parse logfmt as lf | display lf.constructor', ['a=1'])).toEqual([undefined]);
  });

  it('csv names the values', () => {
    const some = ['2022,ERROR,"a, ""b""",x', '2023,INFO', '"open', ''];
    expect(
      rowsOf('parse @message csv as t, level, text | sort t desc | display t, level, text', some),
    ).toEqual([
      ['2023', 'INFO', undefined],
      ['2022', 'ERROR', 'a, "b"'],
      ['open', undefined, undefined],
    ]);
    expect(columnOf('parse csv as a, b | display b', ['1,2'])).toEqual(['2']);
    // A field may have this name.
    expect(columnOf('parse csv "*-*" as a, b | display b', [at(1, { csv: '1-2' })])).toEqual(['2']);
  });

  it('takes @message where no field is named', () => {
    expect(columnOf('parse "user=*;" as u | display u', ['user=me;'])).toEqual(['me']);
    expect(columnOf('parse /user=(?<u>\\w+)/ | display u', ['user=me;'])).toEqual(['me']);
  });

  it('multi makes a row of each match', () => {
    const some = lines('from 10.0.0.1 to 10.0.0.2', 'nowhere', '10.0.0.1');
    const address = '(\\d+\\.\\d+\\.\\d+\\.\\d+)';
    expect(rowsOf(`parse text /${address}/ as ip multi | stats count(*) by ip`, some)).toEqual([
      ['10.0.0.1', '2'],
      ['10.0.0.2', '1'],
      [undefined, '1'],
    ]);
    expect(
      columnOf(`parse text /(?<ip>\\d+)$/ multi | sort @timestamp | display ip`, some),
    ).toEqual(['2', undefined, '1']);
    // An expression that matches the empty text terminates too.
    expect(rowsOf('parse text /(?<x>y*)/ multi | stats count(*)', lines('ayyb'))).toEqual([['3']]);
  });

  it('multi stops where it would look at a text over and over', () => {
    const text = 'a'.repeat(60_000);
    expect(() => execute('parse text /(?<x>a(.*b)?)/ multi | stats count(*)', lines(text))).toThrow(
      QueryLimitError,
    );
    expect(rowsOf('parse text /(?<x>a)/ multi | stats count(*)', lines(text))).toEqual([['60000']]);
  });

  it('json takes what is below a field', () => {
    const some = lines('x {"user":{"name":"me","id":[7]}} y', 'no json');
    expect(
      rowsOf(
        'parse text /(?<payload>\\{.*\\})/ | json field=payload "user.name" as who | json field = payload "user.id.0" as id | sort @timestamp | display who, id',
        some,
      ),
    ).toEqual([
      ['me', '7'],
      [undefined, undefined],
    ]);
    expect(columnOf('json field=o "a" as b | display b', [at(1, { o: { a: 1 } })])).toEqual(['1']);
  });
});

describe('expand', () => {
  const some = [
    at(1, { items: ['apple', 'banana', 'cherry'], host: 'web-01' }),
    at(2, { items: '["apple", 5]', host: 'web-02' }),
    at(3, { items: 'none', host: 'web-03' }),
  ];

  it('makes an event of each element, under the same name', () => {
    expect(rowsOf('expand items | stats count(*) by items, host', some)).toEqual([
      ...[
        ['apple', 'web-01', '1'],
        ['apple', 'web-02', '1'],
        ['banana', 'web-01', '1'],
      ],
      ...[
        ['cherry', 'web-01', '1'],
        ['none', 'web-03', '1'],
        ['5', 'web-02', '1'],
      ],
    ]);
    expect(execute('fields items, host | sort @timestamp | expand items', some).columns).toEqual([
      'items',
      'host',
    ]);
    expect(
      columnOf('fields split(host, "-") as part | expand part | filter part = "web"', some),
    ).toHaveLength(3);
  });
});

describe('addtotals', () => {
  const some = [at(1, { a: 1, b: '2', c: 'x' }), at(2, { a: 10, c: 'y' }), at(3, { c: 'z' })];
  const shown = 'fields a, b, c | sort @timestamp';

  it('adds up what is a number in each row', () => {
    expect(execute(`${shown} | addtotals`, some).columns).toEqual(['a', 'b', 'c', 'Total']);
    expect(columnOf(`${shown} | addtotals | display Total`, some)).toEqual(['3', '10', undefined]);
    expect(columnOf(`${shown} | addtotals fieldname=Sum a | display Sum`, some)).toEqual([
      ...['1', '10', undefined],
    ]);
    expect(rowsOf('stats sum(a) as s, count(*) as n by c | addtotals', some)).toEqual([
      ...[
        ['x', '1', '1', '2'],
        ['y', '10', '1', '11'],
        ['z', '0', '1', '1'],
      ].map((row) => (row[0] === 'z' ? ['z', undefined, '1', '1'] : row)),
    ]);
  });

  it('adds up columns in a row at the end', () => {
    expect(rowsOf(`${shown} | addtotals col=true row=false a, b`, some)).toEqual([
      ...[
        ['1', '2', 'x'],
        ['10', undefined, 'y'],
        [undefined, undefined, 'z'],
      ],
      ['11', '2', undefined],
    ]);
    expect(rowsOf('stats count(*) as n by c | addtotals col=true n', some).at(-1)).toEqual([
      ...[undefined, '3', '3'],
    ]);
    const many = Array.from({ length: 10_050 }, (_, n) => at(n % 60, { n: 1 }));
    const { rows } = execute('fields n | addtotals col=true row=false', many);
    expect([rows.length, rows.at(-1)?.values, rows.at(-1)?.pointer]).toEqual([
      10_001,
      [10_000],
      undefined,
    ]);
  });
});

describe('accum and filldown', () => {
  const some = [at(1, { n: 1, host: 'a' }), at(2, { n: 'x' }), at(3, { n: 4, cpu_user: 5 })];

  it('accum sums up from row to row, in their order', () => {
    expect(rowsOf('sort @timestamp | accum n as total | display n, total', some)).toEqual([
      ['1', '1'],
      ['x', '1'],
      ['4', '5'],
    ]);
    // Newest first, the default order of a result.
    expect(columnOf('fields n | accum n AS total | display total', some)).toEqual(['4', '4', '5']);
    expect(columnOf('stats sum(n) as s by bin(1s) | accum s as t | display t', some)).toEqual([
      ...['1', '1', '5'],
    ]);
  });

  it('filldown carries the last value on', () => {
    const query = 'fields host, cpu_user, n | sort @timestamp | filldown';
    expect(rowsOf(query, some)).toEqual([
      ['a', undefined, '1'],
      ['a', undefined, 'x'],
      ['a', '5', '4'],
    ]);
    const gaps = [...some, at(4, {})];
    expect(rowsOf(`${query} cpu*`, gaps).at(-1)).toEqual([undefined, '5', undefined]);
    expect(rowsOf(`${query} host c*u*r`, gaps).at(-1)).toEqual(['a', '5', undefined]);
  });
});

describe('lookup', () => {
  const text = 'id,name,"the ""team"""\r\n7,Ann,"a, b"\nx,Bob,c\n7,Other,d\n';
  const lookupTables = new Map([['users', readLookupTable(text)]]);
  const some = [at(1, { id: 7, name: 'was' }), at(2, { id: 'X', name: 'stays' }), at(3, {})];

  it('adds columns of the first row whose texts are equal', () => {
    const query = 'fields name | sort @timestamp | lookup users id as id OUTPUT name, `the "team"`';
    expect(rowsOf(query, some, { lookupTables })).toEqual([
      ['Ann', 'a, b'],
      ['stays', undefined],
      [undefined, undefined],
    ]);
    expect(execute(query, some, { lookupTables }).columns).toEqual(['name', 'the "team"']);
    expect(
      rowsOf('lookup users id as id, name as name OUTPUT name | display name', some, {
        lookupTables,
      }),
    ).toEqual([[undefined], ['stays'], ['was']]);
    expect(
      rowsOf('lookup users id as id OUTPUT name | filter name = "Ann" | stats count(*)', some, {
        lookupTables,
      }),
    ).toEqual([['1']]);
  });

  it('refuses tables and columns that do not exist, and files that are none', () => {
    const refused = (query: string) => () => execute(query, some, { lookupTables });
    expect(refused('lookup user id as id OUTPUT name')).toThrow(/no lookup table called user$/);
    expect(refused('lookup users ident as id OUTPUT name')).toThrow(/no column called ident/);
    expect(refused('lookup users id as id OUTPUT mail')).toThrow(/no column called mail/);
    for (const [csv, words] of [
      ['', 'no header'],
      ['a,b,a\n', 'two columns are called a'],
      ['a,b\n1\n', 'line 2 has 1 value, the header 2'],
      ['a,b\n1,"2\n', 'never closed'],
    ] as const) {
      expect(() => readLookupTable(csv)).toThrow(words);
    }
  });
});

describe('where', () => {
  it('knows true and false', () => {
    const log = [at(1, { ok: true }), at(2, { ok: false }), at(3, { ok: 'true' }), at(4, {})];
    expect(columnOf('where ok = true | stats count(*)', log)).toEqual(['2']);
    expect(columnOf('filter ok != TRUE | stats count(*)', log)).toEqual(['1']);
    expect(columnOf('fields 1 = 1 as true | filter true | stats count(*)', log)).toEqual(['4']);
  });

  it('is filter', () => {
    const log = [at(1, { verb: 'get' }), at(2, { verb: 'patch' })];
    expect(columnOf('where verb = "patch" | display verb', log)).toEqual(['patch']);
  });
});

describe('what is not documented, or not kept here', () => {
  it.each([
    ['parse @message XML "/a" as x', 'column 16: `parse ... XML` is not evaluated', '`*`'],
    ['parse @message csv', 'expected `as` and a name', ''],
    ['parse @message logfmt as a, b', 'expected `|` or the end of the query', ''],
    ['accum n', '`accum` needs a name for the sum', '`accum n as total`'],
    ['json payload "a" as b', 'expected `field=` and a field', ''],
    ['json field=payload as b', 'expected a path in quotes', ''],
    ['addtotals col=maybe', 'expected `true` or `false`', ''],
    ['fields a | filldown b*', 'no column is called b*', 'with `fields`'],
    ['lookup users id as id OUTPUT name', 'column 8: there is no lookup table called users', '='],
    ['lookup users id OUTPUT name', 'expected `as` and a field', ''],
    ['lookup users id as id', 'expected `OUTPUT` and columns', ''],
    ['relevantfields where a = 1', '`relevantfields` is not evaluated here', ''],
    ['fillmissing with 0 for n', '`fillmissing` stands right behind `stats', ''],
    ['stats count(*) by bin(5m) offset 1h', '`offset` is not evaluated here', 'datefloor('],
    ['stats rate(n, 1m) by bin(5m)', '`rate` is not evaluated here', 'bin(5m)'],
    ['stats values(n)', '`values` is not evaluated here', 'stats count(*)'],
    ['fields formatDate(@timestamp, "%Y")', '`formatDate` is not evaluated here', 'datefloor'],
    ['fields queryStartTime()', 'and none is given', '--start and --end'],
    ['fields regexReplace(a, b, "c")', 'both in quotes', ''],
    ['fields regexReplace(a, "(b)", "$1")', 'groups in a replacement are not documented', 'parse'],
    ['fields regexReplace(a, "(?=b)", "")', 'look-ahead is not supported', ''],
  ])('is refused with its place: %s', (query, words, hint) => {
    const told = refusal(query);
    expect(told).toContain(words);
    expect(told).toContain(hint);
  });
});
