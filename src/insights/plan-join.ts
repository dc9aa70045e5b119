// `join`: reads the rows in brackets before the query and indexes them by the compared field,
// keeping only values that later commands use. Each preceding row continues once per equal row.
import type { Names, Read, Row, Side } from './evaluate/row.ts';
import { RowIndex } from './evaluate/row-index.ts';
import type { Value } from './evaluate/values.ts';
import type { Command, JoinSide } from './language/ast.ts';
import { QueryError } from './language/query-error.ts';
import { prepare } from './plan-subquery.ts';
import type { Column, Pass, Plan, Planning, PlanOptions } from './plan-types.ts';
import { JoinStage } from './stages/join-stage.ts';
import type { Stage } from './stages/stage.ts';

interface Left {
  readonly names: Names;
  readonly columns: readonly Column[];
}

interface Joined {
  readonly pass: Pass;
  readonly names: Names;
  readonly link: (next: Stage) => Stage;
  /** All columns of both sides; used only when the query does not select columns. */
  readonly columns: () => readonly Column[];
  readonly notices: readonly string[];
}

export const prepareJoin = (
  { type, left: leftSide, right: rightSide, query }: Command & { readonly kind: 'join' },
  left: Left,
  options: PlanOptions,
  planQuery: Planning,
): Joined => {
  // The indexed rows determine the order: without a `sort`, that of the log.
  const isSorted = query.commands.some(({ kind }) => kind === 'sort');
  const defaultLimit = isSorted ? Number.MAX_SAFE_INTEGER : undefined;
  const { plan, passTo } = prepare(query, { ...options, defaultLimit }, planQuery);
  const leftKey = keyOf(leftSide, left.names);
  const rightKey = keyOf(rightSide, plan.names);
  const wanted = new Wanted(left.names);
  const names = left.names.joined(
    new Map([
      [leftSide.name, left.names],
      [rightSide.name, rightNames(plan, wanted)],
    ]),
  );
  const index = new RowIndex(options.budget, rightSide.field.name);
  const pass = passTo({
    push: (row) => index.add(rightKey(row), wanted.of(row)),
    finish: () => {},
  });
  const { slots } = wanted;
  const link = (next: Stage): Stage =>
    new JoinStage({ read: leftKey, index, slots, keepsAll: type === 'left' }, next);
  const columns = () => [
    ...left.columns.map(({ name, read }) => ({ name: `${leftSide.name}.${name}`, read })),
    ...plan.columns.map(({ name, read }) => {
      return { name: `${rightSide.name}.${name}`, read: wanted.read(`column ${name}`, read) };
    }),
  ];
  return { pass, names, link, columns, notices: plan.notices() };
};

/** An event may have any field; rows of `stats` have only its columns. */
const keyOf = ({ name, field }: JoinSide, names: Names): Read => {
  if (!names.has(field.name)) {
    const what = `\`${name}\` has no ${field.name} to join by`;
    throw new QueryError(what, field.span, `there are ${names.listed.join(', ')}`);
  }
  return names.read(field.name, field.path);
};

const rightNames = ({ names }: Plan, wanted: Wanted): Side => ({
  has: (name) => names.has(name),
  listed: names.listed,
  read: (name, path) => wanted.read(`field ${name}`, names.read(name, path)),
});

/**
 * The fields that later commands use of the rows in brackets. Complete before the first row is
 * read.
 */
class Wanted {
  readonly #names: Names;
  readonly #reads = new Map<string, { readonly read: Read; readonly slot: number }>();
  /** The slot in a joined row for each value of `of`. */
  readonly slots: number[] = [];

  constructor(names: Names) {
    this.#names = names;
  }

  read(key: string, read: Read): Read {
    const slot = this.#reads.get(key)?.slot ?? this.#add(key, read);
    return (row) => row.slots[slot];
  }

  #add(key: string, read: Read): number {
    const slot = this.#names.unnamed();
    this.#reads.set(key, { read, slot });
    this.slots.push(slot);
    return slot;
  }

  of(row: Row): readonly Value[] {
    return [...this.#reads.values()].map(({ read }) => read(row));
  }
}
