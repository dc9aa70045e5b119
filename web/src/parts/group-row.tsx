// A group of the fleet: what it is, how far its update is, what it waits for, and its nodes as cells
// in one column per zone.
import type { PageGroup, PageLedger, PageUpdate } from '../../../src/api/page.ts';
import { now } from '../clock.ts';
import { layout, noGroup, type ZoneOf, zoneColumns } from '../derived.ts';
import { duration, plural, visible } from '../format.ts';
import { tables } from '../store.ts';
import { GroupLink, Tag, UpdateLink, Wait } from './basics.tsx';
import { Cell, type CellSize } from './cell.tsx';

const ledgerParts = ['update', 'repair', 'notice', 'other'] as const;

/** Nodes out of service against the limit, one square per node. */
export const Ledger = ({ ledger }: { readonly ledger: PageLedger }) => {
  const used = ledgerParts.reduce((sum, part) => sum + ledger[part], 0);
  const maxSquares = 24;
  const squares = ledgerParts.flatMap((part) =>
    Array.from({ length: ledger[part] }, () => part as string),
  );
  const free = Array.from({ length: Math.max(0, ledger.limit - used) }, () => 'free');
  const all = [...squares, ...free];
  const words = ledgerParts
    .filter((part) => ledger[part] > 0)
    .map((part) => `${ledger[part]} by ${part}`);
  const text = `${used} of ${ledger.limit} out of service`;
  return (
    <span class="ledger" title={[text, ...words].join(', ')}>
      <span class="squares" aria-hidden="true">
        {all.slice(0, maxSquares).map((part, at) => (
          <i key={at} class={part} />
        ))}
      </span>
      <span>{text}</span>
    </span>
  );
};

export const Progress = ({ update }: { readonly update: PageUpdate }) => {
  const { total, done, draining, failed, eta } = update;
  const share = (part: number): string => `${total ? (part / total) * 100 : 0}%`;
  const left = eta === null ? undefined : Date.parse(eta.p50) - now.value;
  return (
    <span class="progress">
      <span class="track" aria-hidden="true">
        <i class="done" style={{ inlineSize: share(done) }} />
        <i class="busy" style={{ inlineSize: share(draining) }} />
        <i class="failed" style={{ inlineSize: share(failed) }} />
      </span>
      <span class="num">
        {total === null ? 'not started' : `${done} of ${total} done`}
        {draining > 0 && `, ${draining} draining`}
        {failed > 0 && `, ${failed} failed`}
        {left !== undefined && left > 0 && `; about ${duration(left)} left`}
      </span>
    </span>
  );
};

const UpdateLine = ({ id }: { readonly id: string }) => {
  const update = tables.update.of(id);
  if (update === undefined) return null;
  return (
    <p class="updateline">
      <span>
        <UpdateLink id={id} /> to <b>{visible(update.to ?? 'newest')}</b>
      </span>
      <Progress update={update} />
    </p>
  );
};

const stateTone = (state: string) => {
  if (state === 'DEGRADED' || state.endsWith('FAILED')) return 'bad';
  return state === 'ACTIVE' || state === 'self-managed' ? 'plain' : 'work';
};

const GroupHead = ({ group }: { readonly group: PageGroup }) => {
  const { key, state, ready, desired, min, max, release, version, types, capacity } = group;
  const what = [release ?? version, types.slice(0, 2).join(', '), capacity?.toLowerCase()]
    .filter((part) => part !== null && part !== undefined && part !== '')
    .map((part) => visible(part ?? ''));
  return (
    <header>
      <h2>
        <GroupLink name={key} />
        {state !== 'ACTIVE' && <Tag tone={stateTone(state)}>{state.toLowerCase()}</Tag>}
      </h2>
      <p class="figures num">
        <b>{ready}</b> of {desired ?? '?'} ready
        {min !== null && (
          <span class="quiet">
            {' '}
            min {min}, max {max}
          </span>
        )}
      </p>
      {what.length > 0 && <p class="quiet">{what.join(' · ').replace('on_demand', 'on-demand')}</p>}
      {group.ledger !== null && <Ledger ledger={group.ledger} />}
    </header>
  );
};

export const Zone = ({ zone, size }: { readonly zone: ZoneOf; readonly size: CellSize }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields, not nodes
  <div
    class="zone"
    role="group"
    aria-label={`zone ${zone.zone}, ${plural(zone.nodes.length, 'node')}`}
  >
    <p class="zonename">
      {visible(zone.zone)} <span class="num">{zone.nodes.length}</span>
    </p>
    <div class={`cells ${size}`}>
      {zone.nodes.map((name) => (
        <Cell key={name} name={name} size={size} />
      ))}
    </div>
  </div>
);

/** The zones of a group, each in its column. */
export const Zones = ({
  zones,
  size,
}: {
  readonly zones: readonly ZoneOf[];
  readonly size: CellSize;
}) => {
  const columns = zoneColumns.value;
  if (columns.length === 0) {
    return (
      <div class="zones">
        {zones.map((zone) => (
          <Zone key={zone.zone} zone={zone} size={size} />
        ))}
      </div>
    );
  }
  return (
    <div class={`zones z${columns.length}`}>
      {columns.map((name) => {
        const zone = zones.find((one) => one.zone === name);
        return zone === undefined ? (
          <div key={name} />
        ) : (
          <Zone key={name} zone={zone} size={size} />
        );
      })}
    </div>
  );
};

/** Nodes that belong to no group. */
export const LooseRow = ({ size }: { readonly size: CellSize }) => {
  const zones = layout.value.get(noGroup);
  if (zones === undefined) return null;
  return (
    <section class="grouprow">
      <header>
        <h2 class="quiet">no group</h2>
      </header>
      <Zones zones={zones} size={size} />
    </section>
  );
};

export const GroupRow = ({ name, size }: { readonly name: string; readonly size: CellSize }) => {
  const group = tables.group.of(name);
  if (group === undefined) return null;
  const zones = layout.value.get(name) ?? [];
  const { wait, update } = group;
  return (
    <section class="grouprow" aria-label={`node group ${visible(name)}`}>
      <GroupHead group={group} />
      <div class="groupbody">
        {update !== null && <UpdateLine id={update} />}
        {wait !== null && wait.text !== '' && <Wait wait={wait} />}
        {zones.length === 0 ? <p class="quiet">no nodes</p> : <Zones zones={zones} size={size} />}
      </div>
    </section>
  );
};
