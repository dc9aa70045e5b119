// Logs Insights queries over the control plane's audit log. They run in slices of world time, as CloudWatch
// works while its caller asks again; what they found is kept in memory and gone with the process.
import {
  Execution,
  explainQueryError,
  type LogSource,
  parseQuery,
  QueryError,
  QueryLimitError,
  type QueryResult,
  type ResultRow,
  toText,
} from '../../../insights/index.ts';
import {
  AwsError,
  type AwsInput,
  optionalNumber,
  optionalText,
  text,
  texts,
} from '../../../wire/index.ts';
import type { KeptLog } from '../../contracts.ts';
import { microsPerMs } from '../../kernel/index.ts';
import { pageOf } from '../paging.ts';
import { refuse, type Scope, type ServiceHandlers } from '../scope.ts';
import { invalidParameter, invalidToken, type LogGroup, type LogGroups } from './groups.ts';
import { eventAt } from './record.ts';

type Status = 'Scheduled' | 'Running' | 'Complete' | 'Failed' | 'Cancelled';

interface QueryRun {
  readonly id: string;
  readonly queryString: string;
  readonly groupName: string;
  readonly createdAt: number;
  readonly execution: Execution;
  status: Status;
  result: QueryResult | undefined;
  timer: number;
}

/** CloudWatch's quotas: queries at a time, and rows of one. */
const maxRunning = 30;
const maxRows = 100_000;
/** CloudWatch keeps results for seven days; a world keeps this many. */
const maxKept = 100;
/** Read in one go: a few milliseconds in which the world stands still. */
const sliceBytes = 4 * 1024 * 1024;
const sliceMicros = microsPerMs;
const component = 'aws.logs.queries';

export class LogQueries {
  readonly #scope: Scope;
  readonly #log: KeptLog;
  readonly #runs = new Map<string, QueryRun>();

  constructor(scope: Scope, log: KeptLog) {
    this.#scope = scope;
    this.#log = log;
  }

  get log(): KeptLog {
    return this.#log;
  }

  /** Newest first. */
  all(): readonly QueryRun[] {
    return [...this.#runs.values()].reverse();
  }

  find(id: string): QueryRun {
    const run = this.#runs.get(id);
    if (run !== undefined) return run;
    throw refuse('ResourceNotFoundException', `Query with ID ${id} does not exist.`);
  }

  start(
    request: {
      readonly queryString: string;
      readonly startMs: number;
      readonly endMs: number;
      readonly limit: number | undefined;
    },
    group: LogGroup,
    source: LogSource,
  ): QueryRun {
    const running = this.all().filter(({ status }) => isUnderWay(status)).length;
    if (running >= maxRunning) {
      const message = `Exceeded the maximum number of ${maxRunning} concurrent queries`;
      throw refuse('LimitExceededException', message);
    }
    const { queryString, startMs, endMs, limit } = request;
    const run: QueryRun = {
      id: this.#scope.uuid(component),
      queryString,
      groupName: group.name,
      createdAt: this.#scope.now(),
      execution: compiled(queryString, {
        startMs,
        endMs,
        nowMs: this.#scope.now(),
        ...(limit === undefined ? {} : { defaultLimit: limit }),
      }),
      status: 'Scheduled',
      result: undefined,
      timer: 0,
    };
    this.#runs.set(run.id, run);
    for (const { id, status } of [...this.#runs.values()]) {
      if (this.#runs.size <= maxKept) break;
      if (!isUnderWay(status)) this.#runs.delete(id);
    }
    this.#run(run, group.auditStream === undefined ? undefined : source);
    return run;
  }

  #run(run: QueryRun, source: LogSource | undefined): void {
    const { start, end } = this.#log.extent();
    const feed = source === undefined ? undefined : run.execution.open(source, start);
    let at = start;
    const slice = (): void => {
      run.status = 'Running';
      try {
        const bytes =
          feed === undefined ? undefined : this.#log.read(at, Math.min(sliceBytes, end - at));
        if (bytes !== undefined && bytes.length > 0) {
          feed?.push(bytes);
          at += bytes.length;
          run.timer = this.#scope.kernel.after(sliceMicros, slice);
          return;
        }
        feed?.end();
        run.result = run.execution.finish();
        run.status = 'Complete';
      } catch (error) {
        if (!(error instanceof QueryLimitError)) throw error;
        run.status = 'Failed';
      }
    };
    run.timer = this.#scope.kernel.after(sliceMicros, slice);
  }

  stop(run: QueryRun): void {
    this.#scope.kernel.cancel(run.timer);
    run.status = 'Cancelled';
  }
}

const isUnderWay = (status: Status): boolean => status === 'Scheduled' || status === 'Running';

/** Throws MalformedQueryException with the place. */
const compiled = (
  queryString: string,
  options: ConstructorParameters<typeof Execution>[1],
): Execution => {
  try {
    return new Execution(parseQuery(queryString), options);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const message = explainQueryError(queryString, error);
    const { start, end } = error.span;
    throw new AwsError({
      code: 'MalformedQueryException',
      message,
      members: {
        queryCompileError: { location: { startCharOffset: start, endCharOffset: end }, message },
      },
    });
  }
};

const groupsAskedFor = (input: AwsInput, groups: LogGroups): readonly LogGroup[] => {
  const one = optionalText(input, 'logGroupName');
  const names = [
    ...(one === undefined ? [] : [one]),
    ...texts(input, 'logGroupNames'),
    ...texts(input, 'logGroupIdentifiers'),
  ];
  if (names.length === 0) {
    throw invalidParameter(
      'Exactly one of logGroupName, logGroupNames or logGroupIdentifiers is required.',
    );
  }
  return names.map((name) => groups.find(name));
};

const startQuery = (groups: LogGroups, queries: LogQueries, input: AwsInput) => {
  const [group] = groupsAskedFor(input, groups);
  const language = optionalText(input, 'queryLanguage') ?? 'CWLI';
  if (language !== 'CWLI')
    throw invalidParameter(`The query language ${language} is not supported here: use CWLI.`);
  const [start, end] = [
    optionalNumber(input, 'startTime') ?? 0,
    optionalNumber(input, 'endTime') ?? 0,
  ];
  if (start > end) throw invalidParameter('startTime must not be after endTime.');
  const limit = optionalNumber(input, 'limit');
  if (group === undefined) throw invalidParameter('A log group is required.');
  const request = {
    queryString: text(input, 'queryString'),
    startMs: start * 1000,
    endMs: end * 1000,
    limit,
  };
  return { queryId: queries.start(request, group, groups.sourceOf(group)).id };
};

const renderRow = (columns: readonly string[], { values, pointer }: ResultRow) => {
  const fields = columns.flatMap((field, index) => {
    const value = toText(values[index]);
    return value === undefined ? [] : [{ field, value }];
  });
  return pointer === undefined ? fields : [...fields, { field: '@ptr', value: pointer }];
};

const queryResults = (queries: LogQueries, input: AwsInput) => {
  const run = queries.find(text(input, 'queryId'));
  const { result, execution, status } = run;
  const { lines, bytes, matched } = execution.progress;
  const rows = (result?.rows ?? []).map((row, index) => ({ row, index }));
  const page = pageOf(rows, {
    max: optionalNumber(input, 'maxItems') ?? maxRows,
    token: optionalText(input, 'nextToken'),
    keyOf: ({ index }) => String(index),
    invalid: invalidToken,
  });
  return {
    queryLanguage: 'CWLI',
    status,
    results: page.items.map(({ row }) => renderRow(result?.columns ?? [], row)),
    statistics: {
      recordsMatched: matched,
      recordsScanned: lines,
      estimatedRecordsSkipped: 0,
      bytesScanned: bytes,
      estimatedBytesSkipped: 0,
      logGroupsScanned: 1,
    },
    ...(page.nextToken === undefined ? {} : { nextToken: page.nextToken }),
  };
};

const describeQueries = (queries: LogQueries, input: AwsInput) => {
  const group = optionalText(input, 'logGroupName');
  const status = optionalText(input, 'status');
  const found = queries
    .all()
    .filter((run) => group === undefined || run.groupName === group)
    .filter((run) => status === undefined || run.status === status);
  const page = pageOf(found, {
    max: optionalNumber(input, 'maxResults') ?? 50,
    token: optionalText(input, 'nextToken'),
    keyOf: ({ id }) => id,
    invalid: invalidToken,
  });
  return {
    queries: page.items.map((run) => ({
      queryLanguage: 'CWLI',
      queryId: run.id,
      queryString: run.queryString,
      status: run.status,
      createTime: run.createdAt,
      logGroupName: run.groupName,
    })),
    ...(page.nextToken === undefined ? {} : { nextToken: page.nextToken }),
  };
};

export const queryHandlers = (groups: LogGroups, queries: LogQueries): ServiceHandlers => ({
  StartQuery: (input) => startQuery(groups, queries, input),
  GetQueryResults: (input) => queryResults(queries, input),
  StopQuery: (input) => {
    const run = queries.find(text(input, 'queryId'));
    if (!isUnderWay(run.status)) {
      throw invalidParameter(`Query ${run.id} is not currently running or scheduled.`);
    }
    queries.stop(run);
    return { success: true };
  },
  DescribeQueries: (input) => describeQueries(queries, input),
  GetLogRecord: (input) => ({
    logRecord: eventAt(groups, queries.log, text(input, 'logRecordPointer')),
  }),
});
