// One update: actual against predicted progress, its holds, each node's part as a bar over time,
// and the actions that an operator may take.
import type { PageUpdate, PageUpdateDetail } from '../../../src/api/page.ts';
import { now } from '../clock.ts';
import { useDetail } from '../detail.ts';
import { duration, visible } from '../format.ts';
import { Actions } from '../parts/actions.tsx';
import { Empty, GroupLink, Issues, Since, Tag, Text, Until, Wait } from '../parts/basics.tsx';
import { Chart } from '../parts/chart.tsx';
import { Entries } from '../parts/entries.tsx';
import { Gantt } from '../parts/gantt.tsx';
import { tables } from '../store.ts';

const Figures = ({ update }: { readonly update: PageUpdate }) => {
  const { total, done, draining, failed, eta, started, created, ended, maxUnavailable } = update;
  const from = Date.parse(started ?? created);
  const to = ended === null ? now.value : Date.parse(ended);
  return (
    <div class="facts">
      <div class="big">
        <p class="figure num">
          {done}
          <span class="quiet"> of {total ?? '?'}</span>
        </p>
        <p class="quiet">nodes done</p>
      </div>
      <dl>
        <div>
          <dt>Draining</dt>
          <dd class="num">
            {draining}
            {maxUnavailable !== null && <span class="quiet"> at most {maxUnavailable}</span>}
          </dd>
        </div>
        <div>
          <dt>Failed</dt>
          <dd class="num">{failed}</dd>
        </div>
        <div>
          <dt>{ended === null ? 'Running for' : 'Took'}</dt>
          <dd class="num">{duration(to - from)}</dd>
        </div>
        {eta !== null && ended === null && (
          <div>
            <dt>Ends, half of such updates</dt>
            <dd class="num">
              <Until at={eta.p50} /> <span class="quiet">nine of ten</span> <Until at={eta.p90} />
            </dd>
          </div>
        )}
        {update.strategy !== null && (
          <div>
            <dt>Strategy</dt>
            <dd>{update.strategy}</dd>
          </div>
        )}
      </dl>
    </div>
  );
};

const Phases = ({ update }: { readonly update: PageUpdate }) => (
  <ol class="phases" aria-label="Phases">
    {update.phases.map(({ phase, at }, index) => {
      const next = update.phases[index + 1]?.at ?? update.ended;
      const end = next === null ? now.value : Date.parse(next);
      const isHere = phase === update.phase && update.status === 'InProgress';
      return (
        <li key={`${phase} ${at}`} class={isHere ? 'here' : ''}>
          {phase} <span class="num quiet">{duration(end - Date.parse(at))}</span>
        </li>
      );
    })}
  </ol>
);

const Holds = ({ update }: { readonly update: PageUpdate }) => (
  <>
    {update.holds.map(({ kind, reason, since, until }) => (
      <p key={kind} class="hold">
        <Tag tone="wait">{visible(kind)}</Tag> <Text text={reason} />{' '}
        <span class="quiet num">
          for <Since at={since} />
          {until !== null && (
            <>
              , ends <Until at={until} />
            </>
          )}
        </span>
      </p>
    ))}
    <Issues issues={update.issues} />
  </>
);

const stateOf = ({ status, phase, isPaused, abort }: PageUpdate): string => {
  if (status !== 'InProgress') return status;
  if (abort !== null) return abort === 'RollBack' ? 'rolling back' : 'being stopped';
  return isPaused ? 'paused' : (phase ?? 'not started');
};

export const Update = ({ id }: { readonly id: string }) => {
  const update = tables.update.of(id);
  const drains = tables.drain.all.value;
  const { value, problem } = useDetail<PageUpdateDetail>('update', id, [update, drains]);
  if (update === undefined) return <Empty>There is no update {visible(id)}.</Empty>;
  const { status, from, to, what, wait } = update;
  const tone = status === 'Failed' ? 'bad' : status === 'InProgress' ? 'work' : 'plain';
  return (
    <>
      <p class="crumb">
        {what} <span class="mono">{visible(id)}</span>
      </p>
      <h1>
        <GroupLink name={update.group} /> {visible(from ?? '?')} <span class="quiet">to</span>{' '}
        {visible(to ?? 'newest')} <Tag tone={tone}>{stateOf(update)}</Tag>
      </h1>
      <Figures update={update} />
      {wait !== null && (
        <div class="standout">
          <p class="asks">Waits for</p>
          <Wait wait={wait} />
        </div>
      )}
      <Holds update={update} />
      {value !== undefined && <Actions update={update} actions={value.actions} />}
      <Phases update={update} />
      <Chart update={update} />
      {problem !== '' && <p class="caveat">{visible(problem)}</p>}
      {value !== undefined && (
        <>
          <h2>Nodes</h2>
          <Gantt update={update} detail={value} />
          {value.journal.length > 0 && (
            <>
              <h2>Journal</h2>
              <Entries entries={[...value.journal].reverse()} />
            </>
          )}
        </>
      )}
    </>
  );
};
