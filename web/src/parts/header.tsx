// The bar at the top: current place, filter, connection, cluster time.
import { useEffect, useRef } from 'preact/hooks';
import { now, speed } from '../clock.ts';
import { connection, heardAt, problem } from '../connection.ts';
import { counts } from '../derived.ts';
import { clockTime } from '../format.ts';
import { helpIsOpen } from '../keys.ts';
import { choose, filter, isWall, link, route, type View } from '../route.ts';
import { toggleTheme } from '../theme.ts';

const places: readonly {
  readonly view: View;
  readonly name: string;
  readonly count?: 'updates' | 'drains' | 'budgets';
  /** The views that are part of this place. */
  readonly with: readonly View[];
}[] = [
  { view: 'fleet', name: 'Fleet', with: ['fleet', 'group', 'node'] },
  { view: 'updates', name: 'Updates', count: 'updates', with: ['updates', 'update'] },
  { view: 'drains', name: 'Drains and repairs', count: 'drains', with: ['drains'] },
  { view: 'budgets', name: 'Budgets', count: 'budgets', with: ['budgets'] },
  { view: 'journal', name: 'Journal', with: ['journal'] },
];

const Places = () => (
  <nav aria-label="Views">
    {places.map(({ view, name, count, with: views }) => {
      const number = count === undefined ? 0 : counts.value[count];
      const isHere = views.includes(route.value.view);
      return (
        <a key={view} href={link(view)} aria-current={isHere ? 'page' : undefined}>
          {name}
          {number > 0 && <span class="count num">{number}</span>}
        </a>
      );
    })}
  </nav>
);

const words = {
  connecting: 'connecting',
  live: 'live',
  stale: 'stale',
  lost: 'lost',
  refused: 'refused',
} as const;

/** Shows how old the displayed data is, if it is out of date. */
const Badge = () => {
  const state = connection.value;
  // Follows the clock, so that the age moves.
  now.value;
  const ageSeconds = Math.round((performance.now() - heardAt.value) / 1_000);
  const isOld = (state === 'stale' || state === 'lost') && heardAt.value > 0;
  return (
    <span class={`badge ${state}`} title={problem.value}>
      <span role="status">{words[state]}</span>
      {isOld && ` ${ageSeconds}s`}
    </span>
  );
};

const Clock = () => (
  <span class="clock num" title="Time of the cluster, UTC">
    <span class="unseen">Time of the cluster </span>
    {now.value === 0 ? '--:--:--' : clockTime(now.value)}
    {speed.value !== 1 && <b>{speed.value === 'max' ? ' max' : ` ×${speed.value}`}</b>}
  </span>
);

const FilterField = () => {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (): void => field.current?.focus();
    addEventListener('page-filter', focus);
    return () => removeEventListener('page-filter', focus);
  }, []);
  return (
    <input
      ref={field}
      type="search"
      class="filter"
      placeholder="Filter  /"
      aria-label="Filter rows by words"
      value={filter.value}
      onInput={(event) => choose('q', event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        choose('q', undefined);
        event.currentTarget.blur();
      }}
    />
  );
};

export const Header = () => (
  <header class="top">
    <a class="brand" href={link('fleet')}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M1 1h4v4H1zM6 1h4v4H6zM11 1h4v4h-4zM1 6h4v4H1zM11 6h4v4h-4zM1 11h4v4H1zM6 11h4v4H6z" />
        <path class="spark" d="M6 6h4v4H6z" />
      </svg>
      Drover
    </a>
    <Places />
    {!isWall.value && <FilterField />}
    <Badge />
    <Clock />
    {!isWall.value && (
      <span class="tools">
        <button
          type="button"
          onClick={toggleTheme}
          title="Dark or light"
          aria-label="Dark or light"
        >
          ◐
        </button>
        <button
          type="button"
          onClick={() => {
            helpIsOpen.value = true;
          }}
          title="Keys and signs"
          aria-label="Keys and signs"
        >
          ?
        </button>
      </span>
    )}
  </header>
);
