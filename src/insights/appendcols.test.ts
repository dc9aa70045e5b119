// `appendcols`: the example on AWS's page, and the cases that it leaves open.
import { describe, expect, it } from 'vitest';
import { at, refusal, runOver as run } from '../../test/builders/insights.ts';
import { parseQuery } from './language/parse.ts';
import { printQuery } from './language/print.ts';

const calls = ['a', 'b', 'a', 'c', 'b', 'a'].map((svc, n) => at(n, { svc, n }));
const latencies = ['a', 'b', 'a'].map((svc, n) => at(n, { svc, latency: 10 * n, n: 90 + n }));
const logs = { own: calls, lg: latencies };

describe('appendcols', () => {
  it('puts what another log has beside the rows, by their place', () => {
    const query = `fields svc
      | stats count(*) as cnt by svc
      | appendcols override=true ( SOURCE lg | stats avg(latency) as avgLat by svc )`;
    const { rows, columns, sources, counts, notices } = run(query, logs);
    expect(columns).toEqual(['svc', 'cnt', 'avgLat']);
    expect(rows).toEqual([
      ['a', '3', '10'],
      ['b', '2', '10'],
      ['c', '1', undefined],
    ]);
    expect([sources, counts.lines, notices]).toEqual([['lg', undefined], 9, []]);
    const printed = printQuery(parseQuery(query));
    expect(printed).toContain('appendcols override=true max=10000 (SOURCE "lg" | stats ');
    expect(printQuery(parseQuery(printed))).toBe(printed);
  });

  it('keeps values that are shown already, or writes over them where it is told to', () => {
    const ask = (options: string) =>
      run(
        `sort n | fields n, if(n > 1, svc, missing) as x | appendcols ${options} (SOURCE 'lg' | sort n desc | fields n, svc as x)`,
        logs,
      );
    expect(ask('').rows.slice(0, 4)).toEqual([
      ['0', 'a'],
      ['1', 'b'],
      ['2', 'a'],
      ['3', 'c'],
    ]);
    expect(ask('override=true').rows.slice(0, 4)).toEqual([
      ['92', 'a'],
      ['91', 'b'],
      ['90', 'a'],
      ['3', 'c'],
    ]);
    expect(ask('override=true max=1').rows.slice(0, 2)).toEqual([
      ['92', 'a'],
      ['1', undefined],
    ]);
    expect(ask('').columns).toEqual(['n', 'x']);
  });

  it('reads the same log without SOURCE, newest first on both sides without a sort', () => {
    const { rows, counts } = run('fields n | appendcols (fields svc) | limit 2', logs);
    expect(rows).toEqual([
      ['5', 'a'],
      ['4', 'b'],
    ]);
    expect(counts.lines).toBe(6);
  });

  it('leaves out rows that nothing is beside, and says so', () => {
    const query = "filter n < 2 | fields n | appendcols (SOURCE 'lg' | fields latency)";
    const { rows, notices } = run(query, logs);
    expect(rows).toHaveLength(2);
    expect(notices).toEqual(['`appendcols`: 1 row more in the brackets than before it, left out']);
    expect(run(query, { lg: latencies }).rows).toEqual([]);
    expect(run(query, { own: calls }).notices).toEqual([]);
  });

  it('may stand more than once, and behind a join', () => {
    const query = `join left=l right=r where l.svc = r.svc (SOURCE lg | stats count(*) as c by svc)
      | stats sum(r.c) as sum by l.svc | appendcols (SOURCE lg | sort n | fields latency)
      | appendcols (sort n | fields n)`;
    expect(run(query, logs).rows).toEqual([
      ['a', '6', '0', '0'],
      ['b', '2', '10', '1'],
    ]);
  });

  it('is refused where what it keeps needs too much memory', () => {
    const lg = Array.from({ length: 3000 }, (_, n) => at(n % 10, { text: 'x'.repeat(500) }));
    const query = (max: number) =>
      `stats count(*) | appendcols max=${max} (SOURCE lg | limit any 5000 | fields text)`;
    const memoryBytes = 1_000_000;
    expect(run(query(100), { own: calls, lg }, { memoryBytes }).rows).toHaveLength(1);
    expect(() => run(query(3000), { own: calls, lg }, { memoryBytes })).toThrow(
      /`appendcols` keeps \d+ rows of those in brackets; ask for fewer with `max=`/,
    );
  });

  it.each([
    ['appendcols fields a', 'expected `(` and a query'],
    ['appendcols max=0 (fields a)', '`max` is a whole number from 1 to 100000'],
    ['appendcols max=100001 (fields a)', '`max` is a whole number from 1 to 100000'],
    ['appendcols override=maybe (fields a)', 'expected `true` or `false`'],
    ['appendcols (fields a', '`|` or `)` after the subquery'],
    ['appendcols (appendcols (fields a))', 'a subquery stands within no other'],
    ['appendcols (fields a) | pattern a | diff', '`appendcols` before `pattern`'],
  ])('is refused with its place: %s', (query, words) => {
    expect(refusal(query)).toContain(words);
  });
});
