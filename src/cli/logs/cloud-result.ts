// Converts CloudWatch's rows to this engine's result: columns for all rows, the pointer separately.
// Values stay the texts that CloudWatch sends.
import type { QueryResult } from '../../insights/index.ts';
import type { LogQueryState } from '../../ports/index.ts';

const pointerField = '@ptr';

/** The fields of all rows, each placed after its predecessor in its row. */
const columnsOf = ({ rows }: LogQueryState): readonly string[] => {
  const columns: string[] = [];
  for (const row of rows) {
    let at = 0;
    for (const { field } of row) {
      if (field === pointerField) continue;
      const known = columns.indexOf(field);
      if (known < 0) columns.splice(at, 0, field);
      at = (known < 0 ? at : known) + 1;
    }
  }
  return columns;
};

/** `expected`: the columns of the query if known, so that a column without values is shown. */
export const resultOf = (state: LogQueryState, expected: readonly string[]): QueryResult => {
  const found = columnsOf(state);
  const isKnown = expected.length > 0 && found.every((column) => expected.includes(column));
  const columns = isKnown ? expected : found;
  return {
    columns,
    rows: state.rows.map((row) => {
      const fields = new Map(row.map(({ field, value }) => [field, value]));
      return {
        values: columns.map((column) => fields.get(column)),
        pointer: fields.get(pointerField),
      };
    }),
    matched: state.recordsMatched,
    counts: {
      lines: state.recordsScanned,
      bytes: state.bytesScanned,
      notJson: 0,
      broken: 0,
      unparsed: 0,
      badText: 0,
      tooLong: 0,
      unfinished: 0,
    },
    withoutTime: 0,
    notices: [],
  };
};
