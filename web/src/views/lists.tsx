// The lists: updates, drains and repairs, exhausted budgets. Each row shows its blocker.
import type { PageBudget, PageDrain, PageRepair, PageUpdate } from '../../../src/api/page.ts';
import { fits } from '../derived.ts';
import { visible } from '../format.ts';
import {
  Empty,
  GroupLink,
  NodeLink,
  Since,
  Tag,
  Until,
  UpdateLink,
  Wait,
} from '../parts/basics.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Progress } from '../parts/group-row.tsx';
import { tables } from '../store.ts';
import { outcomeTone, phaseTone } from '../words.ts';

const updateTone = ({ status }: PageUpdate) => {
  if (status === 'Failed') return 'bad';
  return status === 'InProgress' ? 'work' : 'plain';
};

const updateColumns: readonly Column<PageUpdate>[] = [
  { head: 'Update', cell: ({ key }) => <UpdateLink id={key} /> },
  { head: 'Group', cell: ({ group }) => <GroupLink name={group} /> },
  {
    head: 'To',
    cell: ({ what, to }) => (
      <>
        {visible(to ?? '-')} <span class="quiet">{what}</span>
      </>
    ),
  },
  {
    head: 'State',
    cell: (update) => (
      <Tag tone={updateTone(update)}>
        {update.status === 'InProgress' ? (update.phase ?? 'Pending') : update.status}
      </Tag>
    ),
  },
  { head: 'Progress', cell: (update) => <Progress update={update} /> },
  { head: 'Started', cell: ({ created }) => <Since at={created} />, kind: 'num' },
  {
    head: 'Waits for',
    cell: ({ wait, issues }) =>
      issues[0] === undefined ? (
        <Wait wait={wait} />
      ) : (
        <span dir="auto">{visible(`${issues[0].code}: ${issues[0].message}`)}</span>
      ),
    kind: 'grow',
  },
];

const newest = <T extends { readonly created: string }>(a: T, b: T): number =>
  a.created < b.created ? 1 : -1;

export const Updates = () => {
  const rows = [...tables.update.all.value].filter(fits).sort(newest);
  return (
    <>
      <h1>Updates</h1>
      {rows.length === 0 ? (
        <Empty>No update. `drover update nodegroup NAME` begins one.</Empty>
      ) : (
        <DataTable label="Updates" columns={updateColumns} rows={rows} />
      )}
    </>
  );
};

const drainColumns: readonly Column<PageDrain>[] = [
  { head: 'Node', cell: ({ node }) => <NodeLink name={node} /> },
  { head: 'Causes', cell: ({ causes }) => visible(causes.join(', ')) },
  {
    head: 'State',
    cell: ({ phase, outcome }) =>
      outcome === null || phase !== 'Ended' ? (
        <Tag tone={phaseTone(phase)}>{phase}</Tag>
      ) : (
        <Tag tone={outcomeTone(outcome)}>{outcome}</Tag>
      ),
  },
  {
    head: 'Pods left',
    cell: ({ podsLeft, podsTotal }) =>
      podsLeft === null ? '-' : `${podsLeft} of ${podsTotal ?? '?'}`,
    kind: 'num',
  },
  { head: 'Started', cell: ({ started }) => <Since at={started} />, kind: 'num' },
  {
    head: 'Deadline',
    cell: ({ deadline }) => (deadline === null ? '-' : <Until at={deadline} />),
    kind: 'num',
  },
  {
    head: 'Waits for',
    cell: ({ wait, message }) =>
      wait === null && message !== null ? <bdi>{visible(message)}</bdi> : <Wait wait={wait} />,
    kind: 'grow',
  },
];

const repairColumns: readonly Column<PageRepair>[] = [
  { head: 'Node', cell: ({ node }) => <NodeLink name={node} /> },
  { head: 'Group', cell: ({ group }) => <GroupLink name={group} /> },
  { head: 'Finding', cell: ({ finding }) => <bdi>{visible(finding)}</bdi> },
  { head: 'State', cell: ({ phase }) => <Tag tone={phaseTone(phase)}>{phase ?? 'recorded'}</Tag> },
  { head: 'Action', cell: ({ action }) => action ?? '-' },
  { head: 'Unhealthy for', cell: ({ since }) => <Since at={since} />, kind: 'num' },
  {
    head: 'Waits for',
    cell: ({ wait, message }) =>
      wait === null ? <bdi>{visible(message)}</bdi> : <Wait wait={wait} />,
    kind: 'grow',
  },
];

const openFirst = (a: PageDrain, b: PageDrain): number =>
  Number(a.phase === 'Ended') - Number(b.phase === 'Ended') ||
  ((a.started ?? '') < (b.started ?? '') ? 1 : -1);

export const Drains = () => {
  const drains = [...tables.drain.all.value].filter(fits).sort(openFirst);
  const repairs = [...tables.repair.all.value].filter(fits);
  const open = drains.filter(({ phase }) => phase !== 'Ended').length;
  return (
    <>
      <h1>
        Drains <span class="quiet num">{open} under way</span>
      </h1>
      {drains.length === 0 ? (
        <Empty>No node is or was taken out of service within a day.</Empty>
      ) : (
        <DataTable label="Drains" columns={drainColumns} rows={drains} />
      )}
      <h2>Repairs</h2>
      {repairs.length === 0 ? (
        <Empty>No repair.</Empty>
      ) : (
        <DataTable
          label="Repairs"
          columns={repairColumns}
          rows={repairs.sort((a, b) => (a.since < b.since ? 1 : -1))}
        />
      )}
    </>
  );
};

const DrainNodes = ({ ids }: { readonly ids: readonly string[] }) => (
  <>
    {ids.slice(0, 4).map((id) => (
      <span key={id}>
        <NodeLink name={tables.drain.of(id)?.node ?? id} />{' '}
      </span>
    ))}
    {ids.length > 4 && <span class="quiet">+{ids.length - 4}</span>}
  </>
);

const budgetColumns: readonly Column<PageBudget>[] = [
  { head: 'Budget', cell: ({ key }) => <bdi class="name">{visible(key)}</bdi> },
  { head: 'Rule', cell: ({ rule }) => visible(rule) },
  { head: 'Allows', cell: ({ allowed }) => allowed, kind: 'num' },
  {
    head: 'Healthy',
    cell: ({ healthy, desired, expected }) => `${healthy} of ${expected}, needs ${desired}`,
    kind: 'num',
  },
  { head: 'Holds up', cell: ({ drains }) => <DrainNodes ids={drains} /> },
  { head: 'Waits for', cell: ({ wait }) => <Wait wait={wait} />, kind: 'grow' },
];

export const Budgets = () => {
  const rows = [...tables.budget.all.value]
    .filter(fits)
    .sort((a, b) => b.drains.length - a.drains.length || (a.key < b.key ? -1 : 1));
  return (
    <>
      <h1>
        Budgets without room <span class="quiet num">{rows.length}</span>
      </h1>
      {rows.length === 0 ? (
        <Empty>Every disruption budget allows an eviction.</Empty>
      ) : (
        <DataTable label="Budgets" columns={budgetColumns} rows={rows} />
      )}
    </>
  );
};
