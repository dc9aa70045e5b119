// Plans the commands of stages/row-stages.ts as stages: which slots they read and write, and the
// result's columns after them.
import { type CompileContext, compile, compileRegex } from './evaluate/compile.ts';
import { pathReader } from './evaluate/event.ts';
import { readCsv, readLogfmt } from './evaluate/formats.ts';
import { compileGlob } from './evaluate/glob.ts';
import { allMatches } from './evaluate/matches.ts';
import type { Read, Row } from './evaluate/row.ts';
import { fromJson, Instant, toText, type Value } from './evaluate/values.ts';
import type { Command, NamedExpression, RegexLiteral } from './language/ast.ts';
import { QueryError } from './language/query-error.ts';
import { keyOf, type LookupTable, type LookupTables, rowsByKey } from './lookup-table.ts';
import type { Column } from './plan-types.ts';
import type { LinearRegex } from './regex/index.ts';
import {
  AnyStage,
  added,
  CarryStage,
  ElementsStage,
  elementsOrItself,
  MatchesStage,
  TotalsStage,
} from './stages/row-stages.ts';
import { AssignStage, type Stage } from './stages/stage.ts';

/** The part of the query planner that command planners use. */
export interface Site {
  readonly context: CompileContext;
  /** The current columns. */
  readonly columns: readonly Column[];
  readonly link: (link: (next: Stage) => Stage) => void;
  readonly define: (name: string) => number;
  /** Shows a column; replaces one of the same name. */
  readonly show: (column: Column, where: 'in place' | 'last') => void;
  /** Applies the current order: later stages receive all rows in it. */
  readonly inOrder: () => void;
  /**
   * Like `inOrder`; for a query without a limit, also limits the rows to the default. Adds the
   * notice when rows are cut.
   */
  readonly cut: (notice: (rows: number) => string) => void;
  readonly countMatches: () => void;
  readonly onDone: () => void;
}

export type Of<K extends Command['kind']> = Extract<Command, { readonly kind: K }>;

/** Calls `tell` for each row after the first `count`. */
export const beyond = (count: number, tell: () => unknown): (() => void) => {
  let met = 0;
  return () => {
    if (++met > count) tell();
  };
};

/** `stats count(*) as ALIAS by ...` of the fields. */
export const countedBy = ({ fields, span }: Of<'countFrequent'>, alias: string): Of<'stats'> => {
  const by = fields.map((expression) => {
    return { expression, alias: undefined, text: expression.name, span: expression.span };
  });
  const expression = { kind: 'call', name: 'count', args: [], star: true, span } as const;
  return { kind: 'stats', by, aggregates: [{ expression, alias, text: alias, span }], span };
};

export const planAny = (site: Site, count: number): void => {
  site.countMatches();
  site.link((next) => new AnyStage(count, site.onDone, next));
};

export const slotRead =
  (slot: number): Read =>
  (row) =>
    row.slots[slot];

export const planExpand = (site: Site, { field }: Of<'expand'>): void => {
  const elements = elementsOrItself(compile(field, site.context));
  const slot = site.define(field.name);
  site.show({ name: field.name, read: slotRead(slot) }, 'in place');
  site.countMatches();
  site.link((next) => new ElementsStage(elements, slot, next));
};

export const planJson = (site: Site, { field, path, alias }: Of<'json'>): void => {
  const read = compile(field, site.context);
  const below = pathReader(path.split('.'));
  const slot = site.define(alias);
  site.show({ name: alias, read: slotRead(slot) }, 'last');
  site.link(
    (next) =>
      new AssignStage((row) => {
        row.slots[slot] = valueBelow(read(row), below);
      }, next),
  );
};

const valueBelow = (value: Value, below: ReturnType<typeof pathReader>): Value => {
  if (value instanceof Instant || value === undefined) return undefined;
  if (typeof value === 'object') return below(value as Parameters<typeof below>[0]);
  if (typeof value !== 'string') return undefined;
  try {
    return below(JSON.parse(value) as Parameters<typeof below>[0]);
  } catch {
    return undefined;
  }
};

/** Columns of the event itself are not summed. */
const isSystem = ({ name }: Column): boolean => name.startsWith('@') && !name.startsWith('@@');

export const planTotals = (site: Site, command: Of<'addtotals'>): void => {
  const { column, row, col } = command;
  if (col) {
    site.cut(
      (rows) => `\`addtotals\` adds up ${rows} rows, there are more: say how many with \`limit\``,
    );
  }
  const chosen: readonly Column[] =
    command.fields.length === 0
      ? site.columns.filter((one) => !isSystem(one))
      : command.fields.map((field) => ({ name: field.name, read: compile(field, site.context) }));
  const columns = chosen.map(({ name, read }) => ({ name, read, slot: site.define(name) }));
  for (const { name, slot } of columns) site.show({ name, read: slotRead(slot) }, 'in place');
  const rowSlot = row ? site.define(column) : undefined;
  if (rowSlot !== undefined) site.show({ name: column, read: slotRead(rowSlot) }, 'last');
  site.link((next) => new TotalsStage({ columns, rowSlot, hasLast: col }, next));
};

export const planAccum = (site: Site, { field, alias }: Of<'accum'>): void => {
  site.inOrder();
  const read = compile(field, site.context);
  const slot = site.define(alias);
  site.show({ name: alias, read: slotRead(slot) }, 'last');
  site.link((next) => new CarryStage([{ read, slot, next: added }], next));
};

/** A table by name, and the indexes of its columns. */
export const tableOf = (
  { name: called, span }: Of<'lookup'>['table'],
  tables: LookupTables,
): { readonly table: LookupTable; readonly place: (column: string) => number } => {
  const table = tables.get(called);
  if (table === undefined) {
    const known = [...tables.keys()];
    throw new QueryError(
      `there is no lookup table called ${called}`,
      span,
      known.length === 0
        ? 'a CSV file is one for `drover logs query`: --lookup-table NAME=FILE'
        : `there are ${known.join(', ')}`,
    );
  }
  const place = (column: string): number => {
    const index = table.columns.indexOf(column);
    if (index >= 0) return index;
    const what = `the lookup table ${called} has no column called ${column}`;
    throw new QueryError(what, span, `it has ${table.columns.join(', ')}`);
  };
  return { table, place };
};

/** The values of the table's first matching row; without one, fields keep their values. */
export const planLookup = (site: Site, command: Of<'lookup'>, tables: LookupTables): void => {
  const { table, place } = tableOf(command.table, tables);
  const rows = rowsByKey(
    table,
    command.match.map(({ column }) => place(column)),
  );
  const reads = command.match.map(({ field }) => compile(field, site.context));
  const outputs = command.output.map((name) => {
    const before = site.context.names.read(name, [name]);
    return { name, from: place(name), before, slot: 0 };
  });
  for (const output of outputs) {
    const { name } = output;
    output.slot = site.define(name);
    site.show({ name, read: slotRead(output.slot) }, 'in place');
  }
  const assign = (row: Row): void => {
    const key = keyOf(reads.map((read) => toText(read(row))));
    const found = key === undefined ? undefined : rows.get(key);
    for (const { slot, from, before } of outputs) {
      row.slots[slot] = found === undefined ? before(row) : found[from];
    }
  };
  site.link((next) => new AssignStage(assign, next));
};

/** A star matches any text. */
const matchesStars = (pattern: string, name: string): boolean => {
  const [head = '', ...parts] = pattern.split('*');
  const tail = parts.pop();
  if (tail === undefined) return pattern === name;
  if (!name.startsWith(head) || !name.endsWith(tail)) return false;
  let at = head.length;
  const end = name.length - tail.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= end;
};

export const planFilldown = (site: Site, { names, span }: Of<'filldown'>): void => {
  site.inOrder();
  const columns = site.columns.filter((one) => !isSystem(one));
  const chosen =
    names.length === 0
      ? columns
      : names.flatMap((name) => {
          const found = columns.filter((column) => matchesStars(name, column.name));
          if (found.length > 0) return found;
          const what = `\`filldown\`: no column is called ${name}`;
          throw new QueryError(what, span, 'show it with `fields` first');
        });
  const carry = [...new Set(chosen)].map(({ name, read }) => {
    const slot = site.define(name);
    site.show({ name, read: slotRead(slot) }, 'in place');
    return { read, slot, next: (kept: Value, value: Value) => value ?? kept };
  });
  site.link((next) => new CarryStage(carry, next));
};

/** The names of a `parse`, or those of a regular expression's groups when none is given. */
const namesOf = ({ pattern, names }: Of<'parse'>): readonly string[] =>
  pattern.kind === 'regex' && names.length === 0 ? [...compileRegex(pattern).names.keys()] : names;

export const planParse = (site: Site, command: Of<'parse'>): void => {
  const read = compile(command.operand, site.context);
  const { pattern } = command;
  const regex = pattern.kind === 'regex' ? groupsOf(command, pattern) : undefined;
  const match = regex === undefined ? matcherOf(command) : regex.first;
  const names = namesOf(command);
  const slots = names.map((name) => site.define(name));
  for (const [index, name] of names.entries()) {
    site.show({ name, read: slotRead(slots[index] ?? 0) }, 'last');
  }
  if (command.multi && regex !== undefined) {
    site.countMatches();
    site.link((next) => new MatchesStage({ read, slots, find: regex.all }, next));
    return;
  }
  const assign = (row: Row): void => {
    const text = toText(read(row));
    const found = text === undefined ? undefined : match(text);
    for (const [index, slot] of slots.entries()) row.slots[slot] = found?.[index];
  };
  site.link((next) => new AssignStage(assign, next));
};

const matcherOf = ({
  pattern,
  names,
}: Of<'parse'>): ((text: string) => readonly Value[] | undefined) => {
  switch (pattern.kind) {
    case 'csv':
      return (text) => readCsv(text, names.length);
    case 'logfmt':
      return (text) => [fromJson(readLogfmt(text))];
    case 'text':
      return compileGlob(pattern.value);
    case 'regex':
      throw new Error('a regular expression has its own matcher');
  }
};

type Groups = readonly (string | undefined)[];

const groupsOf = (
  command: Of<'parse'>,
  pattern: RegexLiteral,
): {
  readonly first: (text: string) => Groups | undefined;
  readonly all: (text: string) => Iterable<Groups>;
} => {
  const regex: LinearRegex = compileRegex(pattern);
  const pick = pickerOf(command, pattern, regex);
  return {
    first: (text) => {
      const groups = regex.find(text)?.groups;
      return groups === undefined ? undefined : pick(groups);
    },
    all: function* (text) {
      for (const { groups } of allMatches(regex, text)) yield pick(groups);
    },
  };
};

const pickerOf = (
  { names }: Of<'parse'>,
  pattern: RegexLiteral,
  regex: LinearRegex,
): ((groups: Groups) => Groups) => {
  const named = [...regex.names.values()];
  if (names.length === 0) {
    if (named.length === 0) {
      throw new QueryError(
        'this regular expression names nothing to keep',
        pattern.span,
        'name its groups, `(?<name>...)`, or give names after `as`',
      );
    }
    return (groups) => named.map((index) => groups[index]);
  }
  const count = regex.groupCount;
  if (count !== names.length) {
    throw new QueryError(
      `${count} groups and ${names.length} names after \`as\`: each group needs one`,
      pattern.span,
    );
  }
  return (groups) => groups.slice(1);
};

/** The names of `stats` columns; throws QueryError for duplicates. */
export const columnNames = (columns: readonly NamedExpression[]): readonly string[] => {
  const taken = new Set<string>();
  for (const { alias, text, span } of columns) {
    const name = alias ?? text;
    if (taken.has(name)) {
      throw new QueryError(`two columns are called ${name}`, span, 'name one with `as`');
    }
    taken.add(name);
  }
  return [...taken];
};
