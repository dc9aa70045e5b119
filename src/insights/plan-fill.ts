// `fillmissing`: which column of the preceding `stats` has its bins, and the values of inserted
// rows. Refuses queries in which the missing rows are ambiguous.
import { periodOf } from './evaluate/compile.ts';
import type { Period } from './evaluate/time.ts';
import type { Value } from './evaluate/values.ts';
import type { Command, NamedExpression } from './language/ast.ts';
import { QueryError } from './language/query-error.ts';

export interface FillPlan {
  readonly period: Period;
  /** Values of an inserted row; the bin's own slot is set for each. */
  readonly slots: readonly Value[];
  readonly binSlot: number;
}

/** `by`: the grouping of the last `stats`; `columns`: the columns since. */
export const fillPlan = (
  { values, span }: Command & { readonly kind: 'fillmissing' },
  by: readonly NamedExpression[],
  columns: readonly { readonly name: string }[],
): FillPlan => {
  const [bin, ...others] = by;
  const call = bin?.expression;
  if (call?.kind !== 'call' || call.name.toLowerCase() !== 'bin' || others.length > 0) {
    throw new QueryError(
      '`fillmissing` fills the gaps of `stats ... by bin(...)`, by that alone',
      span,
      'which rows are missing where there are other fields to group by is not documented',
    );
  }
  const period = periodOf(call.args[0], call.span);
  const slots: Value[] = columns.map(() => undefined);
  for (const { value, name, span: at } of values) {
    const place = columns.findIndex((column) => column.name === name);
    if (place <= 0) {
      const names = columns.slice(1).map((column) => column.name);
      const what = `\`fillmissing\`: \`stats\` made no column called ${name}`;
      throw new QueryError(what, at, `it made ${names.join(', ')}`);
    }
    slots[place] = value;
  }
  return { period, slots, binSlot: 0 };
};
