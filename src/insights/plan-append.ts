// `appendcols`: adds the columns of the query in brackets to the preceding rows, by position.
import { type Of, type Site, slotRead } from './plan-rows.ts';
import { prepare } from './plan-subquery.ts';
import type { Pass, Planning, PlanOptions } from './plan-types.ts';
import { AppendedRows, AppendStage } from './stages/append-stage.ts';

export const planAppend = (
  site: Site,
  { override, max, query }: Of<'appendcols'>,
  options: PlanOptions,
  planQuery: Planning,
): Pass => {
  const { plan, passTo } = prepare(query, { ...options, defaultLimit: max }, planQuery);
  const { context } = site;
  site.inOrder();
  const reads = plan.columns.map(({ read }) => read);
  const appended = new AppendedRows(reads, max, options.budget);
  const shown = site.columns;
  const columns = plan.columns.map(({ name }) => {
    const before = shown.find((column) => column.name === name)?.read;
    return { name, before, slot: site.define(name) };
  });
  for (const { name, slot } of columns) site.show({ name, read: slotRead(slot) }, 'in place');
  const onLeft = (count: number): void => {
    const rows = count === 1 ? 'row' : 'rows';
    context.notice(
      `\`appendcols\`: ${count} ${rows} more in the brackets than before it, left out`,
    );
  };
  const { rows } = appended;
  site.link((next) => new AppendStage({ columns, rows, override, onLeft }, next));
  return passTo({
    push: (row) => appended.push(row),
    finish: () => {
      for (const told of plan.notices()) context.notice(told);
    },
  });
};
