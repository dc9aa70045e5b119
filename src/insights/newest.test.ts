// countFrequent, fillmissing and cidrlookup: the examples on AWS's pages, and the cases that they
// leave open. Also compares a query's memory limit with its actual memory.
import { describe, expect, it } from 'vitest';
import { execute, rowsOf } from '../../test/builders/insights.ts';
import { explainQueryError, QueryError } from './language/query-error.ts';
import { readLookupTable } from './lookup-table.ts';

const at = (time: string, more: object) => ({ stageTimestamp: `2022-09-25T${time}Z`, ...more });
const refusal = (query: string, options: Parameters<typeof execute>[2] = {}): string => {
  try {
    execute(query, [at('13:58:00', {})], options);
  } catch (error) {
    if (error instanceof QueryError) return explainQueryError(query, error);
    throw error;
  }
  throw new Error(`not refused: ${query}`);
};

describe('countFrequent', () => {
  const log = ['GET 200', 'PUT 200', 'GET 500', 'GET 200', 'PUT 200', 'GET 200'].map((text) => {
    const [method, status] = text.split(' ');
    return at('13:58:00', { method, status: Number(status) });
  });

  it('counts each combination, the most frequent first', () => {
    const query = 'fields method, status | countFrequent method, status';
    expect(execute(query, log).columns).toEqual(['method', 'status', '_approxcount']);
    expect(rowsOf(query, log)).toEqual([
      ['GET', '200', '3'],
      ['PUT', '200', '2'],
      ['GET', '500', '1'],
    ]);
  });

  it('has a second spelling, and more commands may follow', () => {
    expect(rowsOf('count_frequent method | filter _approxcount > 2', log)).toEqual([['GET', '4']]);
    expect(rowsOf('CountFrequent method | sort method desc | limit 1', log)).toEqual([
      ['PUT', '2'],
    ]);
  });
});

describe('fillmissing', () => {
  const log = [
    at('13:58:01', { latency: 4 }),
    at('13:58:40', { latency: 6 }),
    at('14:01:00', { latency: 1 }),
    at('14:02:59', { latency: 3 }),
  ];
  const bin = (time: string) => `2022-09-25 ${time}.000`;

  it('puts in a row for each bin without events, between the first and the last', () => {
    const query =
      'fields @timestamp, latency | stats avg(latency) as avg_latency by bin(1m) | fillmissing with 0 for avg_latency';
    expect(rowsOf(query, log)).toEqual([
      [bin('13:58:00'), '5'],
      [bin('13:59:00'), '0'],
      [bin('14:00:00'), '0'],
      [bin('14:01:00'), '1'],
      [bin('14:02:00'), '3'],
    ]);
  });

  it('leaves without a value what it has none for', () => {
    const query =
      'stats count(*) as n, max(latency) as most by bin(1m) as t | fillmissing with -1 for n | sort t desc | limit 4';
    expect(rowsOf(query, log).slice(1)).toEqual([
      [bin('14:01:00'), '1', '1'],
      [bin('14:00:00'), '-1', undefined],
      [bin('13:59:00'), '-1', undefined],
    ]);
  });

  it('knows bins of months', () => {
    const months = ['2022-01-31', '2022-04-01'].map((day) => ({
      stageTimestamp: `${day}T00:00:00Z`,
    }));
    expect(
      rowsOf('stats count(*) by bin(1mo) | fillmissing', months).map(([t]) => t?.slice(0, 7)),
    ).toEqual(['2022-01', '2022-02', '2022-03', '2022-04']);
  });

  it('is refused where it is open which rows are missing, or they would be too many', () => {
    expect(refusal('stats count(*) by verb | fillmissing')).toContain('by that alone');
    expect(refusal('stats count(*) by bin(1m), verb | fillmissing')).toContain('by that alone');
    expect(refusal('stats count(*) by bin(1m) | filter 1 | fillmissing')).toContain('right behind');
    const unknown = refusal('stats count(*) as n by bin(1m) | fillmissing with 0 for m');
    expect(unknown).toContain('no column called m');
    expect(unknown).toContain('it made n');
    expect(() =>
      rowsOf('stats count(*) as n by bin(1ms) | fillmissing | stats max(n)', log, {
        memoryBytes: 1e6,
      }),
    ).toThrow(/`fillmissing` has put in \d+ rows; ask for longer bins/);
  });
});

describe('cidrlookup', () => {
  const table = readLookupTable(
    'cidr,region,owner\n10.0.0.0/8,all,net\n10.1.0.0/16,eu,\n2001:db8::/32,six,lab\n10.1.0.0/16,us,late\n',
  );
  const lookupTables = new Map([['net_table', table]]);
  const log = ['10.1.2.3', '10.2.0.1', '192.0.2.1', '2001:db8::7', 'none'].map((srcAddr, n) =>
    at(`13:58:0${n}`, { srcAddr, region: 'had' }),
  );
  const rows = (query: string) => rowsOf(`${query} | sort @timestamp`, log, { lookupTables });

  it('adds the columns of the most specific network, the first of equal ones', () => {
    const query = 'fields srcAddr | cidrlookup net_table srcAddr OUTPUT region, owner';
    expect(rows(query)).toEqual([
      ['10.1.2.3', 'eu', ''],
      ['10.2.0.1', 'all', 'net'],
      ['192.0.2.1', 'had', undefined],
      ['2001:db8::7', 'six', 'lab'],
      ['none', 'had', undefined],
    ]);
  });

  it('OUTPUTNEW keeps what is there, and names can be given', () => {
    const query =
      'fields srcAddr | cidrlookup net_table srcAddr AS cidr OUTPUTNEW region, owner AS who | display region, who';
    expect(rows(query).slice(0, 2)).toEqual([
      ['had', ''],
      ['had', 'net'],
    ]);
  });

  it('skips no line for what a table made', () => {
    const query =
      'cidrlookup net_table srcAddr OUTPUT region | filter region = "six" | display srcAddr';
    expect(rows(query)).toEqual([['2001:db8::7']]);
  });

  it('is refused where the table does not tell what its networks are', () => {
    const refused = (query: string) => refusal(query, { lookupTables });
    expect(refused('cidrlookup nets a OUTPUT b')).toContain('no lookup table called nets');
    expect(refused('cidrlookup net_table a OUTPUT b')).toContain('no column called b');
    expect(refused('cidrlookup net_table a AS nets OUTPUT owner')).toContain('called nets');
    expect(refused('cidrlookup net_table a owner')).toContain('`OUTPUT` or `OUTPUTNEW`');
    const two = new Map([['t', readLookupTable('a,b\n10.0.0.0/8,10.0.0.0/8\n')]]);
    expect(refusal('cidrlookup t x OUTPUT a', { lookupTables: two })).toContain('more than one');
    const bad = new Map([['t', readLookupTable('a\n10.0.0.0/40\n')]]);
    expect(refusal('cidrlookup t x OUTPUT a', { lookupTables: bad })).toContain('no column of');
  });
});

describe('what a query keeps', () => {
  const log = Array.from({ length: 3000 }, (_, n) => at('13:58:00', { id: `request-${n}`, n }));

  it('is charged for each group, for each function of it and for what that keeps', () => {
    const fits = (query: string, memoryBytes: number): boolean => {
      try {
        execute(query, log, { memoryBytes });
        return true;
      } catch {
        return false;
      }
    };
    // Measured: 370 to 910 bytes per group, plus a third of uncollected garbage.
    expect(fits('stats count(*) by id', 3000 * 500)).toBe(false);
    expect(fits('stats count(*) by id', 3000 * 900)).toBe(true);
    expect(fits('stats count(*), sum(n), pct(n, 50) by id', 3000 * 1200)).toBe(false);
    expect(fits('stats count(*), sum(n), pct(n, 50) by id', 3000 * 1600)).toBe(true);
  });

  it('is given back row by row when groups become rows', () => {
    // Groups and rows together would exceed the limit.
    expect(() =>
      execute('stats count(*) by id | sort n', log, { memoryBytes: 3000 * 760 }),
    ).not.toThrow();
  });
});
