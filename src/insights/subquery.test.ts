// Subqueries of a filter: the examples on AWS's page, and the cases that it leaves open.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { at, type Logs, refusal, runOver as run } from '../../test/builders/insights.ts';
import { parseQuery } from './language/parse.ts';
import { printQuery } from './language/print.ts';

describe('a subquery', () => {
  const logs: Logs = {
    own: [
      at(1, { requestId: 'a', endpoint: '/x' }),
      at(2, { requestId: 'b', endpoint: '/y' }),
      at(3, { endpoint: '/none' }),
      at(4, { requestId: 'c', endpoint: '/z' }),
    ],
    '/aws/lambda/database-service': [
      at(1, { requestId: 'c', errorType: 'DatabaseConnectionTimeout' }),
      at(1, { requestId: 'b', errorType: 'other' }),
      at(1, { requestId: 'a', errorType: 'DatabaseConnectionTimeout' }),
    ],
    '/aws/lambda/payment-processor': ['a', 'b', 'b', 'b', 'a', 'b'].map((requestId, n) =>
      at(n, { requestId, status: 'FAILED' }),
    ),
  };

  it('of another log lets through what it has found there', () => {
    const query = `filter requestId in (
        SOURCE '/aws/lambda/database-service'
        | filter errorType = "DatabaseConnectionTimeout"
        | fields requestId
      )
      | fields requestId, endpoint
      | sort @timestamp desc`;
    const { rows, sources, matched, counts } = run(query, logs);
    expect(rows).toEqual([
      ['c', '/z'],
      ['a', '/x'],
    ]);
    expect(sources).toEqual(['/aws/lambda/database-service', undefined]);
    expect([matched, counts.lines]).toEqual([2, 7]);
    expect(printQuery(parseQuery(printQuery(parseQuery(query))))).toBe(
      printQuery(parseQuery(query)),
    );
  });

  it('may count', () => {
    const query = `filter requestId in (
        SOURCE '/aws/lambda/payment-processor'
        | filter status = "FAILED"
        | stats count(*) as failureCount by requestId
        | filter failureCount > 3
        | fields requestId
      ) | display endpoint`;
    expect(run(query, logs).rows).toEqual([['/y']]);
  });

  it('without SOURCE reads the same log, whose lines are counted once', () => {
    const query =
      'filter requestId not in (filter endpoint like /[xy]/ | fields requestId) | display endpoint';
    const { rows, counts } = run(query, logs);
    // A missing field is neither in a set nor outside it.
    expect(rows).toEqual([['/z']]);
    expect(counts.lines).toBe(4);
  });

  it('keeps all its rows where it has no limit, and its own where it has one', () => {
    const many = Array.from({ length: 12_000 }, (_, n) => at(n % 10, { requestId: `r${n}` }));
    const query = (end: string) =>
      `filter requestId in (SOURCE 'g' | fields requestId${end}) | stats count(*)`;
    expect(run(query(''), { own: many, g: many }).rows).toEqual([['12000']]);
    expect(run(query(' | limit 3'), { own: many, g: many }).rows).toEqual([['3']]);
    expect(run(query(' | limit any 2'), { own: many, g: many }).rows).toEqual([['2']]);
    expect(() => run(query(''), { own: many, g: many }, { memoryBytes: 100_000 })).toThrow(
      /the subquery has answered \d+ different values; add a `filter` to it/,
    );
  });

  it('is equal to the list of its values', () => {
    const value = fc.constantFrom<unknown>('5', 5, '5.0', 'a', true, 'true', 1, '1', 0, '', null);
    fc.assert(
      fc.property(fc.array(value, { maxLength: 6 }), fc.array(value), (mine, theirs) => {
        const own = mine.map((x, n) => at(n, { x }));
        const shown = theirs.map((x) => JSON.stringify(x)).filter((text) => text !== 'null');
        const list = shown.length === 0 ? '"nothing"' : shown.join(', ');
        const ask = (filter: string) => run(`filter ${filter} | display x`, { own, g }).rows;
        const g = theirs.map((x) => at(1, { x }));
        expect(ask("x in (SOURCE 'g' | fields x)")).toEqual(ask(`x in [${list}]`));
        expect(ask("x not in (SOURCE 'g' | fields x)")).toEqual(ask(`x not in [${list}]`));
      }),
    );
  });

  it('a list in round brackets stays a list', () => {
    const own = [at(1, { x: 'limit' }), at(2, { x: 'b', limit: 'limit' })];
    expect(run('filter x in ("limit", "c") | display x', { own }).rows).toEqual([['limit']]);
    expect(run('filter "limit" in (limit) | display x', { own }).rows).toEqual([['b']]);
  });

  it.each([
    ['filter a in (fields b)', 'the subquery does not show a', '`| fields a`'],
    ["filter a in (SOURCE 'g')", 'the subquery does not show a', ''],
    ['filter a in (filter b in (fields b) | fields a)', 'stands within no other', ''],
    ['filter a in (SOURCE g* | fields a)', 'expected the name of a log', ''],
    ['filter a in (fields a', '`|` or `)` after the subquery', ''],
    ['filter 1 in (fields a)', 'compared with a field', ''],
    ['filter a in (fields a | nothing)', '`nothing` is not a command', ''],
  ])('is refused with its place: %s', (query, words, hint) => {
    const told = refusal(query);
    expect(told).toContain(words);
    expect(told).toContain(hint);
  });
});
