// Which reasons to wait are worth a line: those that last until something else happens. Pure.
import type { WaitingOn } from '../../api/disruption.ts';

/** Whether it is worth reporting: it does not resolve by itself within moments. */
export const isLasting = (waiting: WaitingOn): boolean =>
  waiting.kind !== 'settling' &&
  waiting.kind !== 'tier' &&
  waiting.kind !== 'marks' &&
  !(waiting.kind === 'termination' && waiting.why === 'grace');
