// Random logs, and random questions about them in three languages: this engine's, jq's and DuckDB's
// SQL. Only what all three define the same way: numbers, text without natural order, fields that
// are there, regular expressions of RE2.
import fc from 'fast-check';

/**
 * The same question thrice; `jq` over `$all`, the list of events, and `sql` over the table `log`.
 */
export interface Asked {
  readonly ours: string;
  readonly jq: string;
  readonly sql: string;
}

const verbs = ['get', 'patch', 'list', 'watch'] as const;
const resources = ['nodes', 'pods', 'leases'] as const;
const agents = ['kubectl/a b', 'vpcLambda/v', 'kubelet', 'a.b+c/x', 'Kubelet/(y)'] as const;
const firstMs = Date.UTC(2022, 8, 25, 13, 58);

export const log = fc
  .array(
    fc.record(
      {
        verb: fc.constantFrom(...verbs),
        code: fc.integer({ min: 200, max: 209 }),
        took: fc.double({ min: 0, max: 1000, noNaN: true }).map((one) => Math.round(one * 8) / 8),
        agent: fc.constantFrom(...agents),
        resource: fc.constantFrom(...resources),
        note: fc.constantFrom('x', 'yy', ''),
        groups: fc.array(fc.constantFrom('masters', 'nodes', 'all'), { maxLength: 3 }),
        step: fc.integer({ min: 0, max: 90_000 }),
      },
      { requiredKeys: ['verb', 'code', 'took', 'agent', 'resource', 'groups', 'step'] },
    ),
    { minLength: 1, maxLength: 40 },
  )
  .map((events) => {
    let ms = firstMs;
    return events.map(({ step, ...one }, seq) => {
      ms += step;
      return { ...one, seq, ms, stageTimestamp: new Date(ms).toISOString() };
    });
  });
export type Log = typeof log extends fc.Arbitrary<infer T> ? T : never;

// ---- expressions ----

const same = (text: string): Asked => ({ ours: text, jq: `.${text}`, sql: text });
const textOf = (text: string): Asked => ({ ours: `"${text}"`, jq: `"${text}"`, sql: `'${text}'` });
const textField = fc.constantFrom('verb', 'agent', 'resource').map(same);
const word = fc.constantFrom('get', 'patch', 'nodes', 'kubelet', 'vpcLambda/v', 'nothing');
const part = fc.constantFrom('e', 'Lambda', 'a.b', '/', '(y)', 'kube', 'ODES', ' b');
/** Read alike by RE2, Oniguruma and the matcher here. */
const regex = fc.constantFrom(
  ...['^kube', 'a[t.]', '[a-z]+/[a-z]', '(get|list)$', '^.{4}$', 'o(d|n)', '[^a-z/]', 'l.*t'],
  ...['\\\\bv', 'Ku?b', '(?i)KUBE', 's{1,2}$'],
);

const number: fc.Arbitrary<Asked> = fc.letrec<{ number: Asked }>((tie) => ({
  number: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.constantFrom('code', 'took', 'seq').map(same),
    fc
      .integer({ min: 0, max: 210 })
      .map((n) => ({ ours: `${n}`, jq: `${n}`, sql: `${n}::double` })),
    fc
      .tuple(tie('number'), fc.constantFrom('+', '-', '*'), tie('number'))
      .map(([a, op, b]) => both(a, b, (x, y) => `(${x} ${op} ${y})`)),
    fc
      .tuple(fc.constantFrom('floor', 'ceil', 'abs'), tie('number'))
      .map(([name, { ours, jq, sql }]) => ({
        ours: `${name}(${ours})`,
        jq: `(${jq} | ${name === 'abs' ? 'fabs' : name})`,
        sql: `${name}(${sql})`,
      })),
    textField.map(({ ours, jq, sql }) => ({
      ours: `strlen(${ours})`,
      jq: `(${jq} | length)`,
      sql: `length(${sql})`,
    })),
    tie('number').map(({ ours, jq, sql }) => ({
      ours: `round(${ours})`,
      // Half goes away from zero in all three.
      jq: `(${jq} | round)`,
      sql: `round(${sql})`,
    })),
    fc
      .tuple(tie('number'), fc.integer({ min: 200, max: 209 }), tie('number'))
      .map(([a, code, b]) => ({
        ours: `if(code = ${code}, ${a.ours}, ${b.ours})`,
        jq: `(if .code == ${code} then ${a.jq} else ${b.jq} end)`,
        sql: `case when code = ${code} then ${a.sql} else ${b.sql} end`,
      })),
    fc
      .tuple(fc.constantFrom('code', 'seq'), fc.integer({ min: 2, max: 7 }))
      .map(([name, by]) => ({ ...one(`${name} % ${by}`), jq: `(.${name} % ${by})` })),
  ),
})).number;

const one = (text: string) => ({ ours: `(${text})`, sql: `(${text})` });
const both = (a: Asked, b: Asked, join: (x: string, y: string) => string): Asked => ({
  ours: join(a.ours, b.ours),
  jq: join(a.jq, b.jq),
  sql: join(a.sql, b.sql),
});

const text: fc.Arbitrary<Asked> = fc.oneof(
  textField,
  fc.tuple(fc.constantFrom('tolower', 'toupper'), textField).map(([name, of]) => ({
    ours: `${name}(${of.ours})`,
    jq: `(${of.jq} | ${name === 'tolower' ? 'ascii_downcase' : 'ascii_upcase'})`,
    sql: `${name === 'tolower' ? 'lower' : 'upper'}(${of.sql})`,
  })),
  fc.tuple(textField, word, textField).map(([a, by, b]) => ({
    ours: `concat(${a.ours}, "${by}", ${b.ours})`,
    jq: `(${a.jq} + "${by}" + ${b.jq})`,
    sql: `concat(${a.sql}, '${by}', ${b.sql})`,
  })),
  fc.tuple(textField, part, word).map(([of, from, to]) => ({
    ours: `replace(${of.ours}, "${from}", "${to}")`,
    jq: `(${of.jq} | split("${from}") | join("${to}"))`,
    sql: `replace(${of.sql}, '${from}', '${to}')`,
  })),
  fc
    .tuple(textField, fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 6 }))
    .map(([of, from, length]) => ({
      ours: `substr(${of.ours}, ${from}, ${length})`,
      jq: `${of.jq}[${from}:${from + length}]`,
      sql: `substr(${of.sql}, ${from + 1}, ${length})`,
    })),
  textField.map(({ ours, jq, sql }) => ({
    ours: `base64encode(${ours})`,
    jq: `(${jq} | @base64)`,
    sql: `to_base64(encode(${sql}))`,
  })),
  textField.map(({ ours, jq, sql }) => ({
    ours: `regexReplace(${ours}, "[aeu]+", "-")`,
    jq: `(${jq} | gsub("[aeu]+"; "-"))`,
    sql: `regexp_replace(${sql}, '[aeu]+', '-', 'g')`,
  })),
  fc.constant({
    ours: 'coalesce(note, "none")',
    jq: '(.note // "none")',
    sql: "coalesce(note, 'none')",
  }),
);

// ---- conditions ----

const compared = fc
  .tuple(number, fc.constantFrom('=', '!=', '<', '<=', '>', '>=', '=='), number)
  .map(([a, op, b]) => ({
    ours: `${a.ours} ${op} ${b.ours}`,
    jq: `${a.jq} ${op === '=' ? '==' : op} ${b.jq}`,
    sql: `${a.sql} ${op === '==' ? '=' : op} ${b.sql}`,
  }));
const textTest = fc.oneof(
  fc.tuple(text, fc.constantFrom('=', '!='), word.map(textOf)).map(([a, op, b]) => ({
    ours: `${a.ours} ${op} ${b.ours}`,
    jq: `${a.jq} ${op === '=' ? '==' : op} ${b.jq}`,
    sql: `${a.sql} ${op} ${b.sql}`,
  })),
  fc.tuple(text, part, fc.boolean()).map(([of, wanted, not]) => ({
    ours: `${of.ours} ${not ? 'not like' : 'like'} "${wanted}"`,
    jq: `(${of.jq} | contains("${wanted}")${not ? ' | not' : ''})`,
    sql: `${not ? 'not ' : ''}contains(${of.sql}, '${wanted}')`,
  })),
  fc.tuple(text, regex, fc.boolean()).map(([of, source, not]) => ({
    ours: `${of.ours} ${not ? 'not like' : 'like'} /${source.replaceAll('\\\\', '\\')}/`,
    jq: `(${of.jq} | test("${source}")${not ? ' | not' : ''})`,
    sql: `${not ? 'not ' : ''}regexp_matches(${of.sql}, '${source.replaceAll('\\\\', '\\')}')`,
  })),
  fc
    .tuple(text, fc.array(word, { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([of, words, not]) => ({
      ours: `${of.ours} ${not ? 'not in' : 'in'} [${words.map((w) => `"${w}"`).join(', ')}]`,
      jq: `(${of.jq} | IN(${words.map((w) => `"${w}"`).join(', ')})${not ? ' | not' : ''})`,
      sql: `${of.sql} ${not ? 'not in' : 'in'} (${words.map((w) => `'${w}'`).join(', ')})`,
    })),
  fc.tuple(text, part, fc.constantFrom('starts', 'ends')).map(([of, wanted, side]) => ({
    ours: `${side}With(${of.ours}, "${wanted}") = 1`,
    jq: `(${of.jq} | ${side}with("${wanted}"))`,
    sql: `${side}_with(${of.sql}, '${wanted}')`,
  })),
  fc.constant({ ours: 'ispresent(note)', jq: '(.note != null)', sql: '(note is not null)' }),
);

/** A subquery over the same log. */
const among = fc
  .tuple(
    fc.constantFrom('verb', 'agent', 'resource', 'code'),
    fc.integer({ min: 200, max: 209 }),
    fc.constantFrom('in', 'not in'),
  )
  .map(([name, code, word]) => {
    const found = `(.${name} as $one | any($all[]; .code == ${code} and .${name} == $one))`;
    return {
      ours: `${name} ${word} (filter code = ${code} | fields ${name})`,
      jq: word === 'in' ? found : `(${found} | not)`,
      sql: `${name} ${word} (select other.${name} from log other where other.code = ${code})`,
    };
  });

export const condition: fc.Arbitrary<Asked> = fc.letrec<{ condition: Asked }>((tie) => ({
  condition: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    compared,
    textTest,
    among,
    fc
      .tuple(tie('condition'), fc.constantFrom('and', 'or'), tie('condition'))
      .map(([a, op, b]) => both(a, b, (x, y) => `(${x}) ${op} (${y})`)),
    tie('condition').map(({ ours, jq, sql }) => ({
      ours: `not (${ours})`,
      jq: `((${jq}) | not)`,
      sql: `not (${sql})`,
    })),
  ),
})).condition;

// ---- whole queries ----

const listed = (items: readonly Asked[], of: keyof Asked): string =>
  items.map((item) => item[of]).join(', ');

const sorted = fc
  .tuple(
    condition,
    fc.array(fc.oneof(number, text), { minLength: 1, maxLength: 3 }),
    fc.array(fc.tuple(fc.constantFrom('verb', 'resource', 'code', 'took'), fc.boolean()), {
      maxLength: 2,
    }),
    fc.integer({ min: 1, max: 20 }),
  )
  .map(([where, shown, keys, limit]): Asked => {
    const order = keys.map(([name, down]) => `${name} ${down ? 'desc' : 'asc'}`);
    // Stable, key by key from the last; downwards by turning the list around before and after.
    const steps = keys
      .toReversed()
      .map(([name, down]) =>
        down ? `reverse | sort_by(.${name}) | reverse` : `sort_by(.${name})`,
      );
    const columns = shown.map(({ ours }, index) => `${ours} as c${index}`).join(', ');
    return {
      ours: `filter ${where.ours} | sort ${[...order, 'seq'].join(', ')} | limit ${limit} | display ${columns}`,
      jq: `$all | map(select(${where.jq})) | ${[...steps, `.[:${limit}]`].join(' | ')} | map([${listed(shown, 'jq')}])`,
      sql: `select ${listed(shown, 'sql')} from log where ${where.sql} order by ${[...order, 'seq'].join(', ')} limit ${limit}`,
    };
  });

const aggregate: fc.Arbitrary<Asked> = fc.oneof(
  fc.constantFrom<Asked>(
    { ours: 'count(*)', jq: 'length', sql: 'count(*)' },
    { ours: 'count(note)', jq: '(map(select(.note != null)) | length)', sql: 'count(note)' },
    {
      ours: 'count_distinct(agent)',
      jq: '(map(.agent) | unique | length)',
      sql: 'count(distinct agent)',
    },
    {
      ours: 'stddev(took)',
      jq: '((map(.took) | add / length) as $m | (map((.took - $m) * (.took - $m)) | add / length | sqrt))',
      sql: 'stddev_pop(took)',
    },
    { ours: 'earliest(seq)', jq: 'min_by(.seq).seq', sql: 'min(seq)' },
  ),
  fc.tuple(fc.constantFrom('sum', 'avg', 'min', 'max'), number).map(([name, of]) => ({
    ours: `${name}(${of.ours})`,
    jq: `(map(${of.jq}) | ${name === 'sum' ? 'add' : name === 'avg' ? 'add / length' : name})`,
    sql: `${name}(${of.sql})`,
  })),
  fc.integer({ min: 1, max: 100 }).map((percent) => ({
    ours: `pct(took, ${percent})`,
    jq: `(map(.took) | sort | .[((${percent} * length / 100) | ceil) - 1])`,
    sql: `list_sort(list(took))[ceil(${percent} * count(*) / 100)::integer]`,
  })),
);

const grouping = fc.constantFrom<Asked>(
  same('verb'),
  same('resource'),
  same('code'),
  { ours: 'bin(1m)', jq: '((.ms / 60000 | floor) * 60000)', sql: 'floor(ms / 60000) * 60000' },
  { ours: 'toupper(agent)', jq: '(.agent | ascii_upcase)', sql: 'upper(agent)' },
);

const grouped = fc
  .tuple(
    fc.option(condition),
    fc.uniqueArray(aggregate, { selector: ({ ours }) => ours, minLength: 1, maxLength: 4 }),
    fc.uniqueArray(grouping, { selector: ({ ours }) => ours, minLength: 1, maxLength: 3 }),
  )
  .map(([where, wanted, by]): Asked => {
    const names = by.map((_, index) => `k${index}`);
    const kept = where === null ? '' : `map(select(${where.jq})) | `;
    return {
      ours: `${where === null ? '' : `filter ${where.ours} | `}stats ${listed(wanted, 'ours')} by ${by
        .map(({ ours }, index) => `${ours} as ${names[index]}`)
        .join(', ')} | sort ${names.join(', ')}`,
      jq: `$all | ${kept}group_by([${listed(by, 'jq')}]) | map((.[0] | [${listed(by, 'jq')}]) + [${listed(wanted, 'jq')}])`,
      sql: `select ${listed(by, 'sql')}, ${listed(wanted, 'sql')} from log ${
        where === null ? '' : `where ${where.sql}`
      } group by ${by.map((_, index) => index + 1).join(', ')} order by ${by
        .map((_, index) => index + 1)
        .join(', ')}`,
    };
  });

const twice = fc.tuple(fc.constantFrom('max', 'sum', 'min'), condition).map(
  ([name, where]): Asked => ({
    ours: `filter ${where.ours} | stats count(*) as n by verb, resource | stats ${name}(n), count(*) by verb`,
    jq: `$all | map(select(${where.jq})) | group_by([.verb, .resource]) | map({verb: .[0].verb, n: length}) | group_by(.verb) | map([.[0].verb, (map(.n) | ${name === 'sum' ? 'add' : name}), length])`,
    sql: `select verb, ${name}(n), count(*) from (select verb, resource, count(*) as n from log where ${where.sql} group by all) group by verb order by verb`,
  }),
);

const parsed = fc
  .tuple(
    fc.constantFrom<Asked>(
      { ours: '"*/*" as a, b', jq: '^(?<a>.*?)/(?<b>.*)$', sql: '^(.*?)/(.*)$' },
      {
        ours: '/(?<a>[a-zA-Z]+)\\/(?<b>[a-z]+)/',
        jq: '(?<a>[a-zA-Z]+)/(?<b>[a-z]+)',
        sql: '([a-zA-Z]+)/([a-z]+)',
      },
      { ours: '"*e*" as a, b', jq: '^(?<a>.*?)e(?<b>.*)$', sql: '^(.*?)e(.*)$' },
      { ours: '/(.)(u.*)$/ as a, b', jq: '(?<a>.)(?<b>u.*)$', sql: '(.)(u.*)$' },
    ),
    condition,
  )
  .map(([pattern, where]): Asked => {
    const group = (index: number) =>
      `case when regexp_matches(agent, '${pattern.sql}') then regexp_extract(agent, '${pattern.sql}', ${index}) end`;
    return {
      ours: `filter ${where.ours} | parse agent ${pattern.ours} | sort seq | display seq, a, b`,
      jq: `$all | map(select(${where.jq})) | map([.seq] + (([.agent | capture("${pattern.jq}")] | first // {}) | [.a, .b]))`,
      sql: `select seq, ${group(1)}, ${group(2)} from log where ${where.sql} order by seq`,
    };
  });

const others = fc.tuple(condition, fc.constantFrom('dedup', 'unnest')).map(
  ([where, kind]): Asked =>
    kind === 'dedup'
      ? {
          ours: `filter ${where.ours} | fields seq | sort seq | dedup verb, code`,
          jq: `$all | map(select(${where.jq})) | group_by([.verb, .code]) | map([min_by(.seq).seq]) | sort`,
          sql: `select min(seq) from log where ${where.sql} group by verb, code order by 1`,
        }
      : {
          ours: `filter ${where.ours} | unnest groups into g | sort seq | display seq, g`,
          jq: `$all | map(select(${where.jq}) | .seq as $s | .groups[] | [$s, .])`,
          sql: `select seq, g from (select seq, unnest(groups) as g, generate_subscripts(groups, 1) as i from log where ${where.sql}) order by seq, i`,
        },
);

/** From row to row, and several rows of one. */
const running = fc
  .tuple(condition, fc.constantFrom('accum', 'totals', 'multi', 'expand'))
  .map(([where, kind]): Asked => {
    const kept = `$all | map(select(${where.jq}))`;
    switch (kind) {
      case 'accum':
        return {
          ours: `filter ${where.ours} | sort seq | accum took as sum | display seq, sum`,
          jq: `${kept} | [foreach .[] as $e ([0, 0]; [$e.seq, .[1] + $e.took])]`,
          sql: `select seq, sum(took) over (order by seq) from log where ${where.sql} order by seq`,
        };
      case 'totals':
        return {
          ours: `filter ${where.ours} | sort seq | fields code, took | addtotals | display Total`,
          jq: `${kept} | map([.code + .took])`,
          sql: `select code + took from log where ${where.sql} order by seq`,
        };
      case 'multi':
        return {
          ours: `filter ${where.ours} | parse agent /([a-z]+)/ as part multi | filter ispresent(part) | sort seq | display seq, part`,
          jq: `${kept} | map(.seq as $s | .agent | match("[a-z]+"; "g") | [$s, .string])`,
          sql: `select seq, part from (select seq, unnest(regexp_extract_all(agent, '[a-z]+')) as part, generate_subscripts(regexp_extract_all(agent, '[a-z]+'), 1) as i from log where ${where.sql}) order by seq, i`,
        };
      default:
        return {
          ours: `filter ${where.ours} | expand groups | stats count(*) as n by groups | filter groups != "[]" | sort groups`,
          jq: `${kept} | map(.groups[]) | group_by(.) | map([.[0], length])`,
          sql: `select g, count(*) from (select unnest(groups) as g from log where ${where.sql}) group by g order by g`,
        };
    }
  });

/** Whole queries of all kinds. */
export const query = fc.oneof(sorted, grouped, twice, parsed, others, running);
