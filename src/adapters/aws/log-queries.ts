// Logs Insights queries in CloudWatch Logs: starts them, reads their rows page by page, stops them.
// Never reads the query.

import type { ResultField } from '@aws-sdk/client-cloudwatch-logs';
import { defined } from '../../api/defined.ts';
import { objectOr } from '../../api/json.ts';
import {
  CloudError,
  type LogQueries,
  LogQueryError,
  type LogQueryRefusal,
} from '../../ports/index.ts';
import { type AwsOptions, allPages, call, createClients } from './clients.ts';

const refusals: Readonly<Record<string, LogQueryRefusal>> = {
  ResourceNotFoundException: 'no-group',
  MalformedQueryException: 'malformed',
  LimitExceededException: 'too-many',
};

/** What StartQuery refuses, with the place in the query where the service tells one. */
const refusalOf = (error: unknown): unknown => {
  const cause = error instanceof CloudError ? error.cause : undefined;
  if (!(cause instanceof Error)) return error;
  const code = Object.hasOwn(refusals, cause.name) ? refusals[cause.name] : undefined;
  if (code === undefined) return error;
  const compile = objectOr('queryCompileError' in cause ? cause.queryCompileError : undefined);
  const { startCharOffset: start, endCharOffset: end } = objectOr(compile.location);
  const place =
    typeof start === 'number' && typeof end === 'number' ? { place: { start, end } } : {};
  const told = typeof compile.message === 'string' ? compile.message : '';
  return new LogQueryError(code, told || cause.message, { cause: error, ...place });
};

const rowOf = (fields: readonly ResultField[]) =>
  fields.flatMap(({ field, value }) =>
    field === undefined || value === undefined ? [] : [{ field, value }],
  );

/** Pages of 50 groups: enough to find a mistyped name, never all of a large account. */
const maxGroupPages = 6;

/** Nothing is imported or connected before the first call. */
export const createAwsLogQueries = (options: AwsOptions): LogQueries => {
  const { logs } = createClients(options);
  return {
    startQuery: async ({ query, groups, startSeconds, endSeconds, limit }, asked = {}) => {
      const { sdk, client } = await logs();
      const hasArn = groups.some((group) => group.startsWith('arn:'));
      const command = new sdk.StartQueryCommand({
        queryString: query,
        startTime: startSeconds,
        endTime: endSeconds,
        ...(hasArn ? { logGroupIdentifiers: [...groups] } : { logGroupNames: [...groups] }),
        ...defined({ limit }),
      });
      try {
        const answer = await call('StartQuery', asked, (http) => client.send(command, http));
        return answer.queryId ?? '';
      } catch (error) {
        throw refusalOf(error);
      }
    },
    queryState: async (queryId, asked = {}) => {
      const { sdk, client } = await logs();
      const page = (nextToken: string | undefined) =>
        call('GetQueryResults', asked, (http) =>
          client.send(
            new sdk.GetQueryResultsCommand({
              queryId,
              ...defined({ nextToken }),
            }),
            http,
          ),
        );
      const first = await page(undefined);
      const { status = 'Unknown', statistics = {} } = first;
      const rows = await allPages(async (token) => {
        const { results = [], nextToken } = token === undefined ? first : await page(token);
        // Rows of a query that still runs are thrown away: no need for all of them.
        return { items: results.map(rowOf), next: status === 'Complete' ? nextToken : undefined };
      });
      return {
        status,
        rows,
        recordsMatched: statistics.recordsMatched ?? 0,
        recordsScanned: statistics.recordsScanned ?? 0,
        bytesScanned: statistics.bytesScanned ?? 0,
      };
    },
    stopQuery: async (queryId, asked = {}) => {
      const { sdk, client } = await logs();
      const command = new sdk.StopQueryCommand({ queryId });
      try {
        const answer = await call('StopQuery', asked, (http) => client.send(command, http));
        return answer.success ?? false;
      } catch (error) {
        const cause = error instanceof CloudError ? error.cause : undefined;
        if (cause instanceof Error && cause.name === 'InvalidParameterException') return false;
        throw error;
      }
    },
    logGroups: async (prefix, asked = {}) => {
      const { sdk, client } = await logs();
      let pages = 0;
      return allPages(async (token) => {
        const command = new sdk.DescribeLogGroupsCommand({
          limit: 50,
          ...(prefix === '' ? {} : { logGroupNamePrefix: prefix }),
          ...defined({ nextToken: token }),
        });
        const answer = await call('DescribeLogGroups', asked, (http) => client.send(command, http));
        pages += 1;
        return {
          items: (answer.logGroups ?? []).flatMap(({ logGroupName }) => logGroupName ?? []),
          next: pages < maxGroupPages ? answer.nextToken : undefined,
        };
      });
    },
  };
};
