// Logs Insights queries that run in CloudWatch. A query is sent unchanged; nothing here parses its
// language. Implementation: aws-cloud.

export interface LogQueryRequest {
  readonly query: string;
  /** Names or ARNs, at least one and at most `maxLogGroups`. */
  readonly groups: readonly string[];
  /** Epoch seconds, both inclusive. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** Maximum number of rows if the query has no `limit`. */
  readonly limit?: number;
}

/** CloudWatch's limit for StartQuery. */
export const maxLogGroups = 50;

export interface LogQueryState {
  /** As CloudWatch spells it: Scheduled, Running, Complete, Failed, Cancelled, Timeout, Unknown. */
  readonly status: string;
  /** A row omits fields without a value. */
  readonly rows: readonly (readonly { readonly field: string; readonly value: string }[])[];
  readonly recordsMatched: number;
  readonly recordsScanned: number;
  readonly bytesScanned: number;
}

interface Options {
  readonly signal?: AbortSignal;
}

/**
 * Every failure is a CloudError or a LogQueryError. All calls may be retried except startQuery:
 * without an answer its query may be running, and is charged.
 */
export interface LogQueries {
  /** Returns the query's id. */
  startQuery(request: LogQueryRequest, options?: Options): Promise<string>;
  /** The query's progress; all rows once it is complete. */
  queryState(id: string, options?: Options): Promise<LogQueryState>;
  /** `false` when it had already ended. */
  stopQuery(id: string, options?: Options): Promise<boolean>;
  /** Names of the first few hundred groups with this prefix. */
  logGroups(prefix: string, options?: Options): Promise<readonly string[]>;
}

/**
 * `no-group`: a log group does not exist. `malformed`: the query is invalid, at `place` if
 * reported, in UTF-16 units of its text. `too-many`: the account's limit of running queries is
 * reached; retry later.
 */
export type LogQueryRefusal = 'no-group' | 'malformed' | 'too-many';

export class LogQueryError extends Error {
  override readonly name = 'LogQueryError';
  readonly code: LogQueryRefusal;
  readonly place: { readonly start: number; readonly end: number } | undefined;

  constructor(
    code: LogQueryRefusal,
    message: string,
    options: ErrorOptions & { readonly place?: { readonly start: number; readonly end: number } },
  ) {
    super(message, options);
    this.code = code;
    this.place = options.place;
  }
}
