// The order in which old nodes are drained. Pure.
import type { ModelNode } from './model.ts';
import { type Chance, shuffled } from './random.ts';

/** Indexes into `nodes`, in random or known order; nodes that do not serve come first. */
export const turnsOf = (nodes: readonly ModelNode[], chance: Chance | undefined): number[] => {
  const all = nodes.map((_, i) => i);
  const turn = (at: number): number => nodes[at]?.turn ?? 0;
  const drawn =
    chance === undefined ? all.toSorted((a, b) => turn(a) - turn(b)) : shuffled(all, chance);
  const isReady = (at: number): boolean => nodes[at]?.isReady === true;
  return drawn.every(isReady)
    ? drawn
    : [...drawn.filter((at) => !isReady(at)), ...drawn.filter(isReady)];
};
