import { describe, expect, it } from 'vitest';
import { columnOf, execute, rowsOf, stream } from '../../test/builders/insights.ts';
import { toJson } from './evaluate/values.ts';
import { explainQueryError, QueryError, QueryLimitError } from './language/query-error.ts';

const at = (second: number, more: object = {}) => ({
  stageTimestamp: `2022-09-25T13:58:${String(second).padStart(2, '0')}.375313Z`,
  ...more,
});
const verbs = [
  at(1, { verb: 'get', n: 3 }),
  at(3, { verb: 'patch', n: 10 }),
  at(2, { verb: 'get', n: '5' }),
];
const v = (...values: readonly unknown[]) => values.map((x, index) => at(index, { x }));
const kept = (condition: string, ...values: readonly unknown[]) =>
  columnOf(`filter ${condition} | fields x | sort @timestamp asc`, v(...values));

describe('a query of events', () => {
  it('shows the newest first, timestamp and message, where it says nothing else', () => {
    const result = execute("filter verb = 'get'", verbs);
    expect(result.columns).toEqual(['@timestamp', '@message']);
    expect(rowsOf("filter verb = 'get'", verbs)).toEqual([
      ['2022-09-25 13:58:02.375', JSON.stringify(verbs[2])],
      ['2022-09-25 13:58:01.375', JSON.stringify(verbs[0])],
    ]);
    expect(result).toMatchObject({ matched: 2, counts: { lines: 3 } });
    expect(result.rows.every((row) => row.pointer !== undefined)).toBe(true);
  });

  it('shows the fields of every `fields`, or of the last `display` alone', () => {
    expect(execute('fields verb | fields n, verb', verbs).columns).toEqual(['n', 'verb']);
    expect(execute('fields verb | display n | display n as m', verbs).columns).toEqual(['m']);
    expect(execute('parse @message "\\"verb\\":\\"*\\"" as w', verbs).columns).toEqual([
      '@timestamp',
      '@message',
      'w',
    ]);
    expect(execute('fields verb, n + 1', verbs).columns).toEqual(['verb', 'n + 1']);
  });

  it('keeps only that many, the first in the order that stands', () => {
    expect(columnOf('fields verb | limit 1', verbs)).toEqual(['patch']);
    expect(columnOf('sort n asc | fields n | limit 2', verbs)).toEqual(['3', '5']);
    expect(columnOf('limit 2 | filter verb = "get" | fields n', verbs)).toEqual(['5']);
    expect(execute('fields verb', verbs, { defaultLimit: 2 }).rows).toHaveLength(2);
    const many = Array.from({ length: 1000 }, (_, index) => at(index % 60, { n: index }));
    expect(columnOf('sort n desc | limit 3 | fields n', many)).toEqual(['999', '998', '997']);
  });

  it('reads a time range, both ends included', () => {
    const startMs = Date.parse('2022-09-25T13:58:02.375Z');
    const some = [...verbs, { verb: 'timeless' }];
    expect(rowsOf('fields verb', some, { startMs })).toEqual([['patch'], ['get']]);
    expect(rowsOf('fields verb', some, { startMs, endMs: startMs })).toEqual([['get']]);
    expect(execute('fields verb', some, { startMs }).withoutTime).toBe(1);
  });
});

describe('fields', () => {
  it('are found below each other, by index, and by names with dots', () => {
    const event = at(1, {
      objectRef: { name: 'n1' },
      user: { groups: ['a', { b: 'c' }] },
      annotations: { 'authorization.k8s.io/decision': 'allow', 'a.b': { 'c.d': 1 } },
      'x.y': 'flat',
      '@odd': 2,
    });
    const fields = [
      'objectRef.name',
      'user.groups.0',
      'user.groups[1].b',
      'annotations.`authorization.k8s.io/decision`',
      '`annotations.authorization.k8s.io/decision`',
      'annotations.a.b.c.d',
      'x.y',
      '@@odd',
      '@logStream',
      'objectRef',
    ];
    expect(rowsOf(`fields ${fields.join(', ')}`, [event])).toEqual([
      ['n1', 'a', 'c', 'allow', 'allow', '1', 'flat', '2', stream, '{"name":"n1"}'],
    ]);
  });

  it('of what every object has are missing', () => {
    const names = [
      'constructor',
      'toString',
      '__proto__',
      '__proto__.x',
      'a.length',
      'a.constructor',
    ];
    expect(rowsOf(`fields ${names.join(', ')}`, [at(1, { a: [1] })])).toEqual([
      names.map(() => undefined),
    ]);
  });

  it('named again mean what was named last', () => {
    expect(rowsOf('fields toupper(verb) as verb | filter verb = "GET" | fields n', verbs)).toEqual([
      ['GET', '5'],
      ['GET', '3'],
    ]);
    expect(columnOf('fields jsonParse(@message) as j | display j.verb, j.n', verbs)).toEqual([
      'patch',
      'get',
      'get',
    ]);
  });
});

describe('a condition', () => {
  it('of equality compares text as text, and numbers with text of digits', () => {
    expect(kept('x = "get"', 'get', 'GET', 1)).toEqual(['get']);
    expect(kept('x = 5', 5, '5', '5.0', 'five')).toEqual(['5', '5', '5.0']);
    expect(kept('x == "5"', 5, '5', '5.0')).toEqual(['5', '5']);
    expect(kept('x = "true" or x = 0', true, false, 'true')).toEqual(['true', 'false', 'true']);
  });

  it('with a missing field or null does not hold, whichever it is', () => {
    const some = [at(1), at(2, { x: null }), at(3, { x: 1 })];
    for (const [condition, count] of [
      ['x = 1', 1],
      ['x != 2', 1],
      ['x < 2', 1],
      ['x not like "9"', 1],
      ['x not in [9]', 1],
      ['not (x = 1)', 2],
      ['ispresent(x)', 1],
      ['not ispresent(x)', 2],
      ['isempty(x)', 2],
    ] as const) {
      expect([condition, columnOf(`filter ${condition} | fields x`, some).length]).toEqual([
        condition,
        count,
      ]);
    }
  });

  it('of order compares numbers as numbers and other text by its characters', () => {
    expect(kept('x > 9', 10, '10', 9, 'a')).toEqual(['10', '10', 'a']);
    expect(kept('x < "b"', 'a', 'B', 'c')).toEqual(['a', 'B']);
  });

  it('like finds a part, case and all, or a regular expression', () => {
    expect(kept('x like "vpcLambda"', 'vpcLambda/v0', 'vpclambda')).toEqual(['vpcLambda/v0']);
    expect(kept('x like /(?i)VPC/', 'vpcLambda/v0', 'x')).toEqual(['vpcLambda/v0']);
    expect(kept('x =~ /^a.c$/', 'abc', 'abcd')).toEqual(['abc']);
    expect(kept('x not like /b/', 'abc', 'acd', 5)).toEqual(['acd', '5']);
    expect(kept('x in ["a", 5]', 'a', '5', 5, 'b')).toEqual(['a', '5', '5']);
    expect(kept('x not in ["a"]', 'a', 'b')).toEqual(['b']);
  });

  it('binds and before or, not before and, power before product before sum', () => {
    expect(kept('x = 1 or x = 2 and x = 3', 1, 2, 3)).toEqual(['1']);
    expect(kept('not x = 1 and x < 3', 1, 2, 3)).toEqual(['2']);
    expect(columnOf('fields 1 + 2 * 3 ^ 2 ^ 1 - -1 % 2', [at(1)])).toEqual(['20']);
  });
});

describe('sort', () => {
  it('orders as CloudWatch documents it', () => {
    const documented = [
      '!',
      ':',
      '#',
      '*%04',
      '0#',
      '5A',
      '111A',
      '2345_',
      '@',
      '@_',
      'A',
      'A9876fghj',
      'a12345hfh',
      '0',
      '1',
      '2',
      '3',
    ];
    const sorted = columnOf('fields x | sort x asc', v(...documented.toReversed()));
    // The documentation's own list places `:` and `#` differently from its rule.
    expect(sorted.filter((one) => one !== ':' && one !== '#')).toEqual(
      ['!', '*%04', ...documented.slice(4)].map((one) => one),
    );
    expect(columnOf('fields x | sort x desc', v('b', 2, '10', 'a'))).toEqual(['10', '2', 'b', 'a']);
  });

  it('puts what has no value last, in both directions, and keeps what is equal as it came', () => {
    const some = [
      at(1, { id: 1 }),
      at(2, { id: 2, x: 1 }),
      at(3, { id: 3, x: 2 }),
      at(4, { id: 4, x: 1 }),
    ];
    expect(columnOf('fields id | sort x asc', some)).toEqual(['2', '4', '3', '1']);
    expect(columnOf('fields id | sort x desc', some)).toEqual(['3', '2', '4', '1']);
    expect(columnOf('fields id | sort id desc | sort x', some)).toEqual(['4', '2', '3', '1']);
  });
});

describe('stats', () => {
  it('makes a row of each group, in the order of what it groups by', () => {
    const query = 'stats count(*) as calls, sum(n), avg(n), min(n), max(n) by verb';
    expect(execute(query, verbs).columns).toEqual([
      'verb',
      'calls',
      'sum(n)',
      'avg(n)',
      'min(n)',
      'max(n)',
    ]);
    expect(rowsOf(query, verbs)).toEqual([
      ['get', '2', '8', '4', '3', '5'],
      ['patch', '1', '10', '10', '10', '10'],
    ]);
    expect(execute(query, verbs).rows.every((row) => row.pointer === undefined)).toBe(true);
  });

  it('counts what is there, what differs, and computes over results', () => {
    const some = v(1, 1, 2, undefined, 'a');
    expect(
      rowsOf(
        'stats count(*), count(), count(x), count_distinct(x), sum(x) / count(*) as mean',
        some,
      ),
    ).toEqual([['5', '5', '4', '3', '0.8']]);
    expect(
      rowsOf('stats pct(x, 50), median(x), pct(x, 100), stddev(x)', v(2, 4, 4, 4, 5, 5, 7, 9)),
    ).toEqual([['4', '4', '9', '2']]);
    expect(
      rowsOf('stats earliest(x), latest(x), sortsFirst(x), sortsLast(x)', v('m', 'a', 'z', 'b')),
    ).toEqual([['m', 'b', 'a', 'z']]);
    expect(rowsOf('stats count(*)', [])).toEqual([]);
    expect(rowsOf('stats count(*) by bin(1m), x', v(1, undefined))).toEqual([
      ['2022-09-25 13:58:00.000', '1', '1'],
      ['2022-09-25 13:58:00.000', undefined, '1'],
    ]);
  });

  it('can be counted again, and knows nothing but its columns afterwards', () => {
    const twice = 'stats count(*) as n by verb | stats count(*) as verbs, max(n) as most';
    expect(rowsOf(twice, verbs)).toEqual([['2', '2']]);
    const result = execute('stats count(*) as total by verb | sort totl', verbs);
    expect(result.notices).toEqual([
      'totl has no value after `stats`: there are verb, total; did you mean total?',
    ]);
  });

  it('is refused with a remedy where its groups outgrow its memory', () => {
    const many = Array.from({ length: 2000 }, (_, index) => at(1, { x: `value-${index}` }));
    const small = { memoryBytes: 100_000 };
    for (const query of [
      'stats count(*) by x',
      'stats count_distinct(x)',
      'sort x | limit 5000',
      'dedup x',
    ]) {
      expect(() => execute(query, many, small)).toThrow(QueryLimitError);
    }
    expect(() => execute('stats count(*) by x', many, small)).toThrow(
      /may keep: `stats` has made \d+ groups; add a `filter`/,
    );
    expect(execute('sort x | limit 5', many, small).rows).toHaveLength(5);
  });
});

describe('parse, dedup and unnest', () => {
  it('parse takes text between literals, or the groups of a regular expression', () => {
    const some = [at(1, { uri: '/api/v1/namespaces/demo/pods/p1' }), at(2, { uri: '/healthz' })];
    expect(
      rowsOf(
        'sort @timestamp | parse uri "/namespaces/*/pods/*" as ns, pod | display ns, pod',
        some,
      ),
    ).toEqual([
      ['demo', 'p1'],
      [undefined, undefined],
    ]);
    expect(
      columnOf('parse uri /namespaces\\/(?<ns>[a-z]+)/ | filter ispresent(ns) | display ns', some),
    ).toEqual(['demo']);
    expect(columnOf('parse uri /^\\/([a-z]+)/ as root | sort root | display root', some)).toEqual([
      'api',
      'healthz',
    ]);
  });

  it('dedup keeps the first in the order, and every row in which a field is missing', () => {
    expect(rowsOf('fields verb, n | dedup verb', verbs)).toEqual([
      ['patch', '10'],
      ['get', '5'],
    ]);
    expect(rowsOf('fields verb, n | sort n asc | dedup verb | limit 1', verbs)).toEqual([
      ['get', '3'],
    ]);
    expect(rowsOf('fields n | dedup nothing', verbs)).toHaveLength(3);
  });

  it('unnest makes a row of each element', () => {
    const some = [at(1, { items: ['a', { k: 'b' }] }), at(2, { items: 'none' })];
    expect(columnOf('unnest items into item | display item', some)).toEqual(['a', '{"k":"b"}']);
    expect(
      columnOf('fields jsonParse(@message) as j | unnest j.items into item | display item.k', some),
    ).toEqual([undefined, 'b']);
  });
});

describe('an event', () => {
  it('that is nested deeper than can be written stops no query', () => {
    const deep = `{"verb":"get","a":${'['.repeat(20_000)}1${']'.repeat(20_000)}}`;
    const events = [deep, { verb: 'list' }];
    expect(rowsOf('filter verb like /./ | fields verb, a | sort verb', events)).toEqual([
      ['get', '(nested too deep to be shown)'],
      ['list', undefined],
    ]);
    expect(
      execute('fields a', Buffer.from(`${deep}\n`)).rows.map(({ values }) => values.map(toJson)),
    ).toEqual([['(nested too deep to be shown)']]);
  });
});

describe('what is wrong with a query', () => {
  it.each([
    ['stats foo(x)', 'column 7: `foo` is not a function', ''],
    ['fields strln(a)', 'column 8: `strln` is not a function', 'did you mean `strlen`?'],
    ['filter count(*) > 1', '`count` counts over many events', ''],
    ['fields strlen(a, b)', '`strlen` takes 1 argument, not 2', ''],
    ['fields bin(5x)', 'expected a length of time', ''],
    ['fields bin(5)', 'expected a length of time', ''],
    ['fields 5m', 'a length of time stands only in', ''],
    ['stats verb', 'column 7: a column of `stats` is a function of many events', 'after `by`'],
    ['stats pct(n, 101)', 'a number from 0 to 100', ''],
    ['stats count(*) as a, sum(n) as a', 'two columns are called a', 'name one'],
    ['filter a like /b(?=c)/', 'column 17: regular expression: look-ahead is not supported', ''],
    ['parse a /b/', 'names nothing to keep', '(?<name>...)'],
    ['parse a /(b)(c)/ as x', '2 groups and 1 names', ''],
  ])('is reported with its place: %s', (query, words, hint) => {
    let told = '';
    try {
      execute(query, verbs);
    } catch (error) {
      if (error instanceof QueryError) told = explainQueryError(query, error);
    }
    expect(told).toContain(words);
    expect(told).toContain(hint);
  });
});
