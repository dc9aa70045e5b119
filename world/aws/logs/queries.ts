// Logs Insights queries over the control plane's audit log. They run in slices of world time, as
// CloudWatch runs while its caller polls. Results are kept in memory only.

import { defined } from '../../../src/api/defined.ts';
import {
  AwsError,
  type AwsInput,
  optionalNumber,
  optionalText,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import {
  cloudFieldCap,
  Execution,
  explainQueryError,
  type LineFeed,
  type LogSource,
  parseQuery,
  QueryError,
  QueryLimitError,
  type QueryResult,
  type ResultRow,
  toText,
} from '../../../src/insights/index.ts';
import type { KeptLog } from '../../contracts.ts';
import { microsPerMs } from '../../kernel/index.ts';
import { pageOf } from '../paging.ts';
import { refuse, type Scope, type ServiceHandlers } from '../scope.ts';
import { discoveredFields } from './discovered.ts';
import { invalidParameter, invalidToken, type LogGroup, type LogGroups } from './groups.ts';
import { eventAt } from './record.ts';

type Status = 'Scheduled' | 'Running' | 'Complete' | 'Failed' | 'Cancelled';

interface QueryRun {
  readonly id: string;
  readonly queryString: string;
  readonly groupNames: readonly string[];
  readonly createdAt: number;
  readonly execution: Execution;
  status: Status;
  result: QueryResult | undefined;
  timer: number;
}

/** CloudWatch's quotas: concurrent queries, and rows per query. */
const maxRunning = 30;
const maxRows = 100_000;
/** CloudWatch keeps results for seven days; the world keeps this many. */
const maxKept = 100;
/** Read at once: the world stops for a few milliseconds. */
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
    groups: readonly LogGroup[],
    /**
     * Sources of a subquery's log group; for undefined, of the query's own groups. Throws if the
     * group does not exist.
     */
    sourcesOf: (name: string | undefined) => readonly LogSource[],
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
      groupNames: groups.map(({ name }) => name),
      createdAt: this.#scope.now(),
      execution: compiled(queryString, {
        startMs,
        endMs,
        nowMs: this.#scope.now(),
        ...defined({ defaultLimit: limit }),
      }),
      status: 'Scheduled',
      result: undefined,
      timer: 0,
    };
    const passes = run.execution.sources.map(sourcesOf);
    this.#runs.set(run.id, run);
    for (const { id, status } of [...this.#runs.values()]) {
      if (this.#runs.size <= maxKept) break;
      if (!isUnderWay(status)) this.#runs.delete(id);
    }
    this.#run(run, passes);
    return run;
  }

  /** Reads the sources in sequence, each from the log's beginning to its current end. */
  #run(run: QueryRun, passes: readonly (readonly LogSource[])[]): void {
    const { start, end } = this.#log.extent();
    let pass = 0;
    let waiting = [...(passes[pass] ?? [])];
    let feed: LineFeed | undefined;
    let at = start;
    const slice = (): void => {
      run.status = 'Running';
      try {
        const left = feed === undefined ? 0 : Math.min(sliceBytes, end - at);
        const bytes = this.#log.read(at, left);
        if (bytes.length > 0) {
          feed?.push(bytes);
          at += bytes.length;
        }
        if (run.execution.isDone) {
          waiting.length = 0;
          feed = undefined;
        }
        if (bytes.length === 0 || feed === undefined) {
          feed?.end();
          const source = waiting.shift();
          if (source === undefined && run.execution.advance()) {
            waiting = [...(passes[++pass] ?? [])];
            feed = undefined;
          } else if (source === undefined) {
            run.result = run.execution.finish();
            run.status = 'Complete';
            return;
          } else {
            feed = run.execution.open(source, start);
            at = start;
          }
        }
        run.timer = this.#scope.kernel.after(sliceMicros, slice);
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

/** Throws MalformedQueryException with the position. */
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

/** CloudWatch's limit per query. */
const maxGroups = 50;

const groupsAskedFor = (input: AwsInput, groups: LogGroups): readonly LogGroup[] => {
  const one = optionalText(input, 'logGroupName');
  const given = [
    one === undefined ? [] : [one],
    texts(input, 'logGroupNames'),
    texts(input, 'logGroupIdentifiers'),
  ].filter((names) => names.length > 0);
  const [names, ...others] = given;
  if (names === undefined || others.length > 0) {
    throw invalidParameter(
      'Exactly one of logGroupName, logGroupNames or logGroupIdentifiers is required.',
    );
  }
  if (names.length > maxGroups) {
    throw invalidParameter(`A query takes ${maxGroups} log groups, not ${names.length}.`);
  }
  // A group that is given twice, by name and by ARN, is read once.
  return [
    ...new Map(names.map((name) => groups.find(name)).map((group) => [group.name, group])).values(),
  ];
};

const startQuery = (groups: LogGroups, queries: LogQueries, input: AwsInput) => {
  const asked = groupsAskedFor(input, groups);
  const language = optionalText(input, 'queryLanguage') ?? 'CWLI';
  if (language !== 'CWLI')
    throw invalidParameter(`The query language ${language} is not supported here: use CWLI.`);
  const [start, end] = [
    optionalNumber(input, 'startTime') ?? 0,
    optionalNumber(input, 'endTime') ?? 0,
  ];
  if (start > end) throw invalidParameter('startTime must not be after endTime.');
  const limit = optionalNumber(input, 'limit');
  const request = {
    queryString: text(input, 'queryString'),
    startMs: start * 1000,
    endMs: end * 1000,
    limit,
  };
  const sourcesOf = (name: string | undefined) =>
    (name === undefined ? asked : [groups.find(name)])
      .filter(({ auditStream }) => auditStream !== undefined)
      .map((group) => ({ ...groups.sourceOf(group), cap: { fields: cloudFieldCap, cut: 0 } }));
  return { queryId: queries.start(request, asked, sourcesOf).id };
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
      logGroupsScanned: run.groupNames.length,
    },
    ...defined({ nextToken: page.nextToken }),
  };
};

const describeQueries = (queries: LogQueries, input: AwsInput) => {
  const group = optionalText(input, 'logGroupName');
  const status = optionalText(input, 'status');
  const found = queries
    .all()
    .filter((run) => group === undefined || run.groupNames.includes(group))
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
      logGroupName: run.groupNames[0],
    })),
    ...defined({ nextToken: page.nextToken }),
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
  GetLogGroupFields: (input) => discoveredFields(groups, queries.log, input),
  GetLogRecord: (input) => ({
    logRecord: eventAt(groups, queries.log, text(input, 'logRecordPointer')),
  }),
});
