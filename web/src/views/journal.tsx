// The journal of the serving process, newest entry first. Shows the number of entries that are not
// displayed, and can be paused.
import { useSignal } from '@preact/signals';
import type { PageEntry } from '../../../src/api/page.ts';
import { fits, wanted } from '../derived.ts';
import { plural } from '../format.ts';
import { Empty } from '../parts/basics.tsx';
import { Entries } from '../parts/entries.tsx';
import { journal, type KeptJournal, server } from '../store.ts';

const maxShown = 300;
const isNoise = ({ type }: PageEntry): boolean => /^notice:dropped|hook:heartbeat/.test(type);
const count = (number: number): string => plural(number, 'entry').replace('ys', 'ies');

const Option = ({
  text,
  isOn,
  onChange,
}: {
  readonly text: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}) => (
  <label class="option">
    <input
      type="checkbox"
      checked={isOn}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />{' '}
    {text}
  </label>
);

/** Text for entries that the list omits: how many, and where to read them. */
const leftOut = (kept: KeptJournal, shown: number): string => {
  const older = kept.recorded - kept.entries.length;
  const parts = [
    ...(shown > maxShown ? [`Shown are the newest ${maxShown} of them.`] : []),
    ...(older > 0
      ? [`${count(older)} before these ${older === 1 ? 'is' : 'are'} in the log.`]
      : []),
  ];
  return parts.join(' ');
};

export const Journal = () => {
  const withNoise = useSignal(false);
  const held = useSignal<KeptJournal | undefined>(undefined);
  const kept = held.value ?? journal.value;
  const first = kept.recorded - kept.entries.length + 1;
  const found = kept.entries
    .map((entry, at) => ({ ...entry, number: first + at }))
    .filter((entry) => (withNoise.value || !isNoise(entry)) && fits(entry));
  const newer = journal.value.recorded - kept.recorded;
  const out = leftOut(kept, found.length);
  return (
    <>
      <h1>
        Journal{' '}
        <span class="quiet num">
          {count(found.length)}
          {wanted.value.length > 0 && ` of ${kept.entries.length} fit the filter`}
        </span>
      </h1>
      <Option
        text="with heartbeats and dropped notices"
        isOn={withNoise.value}
        onChange={(isOn) => {
          withNoise.value = isOn;
        }}
      />
      <Option
        text={newer > 0 ? `hold still: ${count(newer)} came since` : 'hold still'}
        isOn={held.value !== undefined}
        onChange={(isOn) => {
          held.value = isOn ? journal.peek() : undefined;
        }}
      />
      {out !== '' && <p class="quiet num">{out}</p>}
      {server.value?.hasJournal === false && (
        <Empty>No controller runs in this process: its journal is with the leader.</Empty>
      )}
      <Entries entries={found.slice(-maxShown).reverse()} />
    </>
  );
};
