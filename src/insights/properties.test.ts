// Properties of any log and query: lines that are skipped without parsing do not match, and the
// chunking of a log does not matter.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { execute, stream, testNowMs } from '../../test/builders/insights.ts';
import { toText } from './evaluate/values.ts';
import { Execution, type QueryResult } from './execution.ts';
import { parseQuery } from './language/parse.ts';

const word = fc.constantFrom(
  'get',
  'patch',
  'vpcLambda/v0',
  'nodes',
  'a<b',
  'tab\tx',
  'näh',
  'true',
  '5',
  '1e2',
  'x100',
);
const leaf = fc.oneof(
  word,
  fc.integer({ min: -3, max: 200 }),
  fc.boolean(),
  fc.constant(null),
  fc.constant(100),
);
const eventOf = fc.record(
  {
    stageTimestamp: fc
      .integer({ min: 0, max: 59 })
      .map((s) => `2022-09-25T13:58:${String(s).padStart(2, '0')}Z`),
    verb: leaf,
    userAgent: leaf,
    objectRef: fc.oneof(
      leaf,
      fc.record({ resource: leaf, name: leaf }, { requiredKeys: [] }),
      fc.array(leaf, { maxLength: 3 }),
    ),
  },
  { requiredKeys: ['stageTimestamp'] },
);

/** As other JSON writers encode it: escaped letters, spaces, other number formats. */
const written = fc
  .tuple(eventOf, fc.constantFrom('plain', 'go', 'letters', 'spaced', 'numbers', 'indented'))
  .map(([event, style]) => {
    const text = JSON.stringify(event);
    const hex = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
    switch (style) {
      case 'go':
        return text.replace(/[<>&]/g, hex);
      case 'letters':
        return text.replace(/(?<=[a-z])[aeost0](?=[A-Za-z0-9/])/g, hex);
      case 'spaced':
        return JSON.stringify(event, null, 1).replaceAll('\n', ' ');
      case 'indented':
        return ` \t${text} `;
      case 'numbers':
        return text.replace(/:100(?=[,}])/g, ':1e2');
      default:
        return text;
    }
  });
const line = fc.oneof(
  { weight: 8, arbitrary: written },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'not json vpcLambda',
      '',
      '{"verb":"get"',
      '[1]',
      '2022-09-25T13:58:01Z {"verb":"patch"}',
    ),
  },
);
const ending = fc.constantFrom('\n', '\r\n', '\n\n');
const log = fc
  .array(fc.tuple(line, ending), { maxLength: 12 })
  .map((all) => Buffer.from(all.flat().join('')));

const field = fc.constantFrom(
  'verb',
  'userAgent',
  'objectRef',
  'objectRef.resource',
  'objectRef.0',
  '@message',
);
const literal = fc.constantFrom(
  "'get'",
  "'vpcLambda'",
  "'vpcLambda/v0'",
  "'nodes'",
  "'a<b'",
  "'100'",
  "'x100'",
  "'true'",
  '"\\"resource\\":\\"nodes\\""',
  "'näh'",
  "'5'",
  "'resource'",
);
const test = fc
  .tuple(field, fc.constantFrom('=', '!=', 'like', 'not like', 'in'), literal)
  .map(([f, op, l]) => (op === 'in' ? `${f} in [${l}]` : `${f} ${op} ${l}`));
const regexTest = fc
  .tuple(
    field,
    fc.constantFrom('/vpc[A-Z]ambda/', '/no.es/', '/get|patch/', '/(?i)GET/', '/nodes+/'),
  )
  .map(([f, r]) => `${f} like ${r}`);
const condition = fc
  .array(fc.oneof(test, regexTest), { minLength: 1, maxLength: 3 })
  .chain((tests) => fc.constantFrom(' and ', ' or ').map((by) => tests.join(by)));
const before = fc.constantFrom(
  '',
  'fields toupper(verb) as verb | ',
  'parse userAgent "*/*" as verb, x | ',
  'sort verb | ',
  'limit 3 | ',
  'limit any 3 | ',
  'parse userAgent logfmt as verb | ',
  'parse @message csv as verb, x | ',
  'parse userAgent /(?<verb>[a-z])/ multi | ',
  'json field=@message "verb" as userAgent | ',
  'expand objectRef | ',
  'addtotals fieldname=verb objectRef | ',
  'stats count(*) by verb | ',
);
const after = fc.constantFrom(
  '',
  ' | fields verb, userAgent',
  ' | stats count(*) by verb',
  ' | limit 2',
  ' | limit any 2',
  ' | expand objectRef | filldown',
  ' | sort userAgent, verb desc',
  ' | dedup verb',
  ' | pattern userAgent',
);
const query = fc
  .tuple(before, condition, after)
  // `pattern` accepts events.
  .filter(([b, , a]) => !(b.startsWith('stats') && a.includes('pattern')))
  .map(([b, c, a]) => `${b}filter ${c}${a}`);

const outcome = ({ rows, matched, counts, withoutTime }: QueryResult) => ({
  rows: rows.map((row) => [...row.values.map(toText), row.pointer]),
  matched,
  lines: counts.lines,
  notJson: counts.notJson,
  withoutTime,
});

/** The position of an event in its file is independent of its content. */
const valuesOf = ({ rows, matched, counts }: QueryResult) => ({
  rows: rows.map((row) => row.values.map(toText)),
  matched,
  lines: counts.lines,
});

describe('of any query and log', () => {
  it('the search of raw bytes changes no result', () => {
    fc.assert(
      fc.property(query, log, (text, bytes) => {
        expect(outcome(execute(text, bytes))).toEqual(
          outcome(execute(text, bytes, { usePrefilter: false })),
        );
      }),
      { numRuns: 1500 },
    );
  });

  it('where its bytes are cut changes no result', () => {
    fc.assert(
      fc.property(query, log, fc.integer({ min: 1, max: 40 }), (text, bytes, chunkBytes) => {
        expect(outcome(execute(text, bytes, { chunkBytes }))).toEqual(
          outcome(execute(text, bytes)),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('in how many files it comes changes no result', () => {
    fc.assert(
      fc.property(query, log, fc.nat(12), (text, bytes, lines) => {
        let cut = 0;
        for (let n = 0; n < lines && cut >= 0; n++) cut = bytes.indexOf(0x0a, cut) + 1;
        const parts = [bytes.subarray(0, Math.max(0, cut)), bytes.subarray(Math.max(0, cut))];
        const execution = new Execution(parseQuery(text), { nowMs: testNowMs });
        for (const part of parts) {
          const feed = execution.open({ stream, log: 'one' });
          feed.push(part);
          feed.end();
        }
        expect(valuesOf(execution.finish())).toEqual(valuesOf(execute(text, bytes)));
      }),
      { numRuns: 500 },
    );
  });

  it('the search takes no text for a needle that JSON can write otherwise, or that a command made', () => {
    const log = [
      '{"a":1e2,"verb":"get"}',
      '{"a":{"b":1.50},"verb":"get"}',
      '{"a":["x", "y"],"verb":"get"}',
      '{"a":"x\\/y","verb":"get"}',
    ];
    const bytes = Buffer.from(log.map((one) => `${one}\n`).join(''));
    for (const condition of [
      'a = "100"',
      'a like "100"',
      'a like "1.5"',
      'a like \'"b":1.5\'',
      'a like \'x","y\'',
      'a = "x/y"',
    ]) {
      expect([condition, execute(`filter ${condition}`, bytes).matched]).toEqual([condition, 1]);
    }
    expect(execute('fields toupper(verb) as verb | filter verb = "GET"', bytes).matched).toBe(4);
    expect(
      execute('parse verb /(?<verb>.)/ | filter verb = "g" or verb = "GET"', bytes).matched,
    ).toBe(4);
    expect(
      execute('stats count(*) as n by toupper(verb) as verb | filter verb = "GET"', bytes).rows,
    ).toHaveLength(1);
  });

  it('the search does skip lines, and finds what is written otherwise', () => {
    const plain = '{"verb":"get"}\n';
    const escaped = '{"verb":"p\\u0061tch"}\n';
    const bytes = Buffer.from(plain.repeat(50) + escaped);
    const result = execute('filter verb = "patch" | fields verb', bytes);
    expect(result).toMatchObject({ matched: 1, counts: { lines: 51 } });
    // Invalid text is detected only in decoded lines.
    const bad = Buffer.concat([
      Buffer.from('{"verb":"g'),
      Buffer.from([0xff]),
      Buffer.from('"}\n'),
    ]);
    expect(execute('filter verb = "patch"', bad).counts.badText).toBe(0);
    expect(execute('filter verb like /^g/', bad).counts.badText).toBe(1);
  });
});
