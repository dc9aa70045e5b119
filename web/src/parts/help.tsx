// The keys of the page and the signs of its cells.
import type { PhaseLetter } from '../../../src/api/page.ts';
import { chooseSigns, helpIsOpen, signsAct } from '../keys.ts';
import { letters } from '../words.ts';
import { Dialog } from './dialog.tsx';

const keyList: readonly (readonly [string, string])[] = [
  ['/', 'filter rows by words; Esc drops the filter'],
  ['f u d b j', 'fleet, updates, drains and repairs, budgets, journal'],
  ['[ ]', 'previous and next node that waits'],
  ['arrows', 'move between nodes of the fleet; Enter opens one'],
  ['Esc', 'back'],
  ['?', 'this list'],
];

const KeyList = () => (
  <dl class="keylist">
    {keyList.map(([key, what]) => (
      <div key={key}>
        <dt class="mono">{key}</dt>
        <dd>{what}</dd>
      </div>
    ))}
  </dl>
);

const CellList = () => (
  <dl class="keylist">
    {(Object.keys(letters) as PhaseLetter[]).map((letter) => (
      <div key={letter}>
        <dt>
          <i class={`cell key t-${letters[letter].tone}${letter === '' ? '' : ` l-${letter}`}`}>
            {letter}
          </i>
        </dt>
        <dd>
          {letters[letter].name}: {letters[letter].what}
        </dd>
      </div>
    ))}
  </dl>
);

export const Help = () => {
  if (!helpIsOpen.value) return null;
  const onClose = (): void => {
    helpIsOpen.value = false;
  };
  return (
    <Dialog title="Keys" onClose={onClose}>
      {(close) => (
        <>
          <KeyList />
          <label class="option">
            <input
              type="checkbox"
              checked={signsAct.value}
              onChange={(event) => chooseSigns(event.currentTarget.checked)}
            />{' '}
            letters and signs act as keys
          </label>
          <h2>Cells</h2>
          <CellList />
          <p class="quiet">
            The left half of a cell is filled by the CPU that its pods request, the right half by
            their memory. Hatched: an old revision.
          </p>
          <p class="buttons">
            <button type="button" onClick={close}>
              Close
            </button>
          </p>
        </>
      )}
    </Dialog>
  );
};
