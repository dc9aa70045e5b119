import { describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import {
  CloudError,
  type LogQueries,
  LogQueryError,
  type LogQueryRequest,
  type LogQueryState,
} from '../../ports/index.ts';
import type { CliContext } from '../context.ts';
import { runCloudQuery } from './cloud-query.ts';
import type { QueryFlags } from './query.ts';

const nowMs = Date.UTC(2022, 8, 25, 14);
const group = '/aws/eks/ironman-2022/cluster';
const state = (status: string, rows: readonly Readonly<Record<string, string>>[] = []) => ({
  status,
  rows: rows.map((row) => Object.entries(row).map(([field, value]) => ({ field, value }))),
  recordsMatched: 2,
  recordsScanned: 7,
  bytesScanned: 3_000_000,
});
const throttled = new CloudError('Throttled', 'GetQueryResults: Rate exceeded');
const refusal = (...[code, message, place]: readonly [LogQueryError['code'], string, number?]) =>
  new LogQueryError(code, message, {
    ...(place === undefined ? {} : { place: { start: place, end: place + 1 } }),
  });

interface Asked {
  readonly query?: string;
  readonly groups?: readonly string[];
  readonly files?: readonly string[];
  readonly flags?: Partial<QueryFlags>;
  /** The result of each poll; the last one repeats. */
  readonly looks?: readonly (LogQueryState | Error)[];
  /** Errors of the first starts. */
  readonly starts?: readonly Error[];
  readonly known?: readonly string[] | Error;
  /** ^C during the wait for that poll. */
  readonly interruptedAt?: number;
  readonly stop?: boolean | Error;
}

const orThrow = <T>(value: T | Error): T => {
  if (value instanceof Error) throw value;
  return value;
};

const run = async (asked: Asked) => {
  const [out, err, shown, stopped]: [string[], string[], string[], string[]] = [[], [], [], []];
  const requests: LogQueryRequest[] = [];
  const interrupted = new AbortController();
  let [now, looks] = [nowMs, 0];
  const queries: LogQueries = {
    startQuery: async (request) => {
      requests.push(request);
      const met = asked.starts?.[requests.length - 1];
      if (met !== undefined) throw met;
      return 'q1';
    },
    queryState: async () => {
      const all = asked.looks ?? [state('Complete')];
      looks += 1;
      return orThrow(all[Math.min(looks, all.length) - 1] ?? state('Unknown'));
    },
    stopQuery: async (id) => {
      stopped.push(id);
      return orThrow(asked.stop ?? true);
    },
    logGroups: async (prefix) =>
      orThrow(asked.known ?? []).filter((name) => name.startsWith(prefix)),
  };
  const context: Partial<CliContext> = {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    isTerminal: true,
    progress: (line) => shown.push(line),
    signal: interrupted.signal,
    clock: {
      now: () => epochMs(now),
      sleep: async (duration, signal) => {
        now += duration;
        if (asked.interruptedAt === looks + 1) interrupted.abort();
        signal?.throwIfAborted();
      },
    },
    cluster: async () => ({ embedded: false, now: epochMs(nowMs) }),
    logQueries: async () => queries,
  };
  let error: unknown;
  try {
    await runCloudQuery(
      context as CliContext,
      {},
      {
        query: asked.query ?? 'fields a, b, c',
        groups: asked.groups ?? [group],
        files: asked.files ?? [],
        flags: { output: 'csv', ...asked.flags },
      },
    );
  } catch (caught) {
    error = caught;
  }
  return { out: out.join('\n'), err, shown, stopped, requests, error, looks };
};

describe('drover logs query --log-group', () => {
  it('passes the query on as it is, over the last hour, and prints rows as those of files', async () => {
    const query = 'pattern @message | anomaly';
    const row = { x: '1', z: '3', '@ptr': 'p' };
    const ran = await run({
      query,
      looks: [state('Scheduled'), state('Running'), state('Complete', [row, { x: '1', y: '2' }])],
    });
    expect(ran.error).toBeUndefined();
    expect(ran.requests).toEqual([
      { query, groups: [group], startSeconds: nowMs / 1000 - 3600, endSeconds: nowMs / 1000 },
    ]);
    expect(ran.out).toBe('x,y,z\n1,,3\n1,2,');
    expect(ran.err).toEqual([
      '! only the hour since 2022-09-25 13:00:00 UTC: --start says since when',
      '2 rows; 2 of 7 events matched (3.0 MB scanned)',
    ]);
    expect(ran.shown).toEqual([
      'scheduled: 3 MB and 7 events scanned, 2 matched',
      'running: 3 MB and 7 events scanned, 2 matched',
      '',
    ]);
    expect(ran.stopped).toEqual([]);
  });

  it('shows a column without any value where it can read the query, and the pointer in JSON alone', async () => {
    const looks = [state('Complete', [{ c: '1', '@ptr': 'p' }])];
    expect((await run({ looks })).out).toBe('a,b,c\n,,1');
    const { out } = await run({ looks, flags: { output: 'json' } });
    expect(JSON.parse(out)).toMatchObject({
      kind: 'LogQueryResult',
      rows: [{ c: '1', '@ptr': 'p' }],
    });
  });

  it('asks for whole seconds that leave nothing out, and for as many rows as it is told', async () => {
    const flags = { start: '1664114322500', end: '2022-09-25T13:58:43.001Z', limit: '5' };
    const { requests, err } = await run({ flags });
    expect(requests[0]).toMatchObject({
      startSeconds: 1_664_114_322,
      endSeconds: 1_664_114_324,
      limit: 5,
    });
    expect(err).toHaveLength(1);
    for (const wrong of ['0', '100001', 'x']) {
      expect((await run({ flags: { limit: wrong } })).error).toMatchObject({ exitCode: 2 });
    }
  });

  it('refuses what makes no sense before it asks anybody', async () => {
    const cases: readonly [Asked, RegExp][] = [
      [{ files: ['a.log'] }, /in CloudWatch \(--log-group\) or over files \(a\.log\)/],
      [{ groups: Array.from({ length: 51 }, () => group) }, /50 log groups a query, not 51/],
      [{ flags: { start: '1h', end: '2h' } }, /--start comes after --end/],
    ];
    for (const [asked, message] of cases) {
      const { error, requests } = await run(asked);
      expect(error).toMatchObject({ exitCode: 2, message: expect.stringMatching(message) });
      expect(requests).toEqual([]);
    }
  });

  it('stops the query there at ^C, and tells when it could not', async () => {
    const looks = [state('Running')];
    const { error, stopped, out } = await run({ looks, interruptedAt: 3 });
    expect(stopped).toEqual(['q1']);
    expect(out).toBe('');
    const message = 'interrupted: query q1 was stopped in CloudWatch; nothing is printed of a part';
    expect(error).toMatchObject({ exitCode: 130, message });
    const kept = await run({ looks, interruptedAt: 1, stop: new Error('no network') });
    expect(kept.error).toMatchObject({
      message: expect.stringMatching(/could not be stopped \(no network\): `aws logs stop-query/),
    });
  });

  it('looks again after what passes, and stops the query after what does not', async () => {
    const looks = [throttled, throttled, state('Complete', [{ a: '1' }])];
    expect((await run({ looks })).out).toBe('a,b,c\n1,,');
    const gone = await run({ looks: [throttled] });
    expect(gone.looks).toBe(11);
    expect(gone.error).toBe(throttled);
    expect(gone.stopped).toEqual(['q1']);
    const denied = new CloudError('AccessDenied', 'GetQueryResults: not authorized');
    const { error } = await run({ looks: [denied] });
    expect(error).toMatchObject({ message: expect.stringContaining('logs:GetQueryResults on') });
    const late = await run({ looks: [state('Running')] });
    expect(late.error).toMatchObject({ exitCode: 4 });
    expect(late.stopped).toEqual(['q1']);
  });

  it('starts again only what surely was not started', async () => {
    const busy = new CloudError('Throttled', 'StartQuery: Rate exceeded');
    expect((await run({ starts: [busy, busy] })).requests).toHaveLength(3);
    expect((await run({ starts: [busy, busy, busy, busy] })).error).toBe(busy);
    const lost = new CloudError('Unreachable', 'StartQuery: socket hang up');
    const { error, requests } = await run({ starts: [lost] });
    expect(error).toBe(lost);
    expect(requests).toHaveLength(1);
  });

  it('tells a status that is not Complete, with what to do', async () => {
    const { error } = await run({ looks: [state('Timeout')] });
    expect(error).toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/query q1 with the status Timeout: ask for less/),
    });
  });

  it('explains a refused query at its place, and rights with their action', async () => {
    const bad = await run({ starts: [refusal('malformed', 'unexpected symbol', 7)] });
    expect(bad.error).toMatchObject({
      exitCode: 2,
      message:
        'CloudWatch refuses the query: line 1, column 8: unexpected symbol\n' +
        '  fields a, b, c\n         ^',
    });
    const plain = await run({ starts: [refusal('malformed', 'bad\u001b[2J query')] });
    expect(plain.error).toMatchObject({
      message: 'CloudWatch refuses the query: bad\\u001b[2J query',
    });
    const denied = new CloudError('AccessDenied', 'StartQuery: not authorized');
    expect((await run({ starts: [denied] })).error).toMatchObject({
      message: expect.stringContaining(`needs the IAM action logs:StartQuery on ${group}`),
    });
    for (const words of ['Could not load credentials', 'The security token is expired']) {
      const unknown = new CloudError('AccessDenied', `StartQuery: ${words}`);
      const { error } = await run({ starts: [unknown] });
      expect(error).toMatchObject({ message: expect.stringContaining('AWS_PROFILE') });
      expect(error).not.toMatchObject({ message: expect.stringContaining('IAM action') });
    }
    const broken = await run({ starts: [new CloudError('ServerError', 'StartQuery: failed. ')] });
    expect(broken.requests).toHaveLength(1);
    expect(broken.error).toMatchObject({
      message: expect.stringMatching(/^StartQuery: failed; it is not asked for twice .*again$/),
    });
    const many = await run({ starts: [refusal('too-many', 'Exceeded the maximum')] });
    expect(many.error).toMatchObject({ message: expect.stringContaining('stop-query') });
  });

  it('names the groups that are like one that does not exist', async () => {
    const missing = refusal('no-group', 'The specified log group does not exist.');
    const told = async (known: readonly string[] | Error, name = '/aws/eks/ironman-2202/cluster') =>
      run({ groups: [name], starts: [missing], known });
    expect((await told([group, '/aws/eks/other/cluster', '/aws/lambda/x'])).error).toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(
        /^no log group \/aws\/eks\/ironman-2202\/cluster .*did you mean \/aws\/eks\/ironman-2022\/cluster\?$/,
      ),
    });
    const arn = 'arn:aws:logs:eu-west-1:111122223333:log-group:/aws/eks/ironman-202/cluster';
    expect((await told([group], arn)).error).toMatchObject({
      message: expect.stringContaining(`did you mean ${group}?`),
    });
    expect((await told([])).error).toMatchObject({
      message: expect.stringContaining('logging of type audit is on'),
    });
    expect((await told(new Error('denied'))).error).toMatchObject({
      message: expect.stringContaining('aws logs describe-log-groups'),
    });
  });
});
