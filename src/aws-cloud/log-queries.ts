// Logs Insights queries in CloudWatch Logs: starts them, reads their rows page by page, stops them.
// Never parses the query.
import { defined } from '../api/defined.ts';
import { type JsonObject, objectOr } from '../api/json.ts';
import { type LogQueries, LogQueryError, type LogQueryRefusal } from '../ports/index.ts';
import { AwsCalls, cloudErrorFrom } from './calls.ts';
import type { AwsRefusal, AwsTransport } from './transport.ts';
import { maybeText, numberOf, objects, textOf } from './values.ts';

const refusals: Readonly<Record<string, LogQueryRefusal>> = {
  ResourceNotFoundException: 'no-group',
  MalformedQueryException: 'malformed',
  LimitExceededException: 'too-many',
};

/** The refusal of StartQuery, with its place in the query if the service names one. */
const startErrorFrom = (refusal: AwsRefusal, operation: string): Error => {
  const error = cloudErrorFrom(refusal, operation);
  const known = refusal.codes.find((code) => Object.hasOwn(refusals, code));
  const code = known === undefined ? undefined : refusals[known];
  if (code === undefined) return error;
  const compile = objectOr(refusal.members.queryCompileError);
  const { startCharOffset: start, endCharOffset: end } = objectOr(compile.location);
  const place = typeof start === 'number' && typeof end === 'number' ? { start, end } : undefined;
  const message = textOf(compile.message) || refusal.message;
  return new LogQueryError(code, message, { cause: error, ...defined({ place }) });
};

const rowsOf = ({ results }: JsonObject) =>
  (Array.isArray(results) ? results : []).map((fields) =>
    objects(fields).flatMap(({ field, value }) =>
      typeof field === 'string' && typeof value === 'string' ? [{ field, value }] : [],
    ),
  );

/** Pages of 50 groups: enough to find a mistyped name without listing a large account. */
const maxGroupPages = 6;
const groupsPerPage = 50;

const service = 'logs';

export const createLogQueries = (transport: AwsTransport): LogQueries => {
  const calls = new AwsCalls(transport);
  return {
    startQuery: async ({ query, groups, startSeconds, endSeconds, limit }, options = {}) => {
      const hasArn = groups.some((group) => group.startsWith('arn:'));
      const input = {
        queryString: query,
        startTime: startSeconds,
        endTime: endSeconds,
        ...(hasArn ? { logGroupIdentifiers: groups } : { logGroupNames: groups }),
        ...defined({ limit }),
      };
      const { output } = await calls.answer(service, 'StartQuery', input, options, startErrorFrom);
      return textOf(output.queryId);
    },
    queryState: async (queryId, options = {}) => {
      const ask = (token: JsonObject) =>
        calls.send(service, 'GetQueryResults', { queryId, ...token }, options);
      const first = await ask({});
      // Rows of a running query are discarded, so one page suffices.
      const pages =
        first.status === 'Complete'
          ? await calls.pages('nextToken', async (token) =>
              token.nextToken === undefined ? first : ask(token),
            )
          : [first];
      const statistics = objectOr(first.statistics);
      return {
        status: maybeText(first.status) ?? 'Unknown',
        rows: pages.flatMap(rowsOf),
        recordsMatched: numberOf(statistics.recordsMatched),
        recordsScanned: numberOf(statistics.recordsScanned),
        bytesScanned: numberOf(statistics.bytesScanned),
      };
    },
    stopQuery: async (queryId, options = {}) => {
      const isOver = ({ codes }: AwsRefusal): boolean =>
        codes.includes('InvalidParameterException');
      const output = await calls.maybe(service, 'StopQuery', { queryId }, options, isOver);
      return output?.success === true;
    },
    logGroups: async (prefix, options = {}) => {
      const input = {
        limit: groupsPerPage,
        ...defined({ logGroupNamePrefix: maybeText(prefix) }),
      };
      const pages = await calls.pages(
        'nextToken',
        (token) => calls.send(service, 'DescribeLogGroups', { ...input, ...token }, options),
        maxGroupPages,
      );
      return pages
        .flatMap(({ logGroups }) => objects(logGroups))
        .flatMap(({ logGroupName }) => maybeText(logGroupName) ?? []);
    },
  };
};
