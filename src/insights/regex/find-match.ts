// Finds the leftmost match and its groups by simulating all paths of the automaton in parallel, in
// order of preference. Time is the text's length times the program's.
import { holds, type Program } from './program.ts';

/** Start and end of the match and of each group; -1 for a group that did not participate. */
export type Slots = Int32Array;

interface Threads {
  readonly at: number[];
  readonly slots: Slots[];
}

/** Remaining work; unlimited when absent. */
export interface Work {
  placesLeft?: number;
}

export class RegexWorkError extends Error {
  override readonly name = 'RegexWorkError';
}

export const findMatch = (
  program: Program,
  text: string,
  from: number,
  work: Work = {},
): Slots | undefined => {
  const { instructions, slotCount } = program;
  const seen = new Int32Array(instructions.length).fill(-1);
  let current: Threads = { at: [], slots: [] };
  let best: Slots | undefined;
  const add = (threads: Threads, start: number, slots: Slots, place: number): void => {
    const before = place > 0 ? text.charCodeAt(place - 1) : undefined;
    const after = place < text.length ? text.charCodeAt(place) : undefined;
    const open: [number, Slots][] = [[start, slots]];
    for (let top = open.pop(); top !== undefined; top = open.pop()) {
      const [at, held] = top;
      if (seen[at] === place) continue;
      seen[at] = place;
      const one = instructions[at];
      if (one === undefined) continue;
      if (one.op === 'split') open.push([one.second, held], [one.first, held]);
      else if (one.op === 'save') {
        const copy = held.slice();
        copy[one.slot] = place;
        open.push([one.next, copy]);
      } else if (one.op === 'assert') {
        if (holds(one.assertion, before, after)) open.push([one.next, held]);
      } else {
        threads.at.push(at);
        threads.slots.push(held);
      }
    }
  };
  for (let place = from; place <= text.length; place++) {
    if (work.placesLeft !== undefined && work.placesLeft-- <= 0) throw new RegexWorkError();
    if (best === undefined) {
      const slots = new Int32Array(slotCount).fill(-1);
      slots[0] = place;
      add(current, program.start, slots, place);
    }
    if (current.at.length === 0) {
      if (best !== undefined) break;
      continue;
    }
    const next: Threads = { at: [], slots: [] };
    const unit = place < text.length ? text.charCodeAt(place) : -1;
    for (let index = 0; index < current.at.length; index++) {
      const one = instructions[current.at[index] ?? 0];
      const slots = current.slots[index];
      if (one === undefined || slots === undefined) continue;
      if (one.op === 'match') {
        best = slots.slice();
        best[1] = place;
        // Paths with lower preference than a match are dropped.
        break;
      }
      if (one.op !== 'set' || unit < 0) continue;
      if (one.ranges.some(([low, high]) => unit >= low && unit <= high)) {
        add(next, one.next, slots, place + 1);
      }
    }
    current = next;
  }
  return best;
};
