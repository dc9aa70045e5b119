// Lookup tables, for the command `lookup`: CSV with a header line, as CloudWatch takes them. Keeps a table whole.

export interface LookupTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}
export type LookupTables = ReadonlyMap<string, LookupTable>;

/** Throws Error with what is wrong, and where. */
export const readLookupTable = (text: string): LookupTable => {
  const [columns, ...rows] = records(text.replace(/^\ufeff/, ''));
  if (columns === undefined) throw new Error('it has no header line');
  const twice = columns.find((name, index) => columns.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two columns are called ${twice}`);
  for (const [index, row] of rows.entries()) {
    if (row.length === columns.length) continue;
    const count = `${row.length} value${row.length === 1 ? '' : 's'}`;
    throw new Error(`line ${index + 2} has ${count}, the header ${columns.length}`);
  }
  return { columns, rows };
};

/** By RFC 4180: in quotes stand commas, line breaks, and a quote as two. Empty lines are none. */
const records = (text: string): string[][] => {
  const found: string[][] = [];
  const value = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  let row: string[] = [];
  for (let at = 0; at < text.length || row.length > 0; ) {
    value.lastIndex = at;
    const match = value.exec(text);
    if (match === null) {
      throw new Error(
        `a quote is never closed, or stands within a value (record ${found.length + 1})`,
      );
    }
    const [whole, inQuotes, bare = '', end] = match;
    at += whole.length;
    row.push(inQuotes?.replaceAll('""', '"') ?? bare);
    if (end === ',') continue;
    if (row.length > 1 || row[0] !== '') found.push(row);
    row = [];
  }
  return found;
};

/** Of several values; undefined where one is missing. */
export const keyOf = (values: readonly (string | undefined)[]): string | undefined =>
  values.includes(undefined) ? undefined : JSON.stringify(values);

/** The first row for each key, of the columns at these places. */
export const rowsByKey = (
  { rows }: LookupTable,
  places: readonly number[],
): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, readonly string[]>();
  for (const row of rows) {
    const key = keyOf(places.map((place) => row[place]));
    if (key !== undefined && !found.has(key)) found.set(key, row);
  }
  return found;
};
