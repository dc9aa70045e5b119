// Renders a query's result as a table, JSON or CSV, and remarks on it in a few lines. Prints
// nothing itself.
import type { JsonObject } from '../../api/json.ts';
import {
  type QueryResult,
  type ResultRow,
  toJson,
  toText,
  type Value,
} from '../../insights/index.ts';
import { renderTable } from '../table.ts';
import { visible, visibleJson } from '../visible.ts';

export type ResultFormat = 'table' | 'json' | 'csv';

/** A table cell is as wide as its text; a column with cells wider than this comes last. */
const longCell = 120;

export const renderResult = (result: QueryResult, format: ResultFormat): readonly string[] => {
  switch (format) {
    case 'json':
      return [visibleJson(JSON.stringify(documentOf(result), null, 2))];
    case 'csv':
      return [
        csvLine(result.columns),
        ...result.rows.map(({ values }) => csvLine(textsOf(values))),
      ];
    case 'table':
      return tableOf(result);
  }
};

const textsOf = (values: readonly Value[]): readonly string[] =>
  values.map((value) => toText(value) ?? '');

const tableOf = ({ columns, rows }: QueryResult): readonly string[] => {
  if (rows.length === 0) return [];
  const cells = rows.map(({ values }) => textsOf(values).map(visible));
  // Wide columns last, so that the others stay aligned.
  const wide = columns.map((_, column) =>
    cells.some((row) => (row[column] ?? '').length > longCell),
  );
  const order = [...columns.keys()].sort((a, b) => Number(wide[a]) - Number(wide[b]));
  const narrow = order.filter((column) => wide[column] !== true);
  const pick = (row: readonly string[], of: readonly number[]): readonly string[] =>
    of.map((column) => row[column] ?? '');
  const table = renderTable(
    [...pick(columns, narrow).map(visible), ''],
    cells.map((row) => [...pick(row, narrow), '']),
  );
  const rest = order.filter((column) => wide[column] === true);
  if (rest.length === 0) return table;
  const width = Math.max(...table.map((line) => line.length));
  const lead = narrow.length === 0 ? '' : '  ';
  return [columns, ...cells].map((row, index) => {
    const line = narrow.length === 0 ? '' : (table[index] ?? '').padEnd(width);
    return `${line}${lead}${pick(row, rest).join('  ')}`;
  });
};

const csvCell = (text: string): string => {
  const shown = visible(text);
  return /[",]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
};

const csvLine = (cells: readonly string[]): string => cells.map(csvCell).join(',');

const rowOf = (columns: readonly string[], { values, pointer }: ResultRow): JsonObject => {
  const entries = columns.flatMap((column, index) => {
    const value = values[index];
    return value === undefined ? [] : [[column, toJson(value)] as const];
  });
  const fields = Object.fromEntries(entries);
  return pointer === undefined ? fields : { ...fields, '@ptr': pointer };
};

const documentOf = (result: QueryResult): JsonObject => ({
  apiVersion: 'cli.drover.dev/v1',
  kind: 'LogQueryResult',
  columns: [...result.columns],
  rows: result.rows.map((row) => rowOf(result.columns, row)),
  statistics: {
    recordsMatched: result.matched,
    recordsScanned: result.counts.lines,
    bytesScanned: result.counts.bytes,
  },
  notices: [...noticesOf(result)],
});

const count = (number: number, one: string, several: string): string =>
  `${number} ${number === 1 ? one : several}`;

/** What a reader must know to trust the rows. */
export const noticesOf = (result: QueryResult): readonly string[] => {
  const { badText, tooLong, unfinished, unparsed } = result.counts;
  const notJson = result.counts.notJson + result.counts.broken;
  // Events that cannot match the query were skipped unparsed, and may be broken too.
  const least = unparsed > 0 ? 'at least ' : '';
  const all: readonly (readonly [number, string])[] = [
    [
      notJson,
      `${least}${count(notJson, 'line is', 'lines are')} no JSON object: only @message ` +
        'stands for them',
    ],
    [
      badText,
      `${count(badText, 'line has', 'lines have')} bytes that are no UTF-8, shown as U+FFFD`,
    ],
    [tooLong, `${count(tooLong, 'line is', 'lines are')} longer than 64 MB and left out`],
    [
      unfinished,
      `${count(unfinished, 'log ends', 'logs end')} without a line break: the last line may ` +
        'be cut off',
    ],
    [
      result.withoutTime,
      `${count(result.withoutTime, 'event has', 'events have')} no time and are outside ` +
        'of --start and --end',
    ],
  ];
  return [
    ...all.filter(([number]) => number > 0).map(([, text]) => text),
    ...result.notices.map(visible),
  ];
};

const megabytes = (bytes: number): string =>
  bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

export const summaryOf = ({ rows, matched, counts }: QueryResult): string =>
  `${count(rows.length, 'row', 'rows')}; ${matched} of ${counts.lines} events matched ` +
  `(${megabytes(counts.bytes)} scanned)`;
