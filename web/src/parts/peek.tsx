// The card beside the cell under the pointer or with the focus: the node's state and blocker. The
// cell's accessible name has the same content for screen readers.
import { percent, shortNode, visible } from '../format.ts';
import { tables } from '../store.ts';
import { letters } from '../words.ts';
import { Since, Tag, Wait } from './basics.tsx';
import { peeked } from './grid-keys.ts';

const width = 340;
const margin = 8;

/** Beside the cell, and within the window. */
const placeOf = (box: DOMRect) => {
  const left = Math.min(Math.max(margin, box.left), innerWidth - width - margin);
  const isLow = box.bottom > innerHeight * 0.6;
  return isLow
    ? { left: `${left}px`, bottom: `${innerHeight - box.top + 6}px` }
    : { left: `${left}px`, top: `${box.bottom + 6}px` };
};

export const Peek = () => {
  const at = peeked.value;
  const node = at === undefined ? undefined : tables.node.of(at.name);
  if (at === undefined || node === undefined) return null;
  const { letter, version, isOld, isSpot, zone, type, pods, cpu, memory, created, wait } = node;
  return (
    <div class="peek" style={placeOf(at.box)} aria-hidden="true">
      <p class="peekhead">
        <b class="mono">{shortNode(node.key)}</b>
        <Tag tone={letters[letter].tone}>{letters[letter].name}</Tag>
      </p>
      <p class="quiet">
        {[zone, type, isSpot ? 'spot' : null, version, isOld ? 'old revision' : null]
          .filter((part) => part !== null)
          .map((part) => visible(part))
          .join(' · ')}
      </p>
      <p class="quiet num">
        CPU {percent(cpu)} · memory {percent(memory)} · {pods} pods · <Since at={created} /> old
      </p>
      {wait !== null && <Wait wait={wait} />}
    </div>
  );
};
