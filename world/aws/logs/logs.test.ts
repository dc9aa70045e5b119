import { beforeEach, describe, expect, it } from 'vitest';
import { defined } from '../../../src/api/defined.ts';
import type { Answer, TestWorld } from '../../../test/builders/world-aws.ts';
import {
  cells,
  event,
  group,
  MemoryLog,
  queriesIn,
  startAt,
  worldWith,
} from '../../../test/builders/world-aws-logs.ts';

let world: TestWorld;
let log: MemoryLog;

beforeEach(() => {
  log = new MemoryLog();
  log.add(
    event(1, {
      verb: 'patch',
      userAgent: 'vpcLambda/v0.0.0',
      objectRef: { resource: 'nodes', name: 'n1' },
    }),
    event(2, {}),
    event(3, { verb: 'create', userAgent: 'vpcLambda/v0.0.0', responseStatus: { code: 429 } }),
    event(4, { verb: 'list' }),
  );
  world = worldWith(log);
});

const { logs, start, finished } = queriesIn(() => world);

describe('a Logs Insights query through the API', () => {
  it('runs while its caller asks, and ends with rows, pointers and statistics', () => {
    const queryId = start(
      "filter userAgent like 'vpcLambda' | fields verb, missing | sort @timestamp asc",
    );
    expect(logs('GetQueryResults', { queryId })).toMatchObject({
      status: 'Scheduled',
      results: [],
    });
    world.advance(1);
    const answer = logs('GetQueryResults', { queryId });
    expect(answer).toMatchObject({
      status: 'Complete',
      queryLanguage: 'CWLI',
      statistics: { recordsMatched: 2, recordsScanned: 4, bytesScanned: log.extent().end },
    });
    expect(
      cells(answer).map((row) =>
        row.map(([field, value]) => (field === '@ptr' ? field : `${field}=${value}`)),
      ),
    ).toEqual([
      ['verb=patch', '@ptr'],
      ['verb=create', '@ptr'],
    ]);
    const pointer = cells(answer)[1]?.find(([field]) => field === '@ptr')?.[1];
    const { logRecord } = logs('GetLogRecord', { logRecordPointer: pointer });
    expect(logRecord).toMatchObject({
      verb: 'create',
      'objectRef.name': 'p3',
      'responseStatus.code': '429',
      '@log': `111111111111:${group}`,
      '@timestamp': String(startAt - 57_000),
    });
  });

  it('reads no further than limit any needs', () => {
    const long = 'x'.repeat(1_000_000);
    for (let n = 0; n < 12; n++) log.add(event(5 + n, { long }));
    const { results, statistics, status } = finished(
      'filter verb = "get" | limit any 2 | fields verb',
    );
    expect([status, results?.length]).toEqual(['Complete', 2]);
    expect(Number(statistics?.bytesScanned)).toBeLessThan(5_000_000);
    expect(cells(finished('stats count(*) as n'))).toEqual([[['n', '16']]]);
  });

  it('shows no pointer after stats, and takes limit, pages and several names of a group', () => {
    expect(cells(finished('stats count(*) as n by verb | sort n desc, verb | limit 2'))).toEqual([
      [
        ['verb', 'create'],
        ['n', '1'],
      ],
      [
        ['verb', 'get'],
        ['n', '1'],
      ],
    ]);
    expect(cells(finished('fields verb', { limit: 1 }))).toHaveLength(1);
    const queryId = start('fields verb', {
      logGroupName: undefined,
      logGroupIdentifiers: [`arn:aws:logs:eu-west-1:111111111111:log-group:${group}`],
    });
    world.advance(1);
    const first = logs('GetQueryResults', { queryId, maxItems: 3 });
    const second = logs('GetQueryResults', { queryId, maxItems: 3, nextToken: first.nextToken });
    expect([cells(first).length, cells(second).length, second.nextToken]).toEqual([
      3,
      1,
      undefined,
    ]);
  });

  it('reads no event outside its seconds', () => {
    const endTime = startAt / 1000 - 58;
    expect(cells(finished('fields verb', { endTime }))).toHaveLength(2);
    expect(cells(finished('fields verb', { startTime: endTime, endTime }))).toHaveLength(1);
  });

  it('is listed, and stopped while it runs', () => {
    const first = start('fields verb');
    expect(logs('StopQuery', { queryId: first })).toEqual({ success: true });
    world.advance(1);
    expect(logs('GetQueryResults', { queryId: first }).status).toBe('Cancelled');
    const second = start('fields a');
    world.advance(1);
    const { queries } = logs('DescribeQueries', { logGroupName: group });
    expect([...(queries ?? [])].map(({ queryId, status }) => [queryId, status])).toEqual([
      [second, 'Complete'],
      [first, 'Cancelled'],
    ]);
    expect(logs('DescribeQueries', { status: 'Cancelled' }).queries).toHaveLength(1);
    expect(world.refusal('logs', 'StopQuery', { queryId: second })).toMatch(
      /^InvalidParameterException: .*not currently/,
    );
  });

  it('is refused with its place, and where there is no such group, query or record', () => {
    const input = { logGroupName: group, startTime: 1, endTime: 2 };
    expect(world.refusal('logs', 'StartQuery', { ...input, queryString: 'fields, x' })).toMatch(
      /^MalformedQueryException: line 1, column 7: expected a field/,
    );
    expect(
      world.refusal('logs', 'StartQuery', { ...input, logGroupName: 'x', queryString: 'fields x' }),
    ).toBe('ResourceNotFoundException: The specified log group does not exist.');
    expect(
      world.refusal('logs', 'StartQuery', { ...input, startTime: 3, queryString: 'fields x' }),
    ).toMatch(/startTime/);
    expect(
      world.refusal('logs', 'StartQuery', { ...input, queryLanguage: 'SQL', queryString: 'x' }),
    ).toMatch(/SQL is not supported/);
    expect(world.refusal('logs', 'GetQueryResults', { queryId: 'nope' })).toMatch(
      /^ResourceNotFoundException/,
    );
    expect(world.refusal('logs', 'GetLogRecord', { logRecordPointer: 'nope' })).toMatch(
      /pointer is invalid/,
    );
    for (let index = 0; index < 30; index++) start('fields x');
    expect(world.refusal('logs', 'StartQuery', { ...input, queryString: 'fields x' })).toMatch(
      /^LimitExceededException/,
    );
  });

  it('finds nothing while the cluster does not send its audit log', () => {
    world.call('eks', 'UpdateClusterConfig', {
      name: 'c',
      logging: { clusterLogging: [{ types: ['audit'], enabled: false }] },
    });
    world.advance(120);
    expect(finished('stats count(*)')).toMatchObject({ status: 'Complete', results: [] });
    expect(logs('FilterLogEvents', { logGroupName: group })).toEqual({
      events: [],
      searchedLogStreams: [],
    });
  });
});

const names = (answer: Answer): readonly string[] =>
  [...(answer.events ?? [])].map(({ message }) =>
    String(JSON.parse(String(message)).objectRef.name),
  );
const auditStream = (): string =>
  String(
    logs('DescribeLogStreams', { logGroupName: group, logStreamNamePrefix: 'kube-apiserver-audit' })
      .logStreams?.[0]?.logStreamName,
  );

describe('log streams and their events', () => {
  it('are those that the cluster sends, with the times of what is in them', () => {
    const { logStreams } = logs('DescribeLogStreams', {
      logGroupName: group,
      orderBy: 'LastEventTime',
      descending: true,
    });
    expect(
      [...(logStreams ?? [])].map(({ logStreamName }) =>
        String(logStreamName).replace(/-[0-9a-f]+$/, ''),
      ),
    ).toEqual(['kube-apiserver-audit', 'kube-apiserver']);
    expect(logStreams?.[0]).toMatchObject({
      firstEventTimestamp: startAt - 59_000,
      lastEventTimestamp: startAt - 56_000,
    });
    expect(logs('DescribeLogGroups').logGroups?.[0]).toMatchObject({
      logGroupName: group,
      storedBytes: log.extent().end,
    });
  });

  it.each([
    ['', ['n1', 'p2', 'p3', 'p4']],
    ['vpcLambda patch', ['n1']],
    ['vpcLambda -patch', ['p3']],
    ['?patch ?list', ['n1', 'p4']],
    ['"\\"verb\\":\\"get\\""', ['p2']],
    ['%p[34]%', ['p3', 'p4']],
    ['{ $.verb = "patch" }', ['n1']],
    ['{ ($.verb != "patch") && ($.objectRef.name = "p*") }', ['p2', 'p3', 'p4']],
    ['{ $.responseStatus.code >= 400 || $.verb = list }', ['p3', 'p4']],
    ['{ $.responseStatus NOT EXISTS && $.["verb"] = %^l% }', ['p4']],
  ])('are filtered by %s', (filterPattern, expected) => {
    expect(names(logs('FilterLogEvents', { logGroupName: group, filterPattern }))).toEqual(
      expected,
    );
  });

  it.each([
    '"open',
    '[ip, user]',
    '{ $.verb = "a"',
    '{ = "a" }',
    '{ $.verb }',
    '{ $.verb > "a" }',
    '{ $.verb "a" }',
    '%(?=a)%',
  ])('a pattern that cannot be read is refused: %s', (filterPattern) => {
    expect(
      world.refusal('logs', 'FilterLogEvents', { logGroupName: group, filterPattern }),
    ).toMatch(/^InvalidParameterException: Invalid filter pattern/);
  });

  it('come page by page, none twice and none left out, though more arrive', () => {
    const first = logs('FilterLogEvents', { logGroupName: group, limit: 3 });
    log.add(event(5, {}));
    const second = logs('FilterLogEvents', {
      logGroupName: group,
      limit: 3,
      nextToken: first.nextToken,
    });
    expect([...names(first), ...names(second), second.nextToken]).toEqual([
      'n1',
      'p2',
      'p3',
      'p4',
      'p5',
      undefined,
    ]);
    expect(
      world.refusal('logs', 'FilterLogEvents', { logGroupName: group, nextToken: 'x' }),
    ).toMatch(/nextToken is invalid/);
    const range = { startTime: startAt - 58_000, endTime: startAt - 56_000 };
    expect(names(logs('FilterLogEvents', { logGroupName: group, ...range }))).toEqual(['p2', 'p3']);
  });

  it('come whole from a log that is longer than what a page looks at', () => {
    const pad = 'x'.repeat(400_000);
    log.add(
      ...Array.from({ length: 50 }, (_, index) => event(5 + (index % 50), { verb: 'long', pad })),
    );
    const filterPattern = '{ $.verb = "long" }';
    const found: string[] = [];
    let nextToken: unknown;
    let pages = 0;
    do {
      const page = logs('FilterLogEvents', {
        logGroupName: group,
        filterPattern,
        ...defined({ nextToken }),
      });
      found.push(...names(page));
      ({ nextToken } = page);
      pages++;
    } while (nextToken !== undefined && pages < 100);
    expect(found).toEqual(Array.from({ length: 50 }, (_, index) => `p${5 + index}`));
    // A page without events still has a token.
    const none = logs('FilterLogEvents', { logGroupName: group, filterPattern: 'nothing' });
    expect([names(none), typeof none.nextToken]).toEqual([[], 'string']);
    const stream = { logGroupName: group, logStreamName: auditStream() };
    expect(names(logs('GetLogEvents', { ...stream, limit: 2 }))).toEqual(['p53', 'p54']);
    expect(cells(finished('filter verb = "long" | stats count(*)'))).toEqual([
      [['count(*)', '50']],
    ]);
  });

  it('of a stream are read from its end backwards, or from its head', () => {
    const stream = { logGroupName: group, logStreamName: auditStream() };
    const last = logs('GetLogEvents', { ...stream, limit: 2 });
    expect(names(last)).toEqual(['p3', 'p4']);
    const before = logs('GetLogEvents', { ...stream, limit: 2, nextToken: last.nextBackwardToken });
    expect(names(before)).toEqual(['n1', 'p2']);
    expect(names(logs('GetLogEvents', { ...stream, nextToken: before.nextBackwardToken }))).toEqual(
      [],
    );
    log.add(event(5, {}));
    expect(names(logs('GetLogEvents', { ...stream, nextToken: last.nextForwardToken }))).toEqual([
      'p5',
    ]);
    expect(names(logs('GetLogEvents', { ...stream, startFromHead: true, limit: 1 }))).toEqual([
      'n1',
    ]);
    expect(world.refusal('logs', 'GetLogEvents', { ...stream, logStreamName: 'x' })).toMatch(
      /log stream does not exist/,
    );
  });

  it('of which the oldest are no longer kept begin with the oldest that is', () => {
    log.dropped = Buffer.byteLength(
      `${event(1, { verb: 'patch', userAgent: 'vpcLambda/v0.0.0', objectRef: { resource: 'nodes', name: 'n1' } })}\n`,
    );
    expect(names(logs('FilterLogEvents', { logGroupName: group }))).toEqual(['p2', 'p3', 'p4']);
    expect(cells(finished('fields verb'))).toHaveLength(3);
  });
});
