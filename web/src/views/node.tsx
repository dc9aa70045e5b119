// One node: its blocker, its life as a timeline, the remaining pods, its conditions, and the output
// of `drover explain node`.
import type { PageNode, PageNodeDetail, PagePod } from '../../../src/api/page.ts';
import { useDetail } from '../detail.ts';
import { bytes, cores, percent, shortNode, visible } from '../format.ts';
import { Command, Empty, GroupLink, Since, Tag, Text, Wait } from '../parts/basics.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Entries } from '../parts/entries.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { tables } from '../store.ts';
import { NodeState } from './group.tsx';

const podColumns: readonly Column<PagePod>[] = [
  { head: 'Pod', cell: ({ key }) => <bdi class="name">{visible(key)}</bdi>, kind: 'grow' },
  { head: 'Owner', cell: ({ owner }) => <bdi>{visible(owner ?? 'none')}</bdi> },
  {
    head: 'State',
    cell: ({ phase, isStopping, stays }) => (
      <>
        <Tag tone={isStopping ? 'wait' : 'plain'}>{isStopping ? 'Stopping' : visible(phase)}</Tag>{' '}
        {stays && <Tag>stays</Tag>}
      </>
    ),
  },
  { head: 'CPU', cell: ({ cpu }) => cores(cpu), kind: 'num' },
  { head: 'Memory', cell: ({ memory }) => bytes(memory), kind: 'num' },
  { head: 'Age', cell: ({ since }) => <Since at={since} />, kind: 'num' },
];

type Condition = PageNodeDetail['conditions'][number] & { readonly key: string };

const conditionColumns: readonly Column<Condition>[] = [
  { head: 'Condition', cell: ({ type }) => <bdi>{visible(type)}</bdi> },
  { head: 'Status', cell: ({ status }) => visible(status) },
  { head: 'Reason', cell: ({ reason }) => <bdi>{visible(reason)}</bdi> },
  { head: 'For', cell: ({ since }) => <Since at={since} />, kind: 'num' },
  { head: 'Message', cell: ({ message }) => <bdi>{visible(message)}</bdi>, kind: 'grow' },
];

const Meter = ({ name, share }: { readonly name: string; readonly share: number | null }) => (
  <div class="meterline">
    <dt>{name}</dt>
    <dd>
      <span class="meter wide" aria-hidden="true">
        <span style={{ inlineSize: `${Math.min(100, (share ?? 0) * 100)}%` }} />
      </span>
      <span class="num">{percent(share)}</span>
    </dd>
  </div>
);

const Facts = ({ node }: { readonly node: PageNode }) => {
  const { group, zone, type, isSpot, instance, version, created, cpu, memory } = node;
  const kind = `${type ?? ''}${isSpot ? ' spot' : ''}`;
  const rows = [
    ['Zone', zone],
    ['Type', kind],
    ['Instance', instance],
    ['Kubelet', version],
  ] as const;
  return (
    <dl class="factline">
      <div>
        <dt>Group</dt>
        <dd>
          <GroupLink name={group} />
        </dd>
      </div>
      {rows
        .filter(([, value]) => value !== null && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{visible(value ?? '')}</dd>
          </div>
        ))}
      <div>
        <dt>Age</dt>
        <dd>
          <Since at={created} />
        </dd>
      </div>
      <Meter name="CPU requested" share={cpu} />
      <Meter name="Memory requested" share={memory} />
    </dl>
  );
};

const Pods = ({ detail, isDraining }: { readonly detail: PageNodeDetail; isDraining: boolean }) => {
  const leaving = detail.pods.filter(({ stays }) => !stays).length;
  const what = isDraining ? `${leaving} left to move` : `${leaving} would move in a drain`;
  return (
    <>
      <h2>
        Pods <span class="quiet num">{what}</span>
      </h2>
      <DataTable label="Pods" columns={podColumns} rows={detail.pods} />
      {detail.podsLeftOut > 0 && <p class="quiet">{detail.podsLeftOut} more pods are not listed</p>}
    </>
  );
};

const Details = ({
  node,
  detail,
}: {
  readonly node: PageNode;
  readonly detail: PageNodeDetail;
}) => (
  <>
    <h2>Timeline</h2>
    <Timeline moments={detail.timeline} />
    <Pods detail={detail} isDraining={node.letter === 'D'} />
    <h2>As the command line explains it</h2>
    <ul class="lines mono">
      {detail.lines.map((line, at) => (
        <li key={at}>
          <Text text={line} />
        </li>
      ))}
    </ul>
    <Command text={`drover explain node ${node.key}`} />
    <details>
      <summary>Conditions</summary>
      <DataTable
        label="Conditions"
        columns={conditionColumns}
        rows={detail.conditions.map((one) => ({ ...one, key: one.type }))}
      />
    </details>
    {detail.journal.length > 0 && (
      <>
        <h2>Journal</h2>
        <Entries entries={[...detail.journal].reverse()} />
      </>
    )}
  </>
);

export const Node = ({ name }: { readonly name: string }) => {
  const node = tables.node.of(name);
  const drain = node?.drain == null ? undefined : tables.drain.of(node.drain);
  const repair = node?.repair == null ? undefined : tables.repair.of(node.repair);
  const { value, problem } = useDetail<PageNodeDetail>('node', name, [node, drain, repair]);
  if (node === undefined) return <Empty>There is no node {visible(name)} in this cluster.</Empty>;
  return (
    <>
      <p class="crumb">node</p>
      <h1 class="mono">
        <bdi title={visible(name)}>{shortNode(name)}</bdi> <NodeState node={node} />
      </h1>
      <Facts node={node} />
      <div class={node.wait === null ? 'standout calm' : 'standout'}>
        <p class="asks">Waits for</p>
        <Wait wait={node.wait} />
      </div>
      {problem !== '' && <p class="caveat">{visible(problem)}</p>}
      {value !== undefined && <Details node={node} detail={value} />}
    </>
  );
};
