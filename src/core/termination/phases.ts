// The phases of a disruption and which may follow which. One section each in
// docs/designs/termination.md. Every change of phase goes through `transition`.
import type { DisruptionPhase } from '../../api/disruption.ts';

export const transitions: Readonly<Record<DisruptionPhase, readonly DisruptionPhase[]>> = {
  /**
   * Draining: the episode before drained the node and its marks stand. Completing: there is no node
   * to mark. Ended: withdrawn before anything was done. Undoing: so, and marks of an earlier
   * episode stand that nobody wants any more.
   */
  Pending: ['Marking', 'Draining', 'Completing', 'Undoing', 'Ended'],
  /** Marking again: the node registered anew, so its marks are gone. */
  Marking: ['Marking', 'Draining', 'Completing', 'Undoing'],
  /** Marking: somebody took a mark away, or the node registered anew. */
  Draining: ['Marking', 'Completing', 'Undoing'],
  Completing: ['Ended'],
  Undoing: ['Ended'],
  /** Pending: a new cause opens the next episode. Undoing: a drained node is given back. */
  Ended: ['Pending', 'Undoing'],
};

/** `to`, when it may follow `from`; throws on a programmer's mistake. */
export const transition = (from: DisruptionPhase, to: DisruptionPhase): DisruptionPhase => {
  if (!transitions[from].includes(to)) {
    throw new Error(`a disruption never goes from ${from} to ${to}`);
  }
  return to;
};
