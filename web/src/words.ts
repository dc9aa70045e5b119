// Words for states: the letter of a cell, its name and tone. One list for cells, legend and tables.
import type { PageNode, PhaseLetter } from '../../src/api/page.ts';
import { percent, plural, shortNode, visible, withClockTimes } from './format.ts';

export type Tone = 'plain' | 'work' | 'wait' | 'bad' | 'good';

interface LetterWord {
  readonly name: string;
  readonly what: string;
  readonly tone: Tone;
}

export const letters: Readonly<Record<PhaseLetter, LetterWord>> = {
  '': { name: 'Ready', what: 'Ready', tone: 'plain' },
  J: { name: 'Joining', what: 'joins; not Ready yet', tone: 'work' },
  C: { name: 'Cordoned', what: 'takes no new pods', tone: 'plain' },
  H: { name: 'Held', what: 'marked; waits for its turn', tone: 'plain' },
  D: { name: 'Draining', what: 'its pods are being evicted', tone: 'wait' },
  E: { name: 'Empty', what: 'drained; load balancers remove it', tone: 'work' },
  T: { name: 'Terminating', what: 'its instance is being terminated', tone: 'plain' },
  P: { name: 'Pressure', what: 'memory, disk or process ids are short', tone: 'wait' },
  X: { name: 'Unhealthy', what: 'a condition is bad', tone: 'bad' },
};

/** Details of a node in addition to its texts, for its card. */
export const nodeDetails = ({ cpu, memory, wait }: PageNode): string =>
  [
    `CPU ${percent(cpu)}, memory ${percent(memory)}`,
    ...(wait === null ? [] : [withClockTimes(visible(wait.text))]),
  ].join('; ');

/** The accessible name of a cell: the same facts that its card shows. */
export const nodeSentence = (node: PageNode): string => {
  const { key, letter, isOld, isCordoned, pods } = node;
  const parts = [
    shortNode(key),
    letters[letter].name,
    ...(isCordoned && letter !== 'C' ? ['cordoned'] : []),
    ...(isOld ? ['old revision'] : []),
    plural(pods, 'pod'),
    nodeDetails(node),
  ];
  return parts.join('; ');
};

export const phaseTone = (phase: string | null): Tone => {
  if (phase === null || phase === 'Ended' || phase === 'Cancelled') return 'plain';
  if (phase === 'Blocked' || phase === 'Draining') return 'wait';
  if (phase === 'Failed') return 'bad';
  return phase === 'Succeeded' ? 'good' : 'work';
};

export const outcomeTone = (outcome: string): Tone => {
  if (outcome === 'Failed' || outcome === 'Forced') return 'bad';
  if (outcome === 'Cancelled') return 'plain';
  return 'good';
};
