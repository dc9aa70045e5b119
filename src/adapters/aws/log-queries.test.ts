import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { isObject } from '../../api/json.ts';
import type { LogQueries } from '../../ports/index.ts';
import { createAwsLogQueries } from './index.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

interface Answer {
  readonly status?: number;
  readonly body: object;
}

/** A server that answers each call with the next answer; the last one answers all further calls. */
const serving = async (
  ...answers: Answer[]
): Promise<{ queries: LogQueries; seen: { target: string; input: object }[] }> => {
  const seen: { target: string; input: object }[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const input: unknown = JSON.parse(Buffer.concat(parts).toString());
    const target = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    seen.push({ target, input: isObject(input) ? input : {} });
    const { status = 200, body } = (answers.length > 1 ? answers.shift() : answers[0]) ?? {
      body: {},
    };
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const queries = createAwsLogQueries({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  return { queries, seen };
};

const request = { query: 'fields a', groups: ['g'], startSeconds: 1, endSeconds: 2 };
const refused = (type: string, more: object = {}): Answer => ({
  status: 400,
  body: { __type: type, message: `${type} it is`, ...more },
});

describe('Logs Insights queries in CloudWatch', () => {
  it('names groups as names, and as identifiers where one is an ARN', async () => {
    const { queries, seen } = await serving({ body: { queryId: 'q1' } });
    expect(await queries.startQuery({ ...request, limit: 5 })).toBe('q1');
    await queries.startQuery({ ...request, groups: ['g', 'arn:aws:logs:x:1:log-group:h'] });
    expect(seen.map(({ input }) => input)).toEqual([
      { queryString: 'fields a', startTime: 1, endTime: 2, logGroupNames: ['g'], limit: 5 },
      {
        queryString: 'fields a',
        startTime: 1,
        endTime: 2,
        logGroupIdentifiers: ['g', 'arn:aws:logs:x:1:log-group:h'],
      },
    ]);
  });

  it('reads every page of a query that is complete, and one of a query that runs', async () => {
    const row = (value: string) => [{ field: 'a', value }, { field: 'b' }];
    const page = (status: string, value: string, nextToken?: string): Answer => ({
      body: { status, results: [row(value)], statistics: { recordsScanned: 7 }, nextToken },
    });
    const { queries, seen } = await serving(
      page('Running', 'x', 'more'),
      page('Complete', '1', 'more'),
      page('Complete', '2'),
    );
    expect((await queries.queryState('q1')).rows).toHaveLength(1);
    expect(await queries.queryState('q1')).toEqual({
      status: 'Complete',
      rows: [[{ field: 'a', value: '1' }], [{ field: 'a', value: '2' }]],
      recordsMatched: 0,
      recordsScanned: 7,
      bytesScanned: 0,
    });
    expect(seen[2]?.input).toEqual({ queryId: 'q1', nextToken: 'more' });
  });

  it('tells what StartQuery refuses from what failed', async () => {
    const location = { startCharOffset: 6, endCharOffset: 7 };
    const { queries } = await serving(
      refused('MalformedQueryException', {
        queryCompileError: { location, message: 'unexpected' },
      }),
      refused('ResourceNotFoundException'),
      refused('LimitExceededException'),
      refused('AccessDeniedException'),
    );
    const asked = () => queries.startQuery(request);
    await expect(asked()).rejects.toMatchObject({
      code: 'malformed',
      message: 'unexpected',
      place: { start: 6, end: 7 },
    });
    await expect(asked()).rejects.toMatchObject({ name: 'LogQueryError', code: 'no-group' });
    await expect(asked()).rejects.toMatchObject({ name: 'LogQueryError', code: 'too-many' });
    await expect(asked()).rejects.toMatchObject({ name: 'CloudError', code: 'AccessDenied' });
  });

  it('stops a query, and says so when it was over already', async () => {
    const { queries } = await serving(
      { body: { success: true } },
      refused('InvalidParameterException'),
      refused('ThrottlingException'),
    );
    expect(await queries.stopQuery('q1')).toBe(true);
    expect(await queries.stopQuery('q1')).toBe(false);
    await expect(queries.stopQuery('q1')).rejects.toMatchObject({ code: 'Throttled' });
  });

  it('lists some hundred groups, never all of a large account', async () => {
    const { queries, seen } = await serving(
      ...Array.from({ length: 9 }, (_, at) => ({
        body: { logGroups: [{ logGroupName: `g${at}` }], nextToken: `t${at}` },
      })),
    );
    expect(await queries.logGroups('/aws/')).toHaveLength(6);
    expect(seen[0]?.input).toEqual({ limit: 50, logGroupNamePrefix: '/aws/' });
  });
});
