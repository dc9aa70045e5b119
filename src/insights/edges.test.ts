// Edge cases: numbers of many digits, rows beyond the default limit, very long texts.
import { describe, expect, it } from 'vitest';
import { columnOf, execute, rowsOf } from '../../test/builders/insights.ts';
import { parseQuery } from './language/parse.ts';
import { printQuery } from './language/print.ts';
import { explainQueryError, QueryError, QueryLimitError } from './language/query-error.ts';
import { readLookupTable } from './lookup-table.ts';

const at = (second: number, more: object) => ({
  stageTimestamp: `2022-09-25T13:58:${String(second).padStart(2, '0')}Z`,
  ...more,
});

describe('addtotals with a row at the end', () => {
  const many = Array.from({ length: 12_000 }, (_, n) => at(n % 60, { n: 1 }));
  const totals = (query: string) => {
    const { rows, notices } = execute(query, many);
    return [rows.length, rows.at(-1)?.values[0], notices] as const;
  };

  it('adds up all the rows that a limit lets through', () => {
    expect(totals('fields n | limit 20000 | addtotals col=true row=false n')).toEqual([
      ...[12_001, 12_000, []],
    ]);
    expect(totals('fields n | addtotals col=true row=false n | limit 20000')).toEqual([
      ...[12_001, 12_000, []],
    ]);
    expect(totals('fields n | limit 11000 | addtotals col=true row=false n')[1]).toBe(11_000);
  });

  it('says so where the usual limit leaves rows out', () => {
    const [length, sum, notices] = totals('fields n | addtotals col=true row=false n');
    expect([length, sum]).toEqual([10_001, 10_000]);
    expect(notices).toEqual([
      '`addtotals` adds up 10000 rows, there are more: say how many with `limit`',
    ]);
    expect(execute('fields n | addtotals col=true', many.slice(2000)).notices).toEqual([]);
  });

  it('has none where there are no rows', () => {
    expect(rowsOf('filter n > 5 | fields n | addtotals col=true', many)).toEqual([]);
  });
});

describe('numbers', () => {
  it.each([
    ['round(0.0000001, 2)', '0'],
    ['round(0.0000001)', '0'],
    ['round(0.00000015, 7)', '2e-7'],
    ['round(1e21)', '1e+21'],
    ['round(0 - 1e300, 15)', '-1e+300'],
    ['round(123456789, 15)', '123456789'],
    ['round(1234567.891, 2)', '1234567.89'],
    ['toLong("9223372036854775807")', '9223372036854775807'],
    ['toLong("-9223372036854775808")', '-9223372036854775808'],
    ['toLong("9223372036854775808")', undefined],
    ['toLong("009007199254740993.9")', '9007199254740993'],
    ['toLong("9007199254740993") > 9007199254740991', 'true'],
    ['toLong("+12.9")', '12'],
    ['toLong("1e3")', '1000'],
    ['toInt("2147483647")', '2147483647'],
    ['toInt("2147483648")', undefined],
    ['hexToDec("ffffffffffffffff")', '18446744073709551615'],
    ['hexToDec("-0x10")', '-16'],
  ])('%s', (expression, shown) => {
    expect(columnOf(`display ${expression}`, [at(1, {})])).toEqual([shown]);
  });
});

describe('what a function makes', () => {
  it('is at most 4 MB long', () => {
    const log = [at(1, { s: 'a'.repeat(3000) })];
    const nested = 'regexReplace(regexReplace(s, /a/, "aaaaaaaaaa"), /a/, "';
    const query = (by: string) => `display strlen(${nested}${by}"))`;
    expect(columnOf(query('b'.repeat(100)), log)).toEqual(['3000000']);
    expect(columnOf(query('b'.repeat(200)), log)).toEqual([undefined]);
    const codes = (name: string) => `display strlen(${`${name}(`.repeat(45)}s${')'.repeat(45)})`;
    expect(columnOf(codes('base64encode'), log)).toEqual([undefined]);
    const signs = [at(1, { s: '%'.repeat(100_000) })];
    expect(columnOf(codes('urlencode'), signs)).toEqual([undefined]);
  });
});

describe('a field called true', () => {
  const log = [at(1, { true: 'yes', TRUE: 'loud' })];

  it('is one in backticks, and the truth without', () => {
    expect(rowsOf('display `true`, `TRUE`, true, false', log)).toEqual([
      ['yes', 'loud', 'true', 'false'],
    ]);
    expect(columnOf('filter `true` = "yes" | stats count(*)', log)).toEqual(['1']);
  });

  it('keeps its backticks when a query is printed', () => {
    expect(printQuery(parseQuery('filter `true` = true'))).toBe('filter `true` = true');
  });
});

describe('matched', () => {
  const log = [at(1, { list: [1, 2], s: 'a1a2' }), at(2, { list: [3], s: 'a3' })];

  it.each(['expand list', 'unnest list into one', 'parse s /a(?<n>[0-9])/ multi'])(
    'counts events, not the rows that `%s` makes',
    (command) => {
      const { rows, matched } = execute(`fields @timestamp | ${command}`, log);
      expect([rows.length, matched]).toEqual([3, 2]);
    },
  );
});

describe('a lookup table', () => {
  it('is read though a cell is as long as a table may be', () => {
    const long = 'x,"'.repeat(3_000_000);
    const table = readLookupTable(
      `a,b\n1,"${long.replaceAll('"', '""')}"\n2,${'y'.repeat(9_000_000)}\n`,
    );
    expect(table.rows.map(([key, value]) => [key, value?.length])).toEqual([
      ['1', 9_000_000],
      ['2', 9_000_000],
    ]);
    expect(table.rows[0]?.[1] === long).toBe(true);
  });

  it.each([
    ['a,b\n"1\n2",3\n4\n', 'line 4 has 1 value, the header 2'],
    ['a,b\r\n\r\n1,2\r\n\r\n4\r\n', 'line 5 has 1 value'],
    ['a,b\n"1\n2",3\n4,"5\n6', 'line 4: a quote is never closed, or stands within a value'],
    ['a\n1"2\n', 'line 2: a quote is never closed, or stands within a value'],
    ['a\n"1"2\n', 'line 2: a quote is never closed, or stands within a value'],
  ])('says in which line it is wrong: %j', (text, words) => {
    expect(() => readLookupTable(text)).toThrow(words);
  });

  it('has its columns named without what moves a cursor', () => {
    const lookupTables = new Map([['t', readLookupTable('id,\u001b[2Jname\n1,a\n')]]);
    const query = 'lookup t id as id OUTPUT other';
    try {
      execute(query, [], { lookupTables });
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      expect(explainQueryError(query, error)).toContain('it has id, \\u001b[2Jname');
    }
  });
});

describe('logfmt', () => {
  it('has values as long as a line may be', () => {
    const long = 'x y\\"'.repeat(6_000_000);
    const log = [`a="${long}" b=${'z'.repeat(8_000_000)} c=1`];
    expect(rowsOf('parse logfmt as lf | display strlen(lf.a), strlen(lf.b), lf.c', log)).toEqual([
      ['24000000', '8000000', '1'],
    ]);
  });

  it('reads a quote that is never closed as far as the text goes', () => {
    const values = ['a="x y', 'a="x\\', 'a="x\\"', 'a="" b=1', 'a="x"b=2'].map((text) =>
      columnOf('parse logfmt as lf | display lf.a', [text]).at(0),
    );
    expect(values).toEqual(['x y', 'x\\', 'x"', '', 'x']);
  });
});

describe('the memory of a query', () => {
  it('counts what is in lists and maps', () => {
    const log = Array.from({ length: 300 }, (_, n) => at(n % 60, { n, s: 'ab,'.repeat(5000) }));
    const query = (of: string) => `fields ${of} as l | display n, l | sort n desc | limit 1000`;
    const small = { memoryBytes: 16 * 1024 * 1024 };
    expect(execute(query('n'), log, small).rows).toHaveLength(300);
    expect(() => execute(query('split(s, ",")'), log, small)).toThrow(QueryLimitError);
    expect(() =>
      execute(query('jsonParse(concat("{\\"k\\":[\\"", s, "\\"]}"))'), log, small),
    ).not.toThrow();
  });
});
