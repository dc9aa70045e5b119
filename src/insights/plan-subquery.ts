// Subqueries: each is evaluated before the query, on its own. For `in (...)`, the set of values is
// kept: as in CloudWatch, the subquery must show the field that it is compared with.
import { ValueSet } from './evaluate/value-set.ts';
import type { InQuery, Query, Subquery } from './language/ast.ts';
import { QueryError } from './language/query-error.ts';
import type { Pass, Plan, Planning, PlanOptions } from './plan-types.ts';
import type { Stage } from './stages/stage.ts';

/** A subquery with its own chain. */
export interface Prepared {
  readonly plan: Plan;
  /** Passes its rows to a stage that keeps them. */
  readonly passTo: (sink: Stage) => Pass;
}

export const prepare = (
  { commands, source }: Subquery,
  options: PlanOptions,
  planQuery: Planning,
): Prepared => {
  const query: Query = { text: '', commands };
  let isDone = false;
  const plan = planQuery(query, {
    ...options,
    onMatch: () => {},
    onDone: () => {
      isDone = true;
    },
  });
  const { alsoWithin } = plan;
  const passTo = (sink: Stage): Pass => {
    return { source, query, first: plan.connect(sink), alsoWithin, isDone: () => isDone };
  };
  return { plan, passTo };
};

export const prepareSubquery = (
  { operand, query }: InQuery,
  options: PlanOptions,
  planQuery: Planning,
): { readonly pass: Pass; readonly values: ValueSet; readonly notices: readonly string[] } => {
  if (operand.kind !== 'field') {
    throw new QueryError('a subquery is compared with a field', operand.span);
  }
  const { plan, passTo } = prepare(query, { ...options, defaultLimit: undefined }, planQuery);
  const column = plan.columns.find(({ name }) => name === operand.name);
  if (column === undefined) {
    throw new QueryError(
      `the subquery does not show ${operand.name}, with which it is compared`,
      query.span,
      `end it with \`| fields ${operand.name}\`, or name a column so with \`as\``,
    );
  }
  const values = new ValueSet(options.budget);
  const pass = passTo({
    push: (row) => {
      values.add(column.read(row));
      row.event?.release();
    },
    finish: () => {},
  });
  return { pass, values, notices: plan.notices() };
};
