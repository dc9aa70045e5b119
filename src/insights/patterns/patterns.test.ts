// Patterns of texts, as `pattern` finds them, and the two time ranges that `diff` compares.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnOf, rowsOf } from '../../../test/builders/insights.ts';
import { QueryError } from '../language/query-error.ts';
import { mask, maxMaskedLength } from './mask.ts';
import { type DiffPeriod, periodBefore } from './periods.ts';

const letters = (index: number) =>
  String(index).replace(/\d/g, (d) => 'abcdefghij'[Number(d)] ?? '');
const at = (second: number, text: string) =>
  `2023-01-01 19:00:${String(second).padStart(2, '0')} ${text}`;
const documented = [
  '2023-01-01 19:00:01 [INFO] Calling DynamoDB to store for resource id 12342342k124-12345',
  '2023-01-01 19:00:02 [INFO] Calling DynamoDB to store for resource id 324892398123-12345',
  '2023-01-01 19:00:03 [INFO] Calling DynamoDB to store for resource id 3ff231242342-12345',
];

describe('pattern', () => {
  it('finds the one pattern of the example that CloudWatch documents', () => {
    expect(rowsOf('pattern @message', documented)).toEqual([
      ['<Time-1> [INFO] Calling DynamoDB to store for resource id <Token-2>', '1', '3', 'Info'],
    ]);
  });

  it('keeps words that take few values, and what never changes; names are tokens', () => {
    const events = Array.from({ length: 60 }, (_, index) => ({
      verb: index % 3 === 0 ? 'patch' : 'get',
      objectRef: { apiVersion: 'v1', name: `pod-${'abcdefghijklmnopqrst'[index % 20]}` },
      code: 200 + (index % 2),
    }));
    expect(
      rowsOf('pattern @message | fields @pattern, @sampleCount', events).map((row) =>
        row.slice(-2),
      ),
    ).toEqual([
      ['{"verb":"get","objectRef":{"apiVersion":"v1","name":"<Token-1>"},"code":<Number-2>}', '40'],
      [
        '{"verb":"patch","objectRef":{"apiVersion":"v1","name":"<Token-1>"},"code":<Number-2>}',
        '20',
      ],
    ]);
  });

  it('tells kinds of words, shares, and levels; a text without a value is no event of it', () => {
    const texts = [
      'id 3ff23124-aaaa-bbbb-cccc-123456789012 at 10.0.0.1 is i-0123456789abcdef0',
      'id 4ff23124-aaaa-bbbb-cccc-123456789012 at 10.0.0.2 is i-0123456789abcdef1',
      'WARN disk 1 full',
    ];
    expect(rowsOf('pattern @message', texts)).toEqual([
      ['id <UUID-1> at <IPAddress-2> is <ID-3>', '0.6667', '2', undefined],
      ['WARN disk 1 full', '0.3333', '1', 'Warning'],
    ]);
    expect(rowsOf('pattern nothing', texts)).toEqual([]);
    expect(
      columnOf('pattern concat("error ", verb) | display @severityLabel', [{ verb: 'get' }]),
    ).toEqual(['Error']);
  });

  it('continues as any table does', () => {
    const query =
      'parse @message "[*] *" as level, rest | filter level = "INFO" | pattern rest | filter @sampleCount > 2 | sort @pattern | limit 1 | display @pattern';
    expect(columnOf(query, documented)).toEqual([
      'Calling DynamoDB to store for resource id <Token-1>',
    ]);
  });

  it('gives the same patterns in whatever order events come, each event in one', () => {
    const word = fc.constantFrom(
      'get',
      'list',
      'a1',
      'b22',
      '10.0.0.1',
      'x',
      'näh',
      '"k":7',
      '{',
      '\u0001',
    );
    const texts = fc.array(
      fc.array(word, { maxLength: 6 }).map((words) => words.join(' ')),
      {
        maxLength: 30,
      },
    );
    fc.assert(
      fc.property(texts, (all) => {
        const events = all.map((text) => ({ text }));
        const found = rowsOf('pattern text', events);
        expect(rowsOf('pattern text', events.toReversed())).toEqual(found);
        expect(found.reduce((sum, row) => sum + Number(row[2]), 0)).toBe(all.length);
      }),
      { numRuns: 300 },
    );
  });

  it('takes time in proportion to a text, and looks at its beginning alone', () => {
    const long = `${'x'.repeat(200_000)}1 ${'1-'.repeat(200_000)}`;
    expect(mask(long).text.length).toBeLessThanOrEqual(maxMaskedLength);
    expect(mask('a'.repeat(maxMaskedLength)).values).toEqual([]);
  });

  it('shows control characters of a text by their pictures, and takes none for a mark', () => {
    const texts = ['\u0000\u0001', '\u0006', '\u0001 7'].map((text) => ({ text }));
    expect(columnOf('pattern text | sort @pattern', texts)).toEqual([
      '\u2400\u2401',
      '\u2401 7',
      '\u2406',
    ]);
  });

  it('is refused beyond its memory, with the remedy', () => {
    const events = Array.from({ length: 3000 }, (_, index) => ({ name: letters(index) }));
    expect(() => rowsOf('pattern name', events, { memoryBytes: 500_000 })).toThrow(
      /`pattern` has met \d+ texts without a pattern in common; add a `filter`/,
    );
  });

  it.each<[string, (index: number) => string]>([
    // 150 texts of 32 kB: their parsed form is larger.
    ['words', (index) => `${'a '.repeat(8000)}${letters(index)}`],
    ['values', (index) => `${'7'.repeat(16_000)} ${letters(index)}`],
  ])('counts the memory of %s', (_, textOf) => {
    const events = Array.from({ length: 150 }, (__, index) => ({ text: textOf(index) }));
    expect(() => rowsOf('pattern text', events, { memoryBytes: 4_900_000 })).toThrow(
      /`pattern` has met \d+ texts without a pattern in common; add a `filter`/,
    );
    expect(rowsOf('pattern text', events, { memoryBytes: 64_000_000 })).toHaveLength(1);
  });
});

describe('diff', () => {
  const events = [
    at(10, 'started worker'),
    at(11, 'lost lease 7'),
    at(12, 'lost lease 8'),
    at(20, 'started worker'),
    at(21, 'lost lease 9'),
    at(22, 'crashed'),
    at(31, 'too late'),
  ];
  const range = {
    startMs: Date.UTC(2023, 0, 1, 19, 0, 20),
    endMs: Date.UTC(2023, 0, 1, 19, 0, 30),
  };

  it('compares with the range before, of the same length: what is new, gone, more, fewer', () => {
    const pattern = 'parse @message "2023-01-01 * *" as t, rest | pattern rest | diff';
    expect(
      rowsOf(
        `${pattern} | display @pattern, @sampleCount, @diffEventCount, @differenceDescription`,
        events,
        range,
      ),
    ).toEqual([
      ['crashed', '1', '1', 'New'],
      ['lost lease <Number-1>', '1', '-1', '1 fewer event'],
      ['started worker', '1', '0', 'No change'],
    ]);
    expect(rowsOf(`filter @message like "lost" | ${pattern}`, events, range)).toHaveLength(1);
  });

  it.each<[DiffPeriod, string, string]>([
    ['previous', '2024-03-30T22:00:00.000Z', '2024-03-31T05:59:59.999Z'],
    ['previousDay', '2024-03-30T06:00:00.000Z', '2024-03-30T14:00:00.000Z'],
    ['previousWeek', '2024-03-24T06:00:00.000Z', '2024-03-24T14:00:00.000Z'],
    // February has no 31st.
    ['previousMonth', '2024-02-29T06:00:00.000Z', '2024-02-29T14:00:00.000Z'],
  ])('%s begins at %s', (period, start, end) => {
    const asked = {
      startMs: Date.UTC(2024, 2, 31, 6),
      endMs: Date.UTC(2024, 2, 31, 14),
    };
    const { startMs, endMs } = periodBefore(asked, period);
    expect([startMs, endMs].map((ms) => new Date(ms).toISOString())).toEqual([start, end]);
  });

  it('finds events of the day before', () => {
    const days = [
      { time: '2023-01-01T10:00:00Z', verb: 'get' },
      { time: '2023-01-02T10:00:00Z', verb: 'get' },
      { time: '2023-01-02T10:00:01Z', verb: 'list' },
      { time: '2023-01-02T04:00:00Z', verb: 'neither' },
    ];
    const of = { startMs: Date.UTC(2023, 0, 2, 9), endMs: Date.UTC(2023, 0, 2, 11) };
    expect(rowsOf('pattern verb | diff previousDay', days, of)).toEqual([
      ['list', '0.5', '1', undefined, '1', 'New'],
      ['get', '0.5', '1', undefined, '0', 'No change'],
    ]);
  });

  it.each([
    ['diff', /stands after `pattern` alone/],
    ['pattern @message | limit 5 | diff', /stands after `pattern` alone/],
    ['limit 5 | pattern @message | diff', /`limit` before `pattern`/],
    [
      'pattern @message | diff previousYear',
      /one of previousDay, previousWeek, previousMonth, not `previousYear`/,
    ],
    ['stats count(*) | pattern verb', /takes events/],
  ])('%s is refused', (query, message) => {
    expect(() => rowsOf(query, events, range)).toThrow(message);
  });

  it('wants a range', () => {
    expect(() => rowsOf('pattern @message | diff', events)).toThrow(QueryError);
  });
});
