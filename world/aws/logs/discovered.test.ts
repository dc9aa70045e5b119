// StartQuery over several groups, named fields, and GetLogGroupFields.
import { beforeEach, describe, expect, it } from 'vitest';
import type { AwsInput } from '../../../src/aws-wire/index.ts';
import type { TestWorld } from '../../../test/builders/world-aws.ts';
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
    event(1, { verb: 'patch' }),
    event(2, {}),
    event(3, { responseStatus: { code: 429 } }),
    event(4, { verb: 'list' }),
  );
  world = worldWith(log);
});

const { logs, finished } = queriesIn(() => world);

describe('a query of log groups', () => {
  it('reads each group that is named once, and none where one of them does not exist', () => {
    const arn = `arn:aws:logs:eu-west-1:111111111111:log-group:${group}`;
    const several = { logGroupName: undefined, logGroupIdentifiers: [group, arn] };
    const answer = finished('stats count(*) by @log', several);
    expect(cells(answer)).toEqual([
      [
        ['@log', `111111111111:${group}`],
        ['count(*)', '4'],
      ],
    ]);
    expect(answer.statistics?.logGroupsScanned).toBe(1);
    const refused = (more: AwsInput) =>
      world.refusal('logs', 'StartQuery', {
        startTime: 1,
        endTime: 2,
        queryString: 'limit 1',
        ...more,
      });
    expect(refused({ logGroupNames: [group, 'x'] })).toMatch(/^ResourceNotFoundException/);
    expect(refused({ logGroupName: group, logGroupNames: [group] })).toMatch(
      /^InvalidParameter.*Exactly one/,
    );
  });

  it('knows an event by its first 200 fields, as CloudWatch; the others are in the message', () => {
    const many = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`f${index}`, index]),
    );
    log.add(event(5, { verb: 'wide', ...many, objectRef: { resource: 'pods', name: 'p5' } }));
    expect(
      cells(
        finished(
          'filter verb = "wide" | fields f100, f299, jsonParse(@message) as j | fields j.f299 as last | display f100, f299, last',
        ),
      )[0]?.slice(0, -1),
    ).toEqual([
      ['f100', '100'],
      ['last', '299'],
    ]);
  });

  it('tells which fields events of a time have, the most frequent first', () => {
    const fields = (input: AwsInput) =>
      [...(logs('GetLogGroupFields', { logGroupName: group, ...input }).logGroupFields ?? [])].map(
        ({ name, percent }) => [name, percent],
      );
    expect(fields({})).toContainEqual(['responseStatus.code', 25]);
    expect(
      fields({})
        .slice(0, 5)
        .map(([, percent]) => percent),
    ).toEqual([100, 100, 100, 100, 100]);
    expect(fields({ time: startAt / 1000 + 7200 })).toEqual([]);
    expect(fields({ time: startAt / 1000 })).toContainEqual(['objectRef.name', 100]);
  });

  it('over several reads one after the other, and tells which by @log', () => {
    const groups = ['a', 'b'].map((name) => ({
      name,
      arn: `arn:${name}`,
      createdAt: 0,
      streams: [],
      auditStream: `kube-apiserver-audit-${name}`,
    }));
    const sources = groups.map(({ name }) => ({ stream: name, log: `1:${name}` }));
    const query = {
      queryString: 'stats count(*) by @log, @logStream',
      startMs: 0,
      endMs: startAt,
      limit: undefined,
    };
    const { id } = world.parts.logQueries.start(query, groups, () => sources);
    world.advance(1);
    const answer = logs('GetQueryResults', { queryId: id });
    expect(cells(answer).map((row) => row.map(([, value]) => value))).toEqual([
      ['1:a', 'a', '4'],
      ['1:b', 'b', '4'],
    ]);
    expect(answer.statistics).toMatchObject({ recordsScanned: 8, logGroupsScanned: 2 });
    expect(logs('DescribeQueries', { logGroupName: 'b' }).queries).toHaveLength(1);
  });

  it('joins a group with one that SOURCE names, and says what is wrong with a join', () => {
    const joined = (end: string) =>
      `join left=own right=same where own.@message = same.@message (SOURCE '${end}) | stats count(*) by same.@log`;
    expect(cells(finished(joined(`${group}'`)))).toEqual([
      [
        ['same.@log', `111111111111:${group}`],
        ['count(*)', '4'],
      ],
    ]);
    const beside = `stats count(*) as n | appendcols (SOURCE '${group}' | stats count(*) as m by @log)`;
    expect(cells(finished(beside))).toEqual([
      [
        ['n', '4'],
        ['@log', `111111111111:${group}`],
        ['m', '4'],
      ],
    ]);
    const refused = (end: string) => {
      const times = { startTime: 1, endTime: 2 };
      const query = { logGroupName: group, queryString: joined(end), ...times };
      return world.refusal('logs', 'StartQuery', query);
    };
    expect(refused("nowhere'")).toMatch(/^ResourceNotFoundException/);
    expect(refused(`${group}' | stats count(*) by verb`)).toMatch(
      /^MalformedQueryException.*`same` has no @message to join by/s,
    );
  });

  it('reads the group of a subquery before its own', () => {
    const [a, b] = ['a', 'b'].map((name) => [{ stream: name, log: `1:${name}` }] as const);
    const asked: (string | undefined)[] = [];
    const ask = (queryString: string) => {
      const request = {
        queryString,
        startMs: 0,
        endMs: startAt,
        limit: undefined,
      };
      const { id } = world.parts.logQueries.start(request, [], (name) => {
        asked.push(name);
        return (name === undefined ? a : b) ?? [];
      });
      world.advance(1);
      const answer = logs('GetQueryResults', { queryId: id });
      expect(answer.status).toBe('Complete');
      return cells(answer);
    };
    const query = (filter: string) =>
      ask(
        `filter @logStream in (SOURCE 'b' ${filter} | fields "a" as \`@logStream\`) | stats count(*)`,
      ).map((row) => row.map(([, value]) => value));
    expect(query('')).toEqual([['4']]);
    expect(query('| filter @logStream = "a"')).toEqual([]);
    // Reads no further than its rows need, and still returns the result.
    expect(query('| limit any 1')).toEqual([['4']]);
    expect(asked.slice(0, 2)).toEqual(['b', undefined]);
    const joined = `join left=own right=other where own.@message = other.@message (SOURCE 'b')
      | stats count(*) as n by own.@logStream, other.@logStream`;
    expect(ask(joined)).toEqual([
      [
        ['own.@logStream', 'a'],
        ['other.@logStream', 'b'],
        ['n', '4'],
      ],
    ]);
  });
});
