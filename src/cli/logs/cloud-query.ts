// drover logs query --log-group: the query runs unchanged in CloudWatch Logs, and its rows are
// printed like those of files. Never leaves a query running there.

import { durationMs } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import { Execution, explainQueryError, parseQuery, QueryError } from '../../insights/index.ts';
import {
  CloudError,
  type LogQueries,
  LogQueryError,
  type LogQueryRequest,
  type LogQueryState,
  maxLogGroups,
} from '../../ports/index.ts';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';
import { closeNames } from '../nodes.ts';
import { visible } from '../visible.ts';
import { resultOf } from './cloud-result.ts';
import { parseMoment } from './moment.ts';
import { parseLimit, type QueryFlags } from './query.ts';
import { noticesOf, renderResult, summaryOf } from './render-result.ts';

interface CloudQuery {
  readonly query: string;
  readonly groups: readonly string[];
  readonly files: readonly string[];
  readonly flags: QueryFlags;
}

/**
 * The first poll comes soon, because most queries take a second. Later polls are rarer, because
 * CloudWatch limits them.
 */
const firstWaitMs = 250;
const longestWaitMs = 2_000;
/** CloudWatch ends a query after an hour; after this time no result is expected. */
const patienceMs = 65 * 60_000;
/** Number of consecutive polls that may fail, with the longest wait between them. */
const maxFailedLooks = 10;
const maxStarts = 4;
/**
 * CloudWatch charges by the bytes that it reads, so the default range is short, as in the console
 * of CloudWatch.
 */
const usualRangeMs = 3_600_000;

export const runCloudQuery = async (
  context: CliContext,
  connection: Connection,
  asked: CloudQuery,
): Promise<void> => {
  const { query, groups, flags } = asked;
  refuseMistakes(asked);
  const { region } = flags;
  const there = region === undefined ? connection : { ...connection, region };
  const limit = parseLimit(flags.limit);
  const nowMs = (await context.cluster(connection)).now;
  const range = rangeOf(flags, nowMs);
  if (flags.start === undefined) {
    context.err(
      `! only the hour since ${shortTime(range.startSeconds)} UTC: --start says since when`,
    );
  }
  const request = { query, groups, ...range, ...defined({ limit }) };
  const queries = await context.logQueries(there);
  const id = await started(context, queries, request);
  const state = await completed(context, queries, { id, groups });
  const result = resultOf(state, columnsOf(query, nowMs));
  for (const line of renderResult(result, flags.output)) context.out(line);
  for (const notice of noticesOf(result)) context.err(`! ${notice}`);
  context.err(summaryOf(result));
};

const refuseMistakes = ({ files, groups, flags }: CloudQuery): void => {
  const usage = (message: string) => new CommandError(exitCodes.usage, message);
  if (files.length > 0) {
    throw usage(
      `a query runs in CloudWatch (--log-group) or over files (${files[0]}), not over both`,
    );
  }
  if (flags.fieldCap !== undefined) {
    throw usage('--field-cap is for files: CloudWatch has its own');
  }
  if (flags.lookupTable !== undefined) {
    throw usage(
      '--lookup-table is for files: CloudWatch has its own, `aws logs create-lookup-table`',
    );
  }
  if (groups.length > maxLogGroups) {
    throw usage(`CloudWatch takes ${maxLogGroups} log groups a query, not ${groups.length}`);
  }
};

const rangeOf = (flags: QueryFlags, nowMs: number) => {
  const endMs = flags.end === undefined ? nowMs : parseMoment('--end', flags.end, nowMs);
  const startMs =
    flags.start === undefined ? endMs - usualRangeMs : parseMoment('--start', flags.start, nowMs);
  if (startMs > endMs) throw new CommandError(exitCodes.usage, '--start comes after --end');
  // CloudWatch uses whole seconds: round outwards, so that nothing requested is left out.
  return { startSeconds: Math.floor(startMs / 1000), endSeconds: Math.ceil(endMs / 1000) };
};

const shortTime = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');

/** The query's columns, if this engine can parse it; CloudWatch omits those without a value. */
const columnsOf = (query: string, nowMs: number): readonly string[] => {
  try {
    return new Execution(parseQuery(query), { nowMs }).finish().columns;
  } catch (error) {
    if (error instanceof QueryError) return [];
    throw error;
  }
};

const started = async (
  { clock, signal }: CliContext,
  queries: LogQueries,
  request: LogQueryRequest,
): Promise<string> => {
  for (let waitMs = longestWaitMs, tries = 1; ; waitMs *= 2, tries += 1) {
    try {
      // Never aborted: a query whose id is unknown cannot be stopped.
      return await queries.startQuery(request);
    } catch (error) {
      if (error instanceof LogQueryError) throw await explained(queries, request, error);
      // Retries only starts that certainly had no effect, because each query is charged.
      const isThrottled = error instanceof CloudError && error.code === 'Throttled';
      if (!isThrottled || tries >= maxStarts) throw withRemedy(error, 'StartQuery', request.groups);
    }
    await clock.sleep(durationMs(waitMs), signal);
  }
};

const explained = async (
  queries: LogQueries,
  { query, groups }: LogQueryRequest,
  error: LogQueryError,
): Promise<CommandError> => {
  const said = error.message.split('\n').map(visible).join('\n');
  const because = { cause: error };
  switch (error.code) {
    case 'malformed': {
      const hasPlace = error.place !== undefined && !/line \d+, column \d+/.test(said);
      const place = hasPlace ? error.place : undefined;
      const told =
        place === undefined ? said : explainQueryError(query, new QueryError(said, place));
      return new CommandError(exitCodes.usage, `CloudWatch refuses the query: ${told}`, because);
    }
    case 'too-many':
      return new CommandError(
        exitCodes.failed,
        `${said}; wait until others are over, or stop one: ` +
          '`aws logs describe-queries --status Running`, `aws logs stop-query --query-id ID`',
        because,
      );
    case 'no-group': {
      const near = await nearGroups(queries, groups);
      return new CommandError(
        exitCodes.failed,
        `no log group ${groups.join(', ')} in this region and account (${said}): ${near}`,
        because,
      );
    }
  }
};

/**
 * Existing names similar to the missing ones, or how to find them. Best effort: it may not be
 * allowed.
 */
const nearGroups = async (queries: LogQueries, groups: readonly string[]): Promise<string> => {
  const list = 'list them with `aws logs describe-log-groups`, and check --region';
  try {
    const names = groups.map((group) => group.replace(/^arn:.*?:log-group:/, ''));
    // Names are paths: suggests groups with the same prefix, else any.
    const isPath = (name: string) => name.startsWith('/aws/eks/');
    const known = await queries.logGroups(names.every(isPath) ? '/aws/eks/' : '');
    const missing = names.filter((name) => !known.includes(name));
    const near = [...new Set(missing.flatMap((name) => closeNames(name, known)))];
    if (near.length > 0) return `did you mean ${near.join(', ')}?`;
    if (known.length === 0)
      return `there is none; EKS makes /aws/eks/CLUSTER/cluster once ${onceLogged}`;
    return `there are ${known.slice(0, 5).join(', ')}${known.length > 5 ? ', ...' : ''}`;
  } catch {
    return list;
  }
};
const onceLogged = 'logging of type audit is on for the cluster; check --region';

/** Messages about invalid credentials, where no permission would help. */
const aboutCredentials = /credential|signature|security token|access key|expired/i;

/** The error with a remedy, where there is one. */
const withRemedy = (error: unknown, action: string, groups: readonly string[]): unknown => {
  if (!(error instanceof CloudError)) return error;
  const said = visible(error.message).replace(/\.\s*$/, '');
  const failed = (remedy: string): CommandError =>
    new CommandError(exitCodes.failed, `${said}; ${remedy}`, { cause: error });
  if (error.code === 'ServerError' && action === 'StartQuery') {
    return failed(
      'it is not asked for twice by itself, since a query that runs is paid for: look at ' +
        '`aws logs describe-queries --status Running`, then run the command again',
    );
  }
  if (error.code !== 'AccessDenied') return error;
  if (aboutCredentials.test(said)) {
    return failed(
      'the credentials are taken from AWS_PROFILE, or from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or ' +
        'by `aws configure`; ' +
        'see what `aws sts get-caller-identity` says',
    );
  }
  return failed(
    `the identity (\`aws sts get-caller-identity\`) needs the IAM action logs:${action} on ` +
      `${groups.join(', ')}`,
  );
};

const isUnderWay = (status: string): boolean => status === 'Scheduled' || status === 'Running';

/** Polls until the query ends. Whatever ends the polling early also stops the query. */
const completed = async (
  context: CliContext,
  queries: LogQueries,
  { id, groups }: { readonly id: string; readonly groups: readonly string[] },
): Promise<LogQueryState> => {
  let state: LogQueryState;
  try {
    state = await watched(context, queries, id);
  } catch (error) {
    const end = await stopped(queries, id);
    if (context.signal.aborted) {
      throw new CommandError(
        exitCodes.interrupted,
        `interrupted: ${end}; nothing is printed of a part`,
      );
    }
    if (!(error instanceof TimedOut)) {
      context.err(`! ${end}`);
      throw withRemedy(error, 'GetQueryResults', groups);
    }
    throw new CommandError(
      exitCodes.timedOut,
      `no result within ${patienceMs / 60_000} minutes: ${end}`,
    );
  } finally {
    context.progress('');
  }
  if (state.status === 'Complete') return state;
  const remedy =
    state.status === 'Timeout' ? ': ask for less with --start and --end, or filter earlier' : '';
  throw new CommandError(
    exitCodes.failed,
    `CloudWatch ended query ${id} with the status ${state.status}${remedy}`,
  );
};

class TimedOut extends Error {}

const watched = async (
  context: CliContext,
  queries: LogQueries,
  id: string,
): Promise<LogQueryState> => {
  const { clock, signal } = context;
  const until = clock.now() + patienceMs;
  let failed = 0;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    await clock.sleep(durationMs(waitMs), signal);
    try {
      const state = await queries.queryState(id, { signal });
      failed = 0;
      if (!isUnderWay(state.status) && state.status !== 'Unknown') return state;
      if (context.isTerminal) context.progress(progressOf(state));
    } catch (error) {
      failed += 1;
      const maySucceed = error instanceof CloudError && error.retry !== 'never';
      if (!maySucceed || failed > maxFailedLooks || signal.aborted) throw error;
    }
    if (clock.now() >= until) throw new TimedOut();
  }
};

const progressOf = ({ status, bytesScanned, recordsScanned, recordsMatched }: LogQueryState) =>
  `${status.toLowerCase()}: ${Math.round(bytesScanned / 1_000_000)} MB and ` +
  `${Math.round(recordsScanned)} events scanned, ${Math.round(recordsMatched)} matched`;

/** What happened to the query, for the message after an interruption. */
const stopped = async (queries: LogQueries, id: string): Promise<string> => {
  try {
    const was = await queries.stopQuery(id);
    return was ? `query ${id} was stopped in CloudWatch` : `query ${id} was over already`;
  } catch (error) {
    const why = error instanceof Error ? visible(error.message) : String(error);
    return `query ${id} could not be stopped (${why}): \`aws logs stop-query --query-id ${id}\``;
  }
};
