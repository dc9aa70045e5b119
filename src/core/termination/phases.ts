// The phases of a disruption and which may follow which. One section each in
// docs/designs/termination.md. Every change of phase goes through `transition`.
import type { DisruptionPhase } from '../../api/disruption.ts';

export const transitions: Readonly<Record<DisruptionPhase, readonly DisruptionPhase[]>> = {
  /**
   * To Draining: the previous episode drained the node and its marks stand. To Completing: there is
   * no node to mark. To Ended: withdrawn before anything was done. To Undoing: withdrawn, and marks
   * of an earlier episode stand that no cause needs.
   */
  Pending: ['Marking', 'Draining', 'Completing', 'Undoing', 'Ended'],
  /** To Marking again: the node registered again, so its marks are gone. */
  Marking: ['Marking', 'Draining', 'Completing', 'Undoing'],
  /** To Marking: a mark was removed, or the node registered again. */
  Draining: ['Marking', 'Completing', 'Undoing'],
  Completing: ['Ended'],
  Undoing: ['Ended'],
  /** To Pending: a new cause starts the next episode. To Undoing: a drained node is uncordoned. */
  Ended: ['Pending', 'Undoing'],
};

/** `to`, when it may follow `from`; throws on a programming error. */
export const transition = (from: DisruptionPhase, to: DisruptionPhase): DisruptionPhase => {
  if (!transitions[from].includes(to)) {
    throw new Error(`a disruption never goes from ${from} to ${to}`);
  }
  return to;
};
