// A subquery of `in (...)`: evaluated before the query, by itself, and kept as the set of its values. It must show the
// field that it is compared with, as CloudWatch has it; nothing else of it is kept.
import { ValueSet } from './evaluate/value-set.ts';
import type { InQuery, Query } from './language/ast.ts';
import { QueryError } from './language/query-error.ts';
import type { TimeRange } from './patterns/periods.ts';
import type { Plan, PlanOptions } from './plan.ts';
import type { Stage } from './stages/stage.ts';

/** One reading of a log from front to back. */
export interface Pass {
  /** The log; undefined where it is what the query reads. */
  readonly source: string | undefined;
  readonly query: Query;
  readonly first: Stage;
  readonly alsoWithin: TimeRange | undefined;
  readonly isDone: () => boolean;
}

export const prepareSubquery = (
  { operand, query: { commands, source, span } }: InQuery,
  options: PlanOptions,
  planQuery: (query: Query, options: PlanOptions) => Plan,
): { readonly pass: Pass; readonly values: ValueSet; readonly notices: readonly string[] } => {
  if (operand.kind !== 'field') {
    throw new QueryError('a subquery is compared with a field', operand.span);
  }
  const query: Query = { text: '', commands };
  let isDone = false;
  const plan = planQuery(query, {
    ...options,
    defaultLimit: undefined,
    onMatch: () => {},
    onDone: () => {
      isDone = true;
    },
  });
  const column = plan.columns.find(({ name }) => name === operand.name);
  if (column === undefined) {
    throw new QueryError(
      `the subquery does not show ${operand.name}, with which it is compared`,
      span,
      `end it with \`| fields ${operand.name}\`, or name a column so with \`as\``,
    );
  }
  const values = new ValueSet(options.budget);
  const first = plan.connect({
    push: (row) => {
      values.add(column.read(row));
      row.event?.release();
    },
    finish: () => {},
  });
  const { alsoWithin } = plan;
  return {
    pass: { source, query, first, alsoWithin, isDone: () => isDone },
    values,
    notices: plan.notices(),
  };
};
