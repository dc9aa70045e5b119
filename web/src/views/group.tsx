// One node group: its requested state, the drains that take nodes out of service, its issues with
// remedies, and its nodes as cells and as a table.
import { useEffect, useRef } from 'preact/hooks';
import type { PageGroup, PageNode } from '../../../src/api/page.ts';
import { layout, matches } from '../derived.ts';
import { percent, visible } from '../format.ts';
import {
  Command,
  Empty,
  Issues,
  NodeLink,
  Since,
  Tag,
  UpdateLink,
  Wait,
} from '../parts/basics.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { ensureTabStop, gridHandlers } from '../parts/grid-keys.ts';
import { Ledger, Progress, Zone } from '../parts/group-row.tsx';
import { tables } from '../store.ts';
import { letters } from '../words.ts';

export const nodeColumns: readonly Column<PageNode>[] = [
  { head: 'Node', cell: ({ key }) => <NodeLink name={key} /> },
  { head: 'State', cell: (node) => <NodeState node={node} /> },
  { head: 'Zone', cell: ({ zone }) => visible(zone ?? '-') },
  { head: 'Version', cell: ({ version }) => visible(version ?? '-'), kind: 'num' },
  { head: 'CPU', cell: ({ cpu }) => percent(cpu), kind: 'num' },
  { head: 'Memory', cell: ({ memory }) => percent(memory), kind: 'num' },
  { head: 'Pods', cell: ({ pods }) => pods, kind: 'num' },
  { head: 'Age', cell: ({ created }) => <Since at={created} />, kind: 'num' },
  { head: 'Waits for', cell: ({ wait }) => <Wait wait={wait} />, kind: 'grow' },
];

export const NodeState = ({ node }: { readonly node: PageNode }) => (
  <>
    <Tag tone={letters[node.letter].tone}>{letters[node.letter].name}</Tag>{' '}
    {node.isCordoned && node.letter !== 'C' && <Tag>cordoned</Tag>} {node.isOld && <Tag>old</Tag>}
  </>
);

const waitingFirst = (a: PageNode, b: PageNode): number =>
  Number(b.wait !== null) - Number(a.wait !== null) || (a.key < b.key ? -1 : 1);

const Facts = ({ group }: { readonly group: PageGroup }) => {
  const { state, cluster, release, version, types, capacity, strategy } = group;
  const { ready, desired, min, max, ledger } = group;
  const rows: readonly (readonly [string, string | number | null])[] = [
    ['Cluster', cluster],
    ['Version', version],
    ['Release', release],
    ['Types', types.join(', ')],
    ['Capacity', capacity],
    ['Update strategy', strategy],
  ];
  return (
    <div class="facts">
      <div class="big">
        <p class="figure num">
          {ready}
          <span class="quiet"> of {desired ?? '?'}</span>
        </p>
        <p class="quiet">
          ready{min === null ? '' : `; min ${min}, max ${max}`}; {state.toLowerCase()}
        </p>
        {ledger !== null && <Ledger ledger={ledger} />}
      </div>
      <dl>
        {rows
          .filter(([, value]) => value !== null && value !== '')
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{visible(String(value))}</dd>
            </div>
          ))}
      </dl>
    </div>
  );
};

export const Group = ({ name }: { readonly name: string }) => {
  const root = useRef<HTMLDivElement>(null);
  const group = tables.group.of(name);
  const zones = layout.value.get(name) ?? [];
  useEffect(() => ensureTabStop(root.current), [zones]);
  if (group === undefined) return <Empty>There is no node group {visible(name)}.</Empty>;
  const nodes = tables.node.all.value.filter((node) => node.group === name && matches(node));
  const update = group.update === null ? undefined : tables.update.of(group.update);
  return (
    <>
      <p class="crumb">node group</p>
      <h1>
        <bdi>{visible(name)}</bdi>
      </h1>
      <Facts group={group} />
      {group.wait !== null && (
        <div class="standout">
          <Wait wait={group.wait} />
        </div>
      )}
      <Issues issues={group.issues} />
      {update !== undefined && (
        <p class="updateline">
          <span>
            Update <UpdateLink id={update.key} /> to {visible(update.to ?? 'newest')}
          </span>
          <Progress update={update} />
        </p>
      )}
      <h2>Nodes</h2>
      <div class="fleet zones" ref={root} {...gridHandlers}>
        {zones.map((zone) => (
          <Zone key={zone.zone} zone={zone} size={nodes.length > 600 ? 'dot' : 'tile'} />
        ))}
      </div>
      <DataTable label="Nodes" columns={nodeColumns} rows={[...nodes].sort(waitingFirst)} />
      {group.isManaged && <Command text={`drover explain nodegroup ${name}`} />}
    </>
  );
};
