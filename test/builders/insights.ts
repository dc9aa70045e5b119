// For tests: runs a query over lines and returns its rows as text.

import { toText } from '../../src/insights/evaluate/values.ts';
import {
  Execution,
  type ExecutionOptions,
  type QueryResult,
} from '../../src/insights/execution.ts';
import { parseQuery } from '../../src/insights/language/parse.ts';
import { explainQueryError, QueryError } from '../../src/insights/language/query-error.ts';

export const stream = 'kube-apiserver-audit-a1b2';
export const testNowMs = Date.UTC(2022, 8, 25, 14);

export const execute = (
  query: string,
  bytes: Uint8Array | readonly unknown[],
  options: Partial<ExecutionOptions> & { readonly chunkBytes?: number } = {},
): QueryResult => {
  const { chunkBytes = 1 << 20, ...rest } = options;
  const execution = new Execution(parseQuery(query), { nowMs: testNowMs, ...rest });
  const all = bytes instanceof Uint8Array ? bytes : Buffer.from(linesOf(bytes));
  // Subqueries read the same log before the query does.
  do {
    const feed = execution.open({ stream, log: '111111111111:/aws/eks/ironman-2022/cluster' });
    for (let at = 0; at < all.length; at += chunkBytes) {
      feed.push(all.subarray(at, at + chunkBytes));
    }
    feed.end();
  } while (execution.advance());
  return execution.finish();
};

/** Text unchanged, everything else as JSON, one per line. */
const linesOf = (events: readonly unknown[]): string =>
  events.map((one) => `${typeof one === 'string' ? one : JSON.stringify(one)}\n`).join('');

export const rowsOf = (
  query: string,
  events: readonly unknown[],
  options: Parameters<typeof execute>[2] = {},
): readonly (readonly (string | undefined)[])[] =>
  execute(query, events, options).rows.map((row) => row.values.map(toText));

/** Rows of one column. */
export const columnOf = (
  query: string,
  events: readonly unknown[],
): readonly (string | undefined)[] => rowsOf(query, events).map(([value]) => value);

export type Logs = Readonly<Record<string, readonly object[]>>;

/** `own`: the log of the query; the others are named by SOURCE. */
export const runOver = (query: string, logs: Logs, options: Partial<ExecutionOptions> = {}) => {
  const execution = new Execution(parseQuery(query), { nowMs: 0, ...options });
  const [...sources] = execution.sources;
  for (const [index, source = 'own'] of sources.entries()) {
    const feed = execution.open({ stream: source, log: source });
    for (const event of logs[source] ?? []) feed.push(Buffer.from(`${JSON.stringify(event)}\n`));
    feed.end();
    const isLast = index === sources.length - 1;
    if (execution.advance() === isLast) throw new Error('sources and advance do not agree');
  }
  const { rows, columns, counts, matched, notices } = execution.finish();
  const shown = rows.map(({ values }) => values.map(toText));
  const pointers = rows.map(({ pointer }) => pointer);
  return { rows: shown, columns, counts, matched, sources, notices, pointers };
};

/** The message of a query that is refused before anything is read. */
export const refusal = (query: string): string => {
  try {
    runOver(query, {});
  } catch (error) {
    if (error instanceof QueryError) return explainQueryError(query, error);
    throw error;
  }
  throw new Error(`not refused: ${query}`);
};

/** An event at that second. */
export const at = (second: number, more: object) => ({
  stageTimestamp: `2022-09-25T13:58:0${second}Z`,
  ...more,
});
