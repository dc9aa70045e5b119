// Each node's part in an update as a bar in time: done, under way, waiting, with its blockers.
import { useSignal } from '@preact/signals';
import type { PageUpdate, PageUpdateDetail, PageUpdateNode } from '../../../src/api/page.ts';
import { now } from '../clock.ts';
import { duration, visible } from '../format.ts';
import { NodeLink, Text, Until } from './basics.tsx';

const tones: Readonly<Record<PageUpdateNode['state'], string>> = {
  inFlight: 'work',
  waiting: 'plain',
  notBegun: 'plain',
  failed: 'bad',
  kept: 'good',
  done: 'good',
  takenBack: 'good',
};

const Part = ({
  node,
  from,
  to,
}: {
  readonly node: PageUpdateNode;
  readonly from: number;
  readonly to: number;
}) => {
  const { name, state, what, started, ended, deadline, podsLeft, podsTotal, blockers } = node;
  const start = started === null ? undefined : Date.parse(started);
  const end = ended === null ? now.value : Date.parse(ended);
  const place = (ms: number): number =>
    Math.min(100, Math.max(0, ((ms - from) / (to - from)) * 100));
  const isOpen = state === 'inFlight' || state === 'waiting';
  const tone = blockers.length > 0 && state === 'inFlight' ? 'wait' : tones[state];
  return (
    <li class={`moment gantt ${tone}${isOpen ? ' open' : ''}`}>
      <NodeLink name={name} />
      <span class="rail" aria-hidden="true">
        {start !== undefined && (
          <i
            class="bar"
            style={{
              insetInlineStart: `${place(start)}%`,
              inlineSize: `${Math.max(0.4, place(end) - place(start))}%`,
            }}
          />
        )}
      </span>
      <span class="momenttext">
        {visible(what)}
        {podsLeft !== null && state === 'inFlight' && (
          <span class="num quiet">
            {' '}
            {podsLeft} of {podsTotal ?? '?'} pods left
          </span>
        )}
        {start !== undefined && state !== 'waiting' && (
          <span class="num quiet"> {duration(end - start)}</span>
        )}
        {deadline !== null && state === 'inFlight' && (
          <span class="num quiet">
            , deadline <Until at={deadline} />
          </span>
        )}
        {blockers.map((line) => (
          <span key={line} class="blocker">
            <Text text={line} />
          </span>
        ))}
      </span>
    </li>
  );
};

const firstShown = 60;

export const Gantt = ({
  update,
  detail,
}: {
  readonly update: PageUpdate;
  readonly detail: PageUpdateDetail;
}) => {
  const shown = useSignal(firstShown);
  const begun = detail.nodes.flatMap(({ started }) =>
    started === null ? [] : [Date.parse(started)],
  );
  const from = Math.min(...begun, Date.parse(update.started ?? update.created));
  const end = update.ended === null ? now.value : Date.parse(update.ended);
  const to = Math.max(end, from + 1);
  const left = detail.nodes.length - shown.value;
  return (
    <>
      <ol class="timeline">
        {detail.nodes.slice(0, shown.value).map((node) => (
          <Part key={node.name} node={node} from={from} to={to} />
        ))}
      </ol>
      {left > 0 && (
        <button
          type="button"
          class="more"
          onClick={() => {
            shown.value += firstShown * 5;
          }}
        >
          Show more: {left} nodes are left
        </button>
      )}
      {detail.nodesLeftOut > 0 && <p class="quiet">{detail.nodesLeftOut} more are not listed</p>}
    </>
  );
};
