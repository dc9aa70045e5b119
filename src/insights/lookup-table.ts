// Lookup tables for the command `lookup`: CSV with a header line, as in CloudWatch. Keeps the table
// in memory.

export interface LookupTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}
export type LookupTables = ReadonlyMap<string, LookupTable>;

/** Throws Error with the fault and its place. */
export const readLookupTable = (text: string): LookupTable => {
  const [header, ...rows] = records(text.replace(/^\ufeff/, ''));
  if (header === undefined) throw new Error('it has no header line');
  const columns = header.values;
  const twice = columns.find((name, index) => columns.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two columns are called ${twice}`);
  for (const { line, values } of rows) {
    if (values.length === columns.length) continue;
    const count = `${values.length} value${values.length === 1 ? '' : 's'}`;
    throw new Error(`line ${line} has ${count}, the header ${columns.length}`);
  }
  return { columns, rows: rows.map(({ values }) => values) };
};

interface TableRecord {
  /** Line on which it starts. */
  readonly line: number;
  readonly values: readonly string[];
}

/** By RFC 4180: quotes enclose commas, line breaks and doubled quotes. Skips empty lines. */
const records = (text: string): TableRecord[] => {
  const found: TableRecord[] = [];
  let [at, line, begins] = [0, 1, 1];
  let values: string[] = [];
  while (at < text.length || values.length > 0) {
    const cell = text[at] === '"' ? quotedCell(text, at) : bareCell(text, at);
    const [separator] =
      cell === undefined ? [] : (/^(?:,|\r?\n|$)/.exec(text.slice(cell.end, cell.end + 2)) ?? []);
    if (cell === undefined || separator === undefined) {
      throw new Error(`line ${line}: a quote is never closed, or stands within a value`);
    }
    values.push(cell.value);
    at = cell.end + separator.length;
    line += cell.value.split('\n').length - 1;
    if (separator === ',') continue;
    if (values.length > 1 || values[0] !== '') found.push({ line: begins, values });
    values = [];
    begins = ++line;
  }
  return found;
};

interface Cell {
  readonly value: string;
  readonly end: number;
}

const bareCell = (text: string, at: number): Cell => {
  const stop = /[",\r\n]/g;
  stop.lastIndex = at;
  const end = stop.exec(text)?.index ?? text.length;
  return { value: text.slice(at, end), end };
};

/** Quote by quote: a regular expression overflows the stack on cells of megabytes. */
const quotedCell = (text: string, start: number): Cell | undefined => {
  const parts: string[] = [];
  for (let at = start + 1; ; ) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return undefined;
    parts.push(text.slice(at, quote));
    if (text[quote + 1] !== '"') return { value: parts.join('"'), end: quote + 1 };
    at = quote + 2;
  }
};

/** Key of several values; undefined when one is missing. */
export const keyOf = (values: readonly (string | undefined)[]): string | undefined =>
  values.includes(undefined) ? undefined : JSON.stringify(values);

/** The first row for each key of the given columns. */
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
