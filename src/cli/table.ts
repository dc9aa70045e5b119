// Plain text tables: columns as wide as their widest cell, two spaces between, no trailing blanks.
// A cell is always one line of text.
import { visible } from './visible.ts';

export const renderTable = (
  header: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] => {
  const all = [header, ...rows.map((row) => row.map(visible))];
  const widths = header.map((_, column) =>
    Math.max(...all.map((row) => (row[column] ?? '').length)),
  );
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
};
