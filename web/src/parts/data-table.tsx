// Tables as lists of columns: at most 200 rows are drawn, the rest on request. On a narrow screen
// each row becomes a block whose cells name their column.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Class of the cells: num, grow. */
  readonly kind?: string;
}

const firstRows = 200;

/** Explicit roles: shown as blocks on a narrow screen, the elements would lose their own. */
const roles = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  head: { role: 'columnheader' },
  rowHead: { role: 'rowheader' },
  cell: { role: 'cell' },
} as const;

export const DataTable = <T extends { readonly key: string }>({
  label,
  columns,
  rows,
}: {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
}) => {
  const shown = useSignal(firstRows);
  return (
    <div class="tablebox">
      <table {...roles.table} aria-label={label} aria-rowcount={rows.length + 1}>
        <thead {...roles.group}>
          <tr {...roles.row}>
            {columns.map(({ head, kind = '' }) => (
              <th key={head} {...roles.head} scope="col" class={kind}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...roles.group}>
          {rows.slice(0, shown.value).map((row) => (
            <tr key={row.key} {...roles.row}>
              {columns.map(({ head, cell, kind = '' }, at) => (
                <td
                  key={head}
                  {...(at === 0 ? roles.rowHead : roles.cell)}
                  class={kind}
                  data-head={head}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown.value && (
        <button
          type="button"
          class="more"
          onClick={() => {
            shown.value += firstRows * 5;
          }}
        >
          Show more: {rows.length - shown.value} rows are left
        </button>
      )}
    </div>
  );
};
