// Which phases the journal has committed for a drain. Judges nothing.
import type { DisruptionState } from '../../state/book.ts';

/** Whether one of the phases was committed in this episode. */
export const reached = (disruption: DisruptionState, phases: readonly string[]): boolean =>
  phases.some((phase) => disruption.phaseAt.has(phase));
