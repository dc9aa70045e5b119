// Logs Insights queries that run where the logs are: CloudWatch. A query goes there as it was
// written; nothing here reads its language. Implementation: aws-cloud.

export interface LogQueryRequest {
  readonly query: string;
  /** Names or ARNs, at least one and at most `maxLogGroups`. */
  readonly groups: readonly string[];
  /** Epoch seconds, both inclusive. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** Rows, where the query has no `limit`. */
  readonly limit?: number;
}

/** CloudWatch's bound of StartQuery. */
export const maxLogGroups = 50;

export interface LogQueryState {
  /** CloudWatch's own word: Scheduled, Running, Complete, Failed, Cancelled, Timeout, Unknown. */
  readonly status: string;
  /** A field without a value is left out of its row. */
  readonly rows: readonly (readonly { readonly field: string; readonly value: string }[])[];
  readonly recordsMatched: number;
  readonly recordsScanned: number;
  readonly bytesScanned: number;
}

interface Options {
  readonly signal?: AbortSignal;
}

/**
 * Every failure is a CloudError or a LogQueryError. All may be asked again but startQuery: without
 * an answer its query may run, and is paid for.
 */
export interface LogQueries {
  /** The query's id. */
  startQuery(request: LogQueryRequest, options?: Options): Promise<string>;
  /** How far it is; all of its rows once it is complete. */
  queryState(id: string, options?: Options): Promise<LogQueryState>;
  /** `false` when it was over already. */
  stopQuery(id: string, options?: Options): Promise<boolean>;
  /** Names of the first few hundred groups whose name begins so. */
  logGroups(prefix: string, options?: Options): Promise<readonly string[]>;
}

/**
 * `no-group`: a log group does not exist there. `malformed`: the query, at `place` if it was told,
 * in UTF-16 units of its text. `too-many`: the account runs as many queries as it may; ask later.
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
