// The fleet: groups as rows, nodes as cells by zone, and beside them the list of blockers.
import { useEffect, useRef } from 'preact/hooks';
import type { PhaseLetter } from '../../../src/api/page.ts';
import { groupsInOrder, headline, layout, letterCounts, matches, wanted } from '../derived.ts';
import { plural } from '../format.ts';
import type { CellSize } from '../parts/cell.tsx';
import { ensureTabStop, gridHandlers } from '../parts/grid-keys.ts';
import { GroupRow, LooseRow } from '../parts/group-row.tsx';
import { WaitingOn } from '../parts/waiting-on.tsx';
import { choose } from '../route.ts';
import { faults, left, tables } from '../store.ts';
import { letters } from '../words.ts';

/** A small fleet has room for cards, a large one for dots. */
const maxCards = 60;
const maxTiles = 600;

const sizeFor = (nodes: number): CellSize => {
  if (nodes <= maxCards) return 'card';
  return nodes <= maxTiles ? 'tile' : 'dot';
};

const legendOrder: readonly PhaseLetter[] = ['', 'J', 'C', 'H', 'D', 'E', 'T', 'P', 'X'];

const Legend = () => (
  <ul class="legend" aria-label="Nodes by state">
    {legendOrder
      .filter((letter) => (letterCounts.value.get(letter) ?? 0) > 0)
      .map((letter) => (
        <li key={letter} title={letters[letter].what}>
          <i
            class={`cell key t-${letters[letter].tone}${letter === '' ? '' : ` l-${letter}`}`}
            aria-hidden="true"
          >
            {letter}
          </i>
          {letters[letter].name}
          <span class="num">{letterCounts.value.get(letter)}</span>
        </li>
      ))}
    {tables.node.all.value.some(({ isOld }) => isOld) && (
      <li>
        <i class="cell key old t-plain" />
        old revision
      </li>
    )}
  </ul>
);

const Matches = () => {
  if (wanted.value.length === 0) return null;
  const count = tables.node.all.value.filter(matches).length;
  return (
    <p class="matches" role="status">
      {plural(count, 'node')} of {tables.node.members.value.length}{' '}
      {count === 1 ? 'matches' : 'match'} the filter.{' '}
      <button type="button" class="plainlink" onClick={() => choose('q', undefined)}>
        Show all
      </button>
    </p>
  );
};

const Caveats = () => {
  const out = left.value?.node ?? 0;
  const all = [
    ...faults.value,
    ...(out > 0 ? [`${out} nodes are not shown: the page is full`] : []),
  ];
  if (all.length === 0) return null;
  return <p class="caveat">Not complete: {all.join('; ')}.</p>;
};

export const Fleet = () => {
  const root = useRef<HTMLDivElement>(null);
  const size = sizeFor(tables.node.members.value.length);
  const cells = layout.value;
  useEffect(() => ensureTabStop(root.current), [cells, size]);
  const { state, wait } = headline.value;
  return (
    <div class="withaside">
      <div>
        <div class="headline">
          <h1>
            {state}. <span class={wait.startsWith('Nothing') ? 'quiet' : 'alarm'}>{wait}</span>
          </h1>
          <Legend />
        </div>
        <Caveats />
        <Matches />
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields, not nodes */}
        <div
          class={`fleet ${size}s`}
          role="group"
          aria-label="Nodes by group: arrow keys move between nodes, Enter opens one"
          ref={root}
          {...gridHandlers}
        >
          {groupsInOrder.value.map(({ key }) => (
            <GroupRow key={key} name={key} size={size} />
          ))}
          <LooseRow size={size} />
        </div>
      </div>
      <WaitingOn />
    </div>
  );
};
