// Parses commands that extract from a text or carry values from row to row. Supports only their
// documented forms and refuses others with their place.
import type { Command, FieldRef, FormatWord } from './ast.ts';
import { appendcols, join } from './parse-join.ts';
import { QueryError } from './query-error.ts';
import { isOver, option, type Reading, truth } from './reading.ts';

export const rowCommandWords = [
  ...(['parse', 'json', 'expand', 'addtotals', 'accum', 'filldown'] as const),
  ...(['join', 'appendcols', 'lookup', 'cidrlookup', 'countFrequent', 'fillmissing'] as const),
] as const;
export type RowCommandKind = (typeof rowCommandWords)[number];

const field = ({ scan, unexpected }: Reading): FieldRef => {
  const start = scan.at;
  const path = scan.path();
  if (path === undefined) throw unexpected('a field');
  return { kind: 'field', name: path.join('.'), path, span: scan.span(start) };
};

/** The name after `as`. */
const named = (reading: Reading): string => {
  if (!reading.scan.keyword('as')) throw reading.unexpected('`as` and a name');
  return reading.alias();
};

const message = (at: number): FieldRef => ({
  kind: 'field',
  name: '@message',
  path: ['@message'],
  span: { start: at, end: at },
});

const formats = ['logfmt', 'csv'] as const;

const formatWord = ({ scan }: Reading): FormatWord | undefined => {
  const start = scan.at;
  if (scan.peekKeyword('xml')) {
    const span = { start, end: start + 3 };
    throw new QueryError('`parse ... XML` is not evaluated here', span, 'write a pattern with `*`');
  }
  const kind = formats.find((one) => scan.keyword(one));
  return kind === undefined ? undefined : { kind, span: scan.span(start) };
};

const parse = (reading: Reading): Command => {
  const { scan, expressions, start } = reading;
  const beginsWithPattern = /["'/]/.test(scan.text[scan.at] ?? '');
  // `parse csv as a` parses the message, `parse csv "*" as a` a field named csv.
  const bare = formats.find((one) => scan.peekKeyword(one));
  let operand = beginsWithPattern ? message(start) : expressions.primary();
  let format: FormatWord | undefined;
  if (bare !== undefined && scan.peekKeyword('as')) {
    format = { kind: bare, span: operand.span };
    operand = message(start);
  }
  format ??= formatWord(reading);
  if (format !== undefined) return parseFormat(reading, operand, format);
  const at = scan.at;
  const pattern = expressions.regex();
  const glob = pattern === undefined ? scan.quoted() : undefined;
  if (pattern === undefined && glob === undefined) {
    throw reading.unexpected(
      'a pattern in quotes with `*`, a regular expression in slashes, `logfmt` or `csv`',
    );
  }
  const span = scan.span(at);
  const names = scan.keyword('as') ? reading.list(reading.alias) : [];
  if (pattern !== undefined) {
    const multi = scan.keyword('multi');
    return { kind: 'parse', operand, pattern, names, multi, span: scan.span(start) };
  }
  const value = glob ?? '';
  const stars = value.split('*').length - 1;
  if (stars === 0) throw new QueryError('this pattern has no `*`: it finds nothing', span);
  if (stars !== names.length) {
    const counts = `${stars} \`*\` and ${names.length} name${names.length === 1 ? '' : 's'}`;
    throw new QueryError(`${counts} after \`as\`: each \`*\` needs one`, span);
  }
  const text = { kind: 'text', value, span } as const;
  return { kind: 'parse', operand, pattern: text, names, multi: false, span: scan.span(start) };
};

const parseFormat = (
  reading: Reading,
  operand: (Command & { readonly kind: 'parse' })['operand'],
  pattern: FormatWord,
): Command => {
  const { scan, start } = reading;
  const names =
    pattern.kind === 'csv' && scan.keyword('as') ? reading.list(reading.alias) : [named(reading)];
  return { kind: 'parse', operand, pattern, names, multi: false, span: scan.span(start) };
};

const json = (reading: Reading): Command => {
  const { scan, start } = reading;
  if (!option(reading, 'field')) throw reading.unexpected('`field=` and a field');
  const from = field(reading);
  const path = scan.quoted();
  if (path === undefined || path === '') throw reading.unexpected('a path in quotes');
  return { kind: 'json', field: from, path, alias: named(reading), span: scan.span(start) };
};

const addtotals = (reading: Reading): Command => {
  const { scan, start } = reading;
  let [column, row, col] = ['Total', true, false];
  for (;;) {
    if (option(reading, 'fieldname')) column = reading.alias();
    else if (option(reading, 'row')) row = truth(reading);
    else if (option(reading, 'col')) col = truth(reading);
    else break;
  }
  const fields = isOver(scan) ? [] : reading.list(() => field(reading));
  return { kind: 'addtotals', column, row, col, fields, span: scan.span(start) };
};

const accum = (reading: Reading): Command => {
  const { scan, start } = reading;
  const of = field(reading);
  if (!scan.peekKeyword('as')) {
    throw new QueryError(
      '`accum` needs a name for the sum: what CloudWatch calls it is not documented',
      of.span,
      `write \`accum ${of.name} as total\``,
    );
  }
  return { kind: 'accum', field: of, alias: named(reading), span: scan.span(start) };
};

const filldown = ({ scan, start, unexpected }: Reading): Command => {
  const names: string[] = [];
  while (!isOver(scan)) {
    const name = scan.starred();
    if (name === undefined) throw unexpected('names of fields, with `*` for any text');
    names.push(name);
    scan.symbol(',');
  }
  return { kind: 'filldown', names, span: scan.span(start) };
};

const tableName = ({ scan, unexpected }: Reading) => {
  const at = scan.at;
  const name = scan.starred();
  if (name === undefined) throw unexpected('the name of a lookup table');
  return { name, span: scan.span(at) };
};

const lookup = (reading: Reading): Command => {
  const { scan, start, unexpected } = reading;
  const table = tableName(reading);
  const match = reading.list(() => {
    const column = reading.alias();
    if (!scan.keyword('as')) throw unexpected('`as` and a field');
    return { column, field: field(reading) };
  });
  if (!scan.keyword('output')) throw unexpected('`OUTPUT` and columns of the table');
  const output = reading.list(reading.alias);
  return { kind: 'lookup', table, match, output, span: scan.span(start) };
};

const cidrlookup = (reading: Reading): Command => {
  const { scan, start, unexpected } = reading;
  const table = tableName(reading);
  const of = field(reading);
  const column = scan.keyword('as') ? reading.alias() : undefined;
  const onlyNew = scan.keyword('outputnew');
  if (!onlyNew && !scan.keyword('output')) {
    throw unexpected('`OUTPUT` or `OUTPUTNEW` and columns of the table');
  }
  const output = reading.list(() => {
    const from = reading.alias();
    return { column: from, alias: scan.keyword('as') ? reading.alias() : from };
  });
  return {
    kind: 'cidrlookup',
    table,
    field: of,
    column,
    output,
    onlyNew,
    span: scan.span(start),
  };
};

const fillmissing = (reading: Reading): Command => {
  const { scan, start, unexpected } = reading;
  const value = () => {
    const at = scan.at;
    const sign = scan.symbol('-') ? '-' : '';
    const digits = scan.number();
    const found = digits === undefined ? undefined : Number(sign + digits);
    const given = found ?? (sign === '' ? scan.quoted() : undefined);
    if (given === undefined || Number.isNaN(given)) throw unexpected('a number or a text');
    if (!scan.keyword('for')) throw unexpected('`for` and a column');
    return { value: given, name: reading.alias(), span: scan.span(at) };
  };
  const values = scan.keyword('with') ? reading.list(value) : [];
  return { kind: 'fillmissing', values, span: scan.span(start) };
};

export const rowCommands: Readonly<Record<RowCommandKind, (reading: Reading) => Command>> = {
  parse,
  json,
  expand: (reading) => {
    const of = field(reading);
    return { kind: 'expand', field: of, span: reading.scan.span(reading.start) };
  },
  addtotals,
  accum,
  filldown,
  lookup,
  cidrlookup,
  countFrequent: (reading) => {
    const fields = reading.list(() => field(reading));
    return { kind: 'countFrequent', fields, span: reading.scan.span(reading.start) };
  },
  fillmissing,
  join,
  appendcols,
};
