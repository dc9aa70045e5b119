// `cidrlookup`: finds an address's row in a lookup table of networks. The most specific network
// that contains the address wins; among equal ones the first. Calls no external service.

import { networkBits } from '../api/addresses.ts';
import { addressOf, networkOf } from './evaluate/addresses.ts';
import { compile } from './evaluate/compile.ts';
import type { Row } from './evaluate/row.ts';
import { toText } from './evaluate/values.ts';
import { QueryError } from './language/query-error.ts';
import type { LookupTable, LookupTables } from './lookup-table.ts';
import { type Of, type Site, slotRead, tableOf } from './plan-rows.ts';
import { AssignStage } from './stages/stage.ts';

type TableRow = readonly string[];

export const planCidrLookup = (
  site: Site,
  command: Of<'cidrlookup'>,
  tables: LookupTables,
): void => {
  const { table, place } = tableOf(command.table, tables);
  const ranges = command.column === undefined ? onlyRanges(table, command) : place(command.column);
  const find = finderOf(table, ranges);
  const read = compile(command.field, site.context);
  const outputs = command.output.map(({ column, alias }) => {
    const before = site.context.names.read(alias, [alias]);
    return { name: alias, from: place(column), before, slot: 0 };
  });
  for (const output of outputs) {
    output.slot = site.define(output.name);
    site.show({ name: output.name, read: slotRead(output.slot) }, 'in place');
  }
  const assign = (row: Row): void => {
    const found = find(toText(read(row)));
    for (const { slot, from, before } of outputs) {
      const had = before(row);
      const keeps = found === undefined || (command.onlyNew && (had ?? '') !== '');
      row.slots[slot] = keeps ? had : found[from];
    }
  };
  site.link((next) => new AssignStage(assign, next));
};

/** The column of ranges when `AS` names none: the only one with a network in every row. */
const onlyRanges = ({ columns, rows }: LookupTable, command: Of<'cidrlookup'>): number => {
  const { name, span } = command.table;
  const found = columns
    .map((_, index) => index)
    .filter((index) => rows.every((row) => networkOf(row[index]) !== undefined));
  const [only, ...others] = rows.length === 0 ? [] : found;
  if (only !== undefined && others.length === 0) return only;
  const count = only === undefined ? 'no column' : 'more than one column';
  throw new QueryError(
    `${count} of the lookup table ${name} has a network in every row`,
    span,
    'name the column after the field: `AS cidr`',
  );
};

/** By version and prefix length, longest first: one lookup for each length in the table. */
const finderOf = (
  { rows }: LookupTable,
  place: number,
): ((address: string | undefined) => TableRow | undefined) => {
  const lengths = new Map<
    string,
    { length: number; version: 4 | 6; rows: Map<bigint, TableRow> }
  >();
  for (const row of rows) {
    const network = networkOf(row[place]);
    if (network === undefined) continue;
    const { version, length } = network;
    const key = `${version}/${length}`;
    const level = lengths.get(key) ?? { length, version, rows: new Map<bigint, TableRow>() };
    lengths.set(key, level);
    const bits = networkBits(network, length);
    if (!level.rows.has(bits)) level.rows.set(bits, row);
  }
  const longestFirst = [...lengths.values()].sort((a, b) => b.length - a.length);
  return (text) => {
    const address = addressOf(text);
    if (address === undefined) return undefined;
    for (const level of longestFirst) {
      if (level.version !== address.version) continue;
      const found = level.rows.get(networkBits(address, level.length));
      if (found !== undefined) return found;
    }
    return undefined;
  };
};
