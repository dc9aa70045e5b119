// `join`: the examples on AWS's page, and the cases that it leaves open.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { at, type Logs, refusal, runOver as run } from '../../test/builders/insights.ts';
import { parseQuery } from './language/parse.ts';
import { printQuery } from './language/print.ts';

const lambda = '/aws/lambda/my-function';
const logs: Logs = {
  own: [
    at(1, { requestId: 'a', status: 500, latency: 20 }),
    at(2, { requestId: 'b', status: 200, latency: 90 }),
    at(3, { requestId: 'c', status: 503, latency: 30 }),
    at(4, { status: 502, latency: 50 }),
    at(5, { requestId: 'd', status: 504, latency: 40 }),
  ],
  [lambda]: [
    at(1, { requestId: 'b', duration: 8, memoryUsed: 64 }),
    at(2, { requestId: 'c', duration: 5, memoryUsed: 70 }),
    at(3, { duration: 99 }),
    at(4, { requestId: 'a', duration: 6 }),
    at(6, { requestId: 'c', duration: 7, memoryUsed: 71 }),
  ],
};
const documented = (type: string) => `filter status >= 500
  | join type=${type} left=api right=lambda
      where api.requestId=lambda.requestId
      (SOURCE '${lambda}')
  | fields api.requestId, api.status, api.latency, lambda.duration, lambda.memoryUsed
  | sort api.latency desc`;

describe('join', () => {
  it('answers a row for each pair of equal ones, with fields of both sides', () => {
    const { rows, columns, sources, matched, counts, pointers } = run(documented('inner'), logs);
    expect(columns).toEqual([
      ...['api.requestId', 'api.status', 'api.latency', 'lambda.duration', 'lambda.memoryUsed'],
    ]);
    expect(rows).toEqual([
      ['c', '503', '30', '5', '70'],
      ['c', '503', '30', '7', '71'],
      ['a', '500', '20', '6', undefined],
    ]);
    expect(sources).toEqual([lambda, undefined]);
    expect([matched, counts.lines]).toEqual([4, 10]);
    // A row keeps the event before the join: @ptr points to it.
    expect(pointers[0]).toBe(pointers[1]);
    expect(pointers[0]).not.toBe(pointers[2]);
  });

  it('of type left keeps rows that have no equal one', () => {
    expect(run(documented('left'), logs).rows).toEqual([
      [undefined, '502', '50', undefined, undefined],
      ['d', '504', '40', undefined, undefined],
      ['c', '503', '30', '5', '70'],
      ['c', '503', '30', '7', '71'],
      ['a', '500', '20', '6', undefined],
    ]);
  });

  it('without rows in the brackets answers nothing, and of type left what it was given', () => {
    const ask = (type: string) => run(documented(type), { own: logs.own ?? [] }).rows;
    expect(ask('inner')).toEqual([]);
    expect(ask('left')).toHaveLength(4);
  });

  it('is inner where no type is given; the options and the fields may be turned around', () => {
    const query = `join right=r left=l where r.requestId == l.requestId (SOURCE '${lambda}')
      | stats count(*) as n by l.status | sort l.status`;
    const { rows, columns } = run(query, logs);
    expect(columns).toEqual(['l.status', 'n']);
    expect(rows).toEqual([
      ['200', '1'],
      ['500', '1'],
      ['503', '2'],
    ]);
  });

  it('joins what `stats` has made on both sides, and shows all of both', () => {
    const query = `stats count(*) as n by verb
      | join left=a right=b where a.verb = b.verb (filter code = 429 | stats max(took) as most, count(*) by verb)`;
    const own = ['get', 'list', 'get', 'list', 'patch'].map((verb, took) =>
      at(took, { verb, took, code: took % 2 === 0 ? 200 : 429 }),
    );
    const { rows, columns, counts, pointers } = run(query, { own });
    expect(columns).toEqual(['a.verb', 'a.n', 'b.verb', 'b.most', 'b.count(*)']);
    expect(rows).toEqual([['list', '2', 'list', '3', '2']]);
    // The log is read twice, but each event is counted once.
    expect(counts.lines).toBe(5);
    expect(pointers).toEqual([undefined]);
  });

  it('shows @timestamp and @message of both where nothing says what', () => {
    const { columns, rows } = run(
      `join left=a right=b where a.requestId = b.requestId (SOURCE 'g') | parse b.@message '"*"' as word`,
      { own: [at(1, { requestId: 'x' })], g: [at(2, { requestId: 'x' })] },
    );
    expect(columns).toEqual(['a.@timestamp', 'a.@message', 'b.@timestamp', 'b.@message', 'word']);
    expect(rows).toEqual([
      [
        '2022-09-25 13:58:01.000',
        '{"stageTimestamp":"2022-09-25T13:58:01Z","requestId":"x"}',
        '2022-09-25 13:58:02.000',
        '{"stageTimestamp":"2022-09-25T13:58:02Z","requestId":"x"}',
        'stageTimestamp',
      ],
    ]);
  });

  it('a name without a side is of the rows before, and a new one comes before a side', () => {
    const query = `join left=a right=b where a.id = b.ref.id (SOURCE 'g')
      | fields x, a.x, b.x, b.ref.id, concat(x, "!") as \`a.x\` | filter a.x = "1!" | display x, a.x, b.x, b.ref.id`;
    const g = [at(1, { ref: { id: 7 }, x: 2 })];
    expect(run(query, { own: [at(1, { id: '7', x: 1 })], g }).rows).toEqual([
      ['1', '1!', '2', '7'],
    ]);
  });

  it('gives equal rows in the order of a `sort` in the brackets, and cuts at its `limit`', () => {
    const ask = (end: string) =>
      run(
        `filter requestId = 'c' | join left=a right=b where a.requestId = b.requestId (SOURCE '${lambda}' ${end}) | display b.duration`,
        logs,
      ).rows.flat();
    expect(ask('')).toEqual(['5', '7']);
    expect(ask('| sort duration desc')).toEqual(['7', '5']);
    expect(ask('| sort duration | limit 1')).toEqual(['5']);
    expect(ask('| filter nothing = 1')).toEqual([]);
  });

  it('answers 10,000 rows without a limit behind it, whatever was before it', () => {
    const own = Array.from({ length: 150 }, (_, n) => at(n % 10, { id: n % 2 }));
    const query = (end: string) =>
      `limit 140 | join left=a right=b where a.id = b.id (fields id)${end}`;
    expect(run(query(''), { own }, { defaultLimit: 50 }).rows).toHaveLength(50);
    expect(run(query(' | limit 70'), { own }, { defaultLimit: 50 }).rows).toHaveLength(70);
    expect(run(query(' | stats count(*)'), { own }).rows).toEqual([[String(140 * 75)]]);
  });

  it('of the rows in the brackets reads those of the time range', () => {
    const startMs = Date.UTC(2022, 8, 25, 13, 58, 2);
    const query = `join left=a right=b where a.requestId = b.requestId (SOURCE '${lambda}') | display b.duration`;
    expect(run(query, logs, { startMs, endMs: startMs + 3000 }).rows).toEqual([['5']]);
  });

  it('names fields that neither side has after `stats`', () => {
    const query = `join left=a right=b where a.requestId = b.requestId
      (SOURCE '${lambda}' | stats count(*) as runs by requestId) | fields b.run`;
    expect(run(query, logs).notices).toEqual([
      'b.run has no value after `stats`: there are b.requestId, b.runs; did you mean b.runs?',
    ]);
  });

  it('is equal to asking for each row which others are equal to it', () => {
    const value = fc.constantFrom<unknown>(
      ...['5', 5, '5.0', 'a', true, 'true', 1, '1', 0, '', null],
      ...[{ a: 1 }, '{"a":1}', 'a text of more than 13'],
    );
    fc.assert(
      fc.property(fc.array(value, { maxLength: 6 }), fc.array(value), (mine, theirs) => {
        const own = mine.map((x, n) => at(n, { x, n }));
        const g = theirs.map((x, m) => at(1, { x, m }));
        const pairs = mine.flatMap((x, n) => {
          const inPairs = theirs.flatMap((y, m) => {
            const both = { own: [at(1, { x, y })] };
            return run('filter x = y', both).rows.length === 1 ? [[String(n), String(m)]] : [];
          });
          return inPairs;
        });
        const query = "join left=a right=b where a.x = b.x (SOURCE 'g')";
        const ends = '| sort a.n, b.m | display a.n, b.m';
        expect(run(`${query} ${ends}`, { own, g }).rows).toEqual(pairs);
        const alone = mine.length - new Set(pairs.map(([n]) => n)).size;
        expect(run(query.replace('join', 'join type=left'), { own, g }).rows).toHaveLength(
          pairs.length + alone,
        );
      }),
      { numRuns: 40 },
    );
  });

  it('is printed as it can be read again', () => {
    const query = documented('left');
    const printed = printQuery(parseQuery(query));
    expect(printed).toContain(
      `join type=left left=api right=lambda where api.requestId = lambda.requestId (SOURCE "${lambda}")`,
    );
    expect(printQuery(parseQuery(printed))).toBe(printed);
  });

  it('is refused where the brackets have more than 50,000 different values', () => {
    const g = (count: number) => Array.from({ length: count }, (_, id) => ({ id }));
    const query = "join left=a right=b where a.id = b.id (SOURCE 'g') | stats count(*)";
    expect(run(query, { own: g(3), g: [...g(50_000), ...g(10)] }).rows).toEqual([['6']]);
    expect(() => run(query, { own: g(3), g: g(50_001) })).toThrow(
      /`join`: id has more than 50000 different values in the brackets; add a `filter` there/,
    );
  });

  it('is refused where what it keeps needs too much memory, or where it makes rows without end', () => {
    const g = Array.from({ length: 3000 }, (_, n) => ({ id: 1, text: 'x'.repeat(100), n }));
    const query = (end: string) => `join left=a right=b where a.id = b.id (SOURCE 'g') ${end}`;
    const keeps = query('| stats count(b.text)');
    expect(run(keeps, { own: [{ id: 1 }], g }).rows).toEqual([['3000']]);
    expect(() => run(keeps, { own: [{ id: 1 }], g }, { memoryBytes: 500_000 })).toThrow(
      /`join` keeps \d+ rows of those in brackets; add a `filter` to them/,
    );
    expect(() => run(query('| filter a.id = 2'), { own: g, g })).toThrow(
      /`join` makes more than 5000000 rows of \d+: many on both sides are equal/,
    );
  });

  it.each([
    ['join right=b where a.x = b.x (fields x)', '`left=` and a name', ''],
    ['join left=a where a.x = b.x (fields x)', '`right=` and a name', ''],
    ['join type=outer left=a right=b where a.x = b.x (fields x)', '`inner` or `left`', ''],
    ['join left=a right=a where a.x = a.x (fields x)', 'both sides of `join` are called a', ''],
    ['join left=a right=b (fields x)', '`where` and a pair of fields', ''],
    ['join left=a right=b where x = b.x (fields x)', 'a field of each side', ''],
    ['join left=a right=b where a.x = a.y (fields x)', 'a field of a with one of b', ''],
    ['join left=a right=b where a.x > b.x (fields x)', 'expected `=`', ''],
    ['join left=a right=b where a.x = b.x and a.y = b.y (fields x)', 'one pair', '`filter`'],
    ['join left=a right=b where a.x = b.x', '`(` and what to join with', ''],
    ['join left=a right=b where a.x = b.x ()', 'expected a command', ''],
    ['join left=a right=b where a.x = b.x (SOURCE)', 'expected the name of a log', ''],
    ['join left=a right=b where a.x = b.x (fields x', '`|` or `)` after the subquery', ''],
    [
      'join left=a right=b where a.x = b.x (fields x) | join left=c right=d where c.x = d.x (fields x)',
      'a query has one `join`',
      'run two queries',
    ],
    [
      'join left=a right=b where a.x = b.x (join left=c right=d where c.x = d.x (fields x))',
      'a subquery stands within no other',
      '',
    ],
    [
      'filter x in (join left=c right=d where c.x = d.x (fields x))',
      'a subquery stands within no other',
      '',
    ],
    [
      'join left=a right=b where a.x = b.x (filter x in (fields x) | fields x)',
      'a subquery stands within no other',
      '',
    ],
    [
      'join left=a right=b where a.x = b.x (stats count(*) as n by y)',
      '`b` has no x to join by',
      'there are y, n',
    ],
    [
      'stats count(*) by y | join left=a right=b where a.x = b.x (fields x)',
      '`a` has no x to join by',
      'there are y, count(*)',
    ],
    [
      'join left=a right=b where a.x = b.x (fields x) | pattern b.x | diff',
      '`join` before `pattern`',
      '',
    ],
    ['dedup x | join left=a right=b where a.x = b.x (fields x)', 'cannot follow `dedup`', ''],
  ])('is refused with its place: %s', (query, words, hint) => {
    const told = refusal(query);
    expect(told).toContain(words);
    expect(told).toContain(hint);
  });
});

describe('the last command in brackets', () => {
  it.each(['filldown', 'filldown x', 'addtotals', 'addtotals x', 'limit 5', 'diff', 'fillmissing'])(
    'may be `%s`',
    (command) => {
      const before = { diff: 'pattern x |', fillmissing: 'stats count(*) by bin(1m) |' };
      const first = Object.entries(before).find(([name]) => name === command)?.[1] ?? 'fields x |';
      expect(parseQuery(`filter x in (${first} ${command}) | limit 1`).commands).toHaveLength(2);
    },
  );
});
