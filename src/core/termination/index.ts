// Public entry of the termination decisions.
export { causesInForce, demandOf, isHeld } from './causes.ts';
export { confirmCause, isTerminating, nextLookAt, refuteCause } from './confirmation.ts';
export { decideDisruption } from './decide.ts';
export { podsInTheWay } from './draining.ts';
export { batchBlocker, batchOf, drainOf, receivedAt, unmarkedOf } from './drains.ts';
export { hookKey } from './hooks.ts';
export { marksAreVisible, marksOn } from './marks.ts';
export type {
  Compat,
  HookMemory,
  Memory,
  Observation,
  TerminationOptions,
} from './observation.ts';
export { type Ledger as GroupLedger, noMemory } from './observation.ts';
export { leavesPods } from './pods-left.ts';
export { isTaken, phaseOf, progressDueAt } from './status.ts';
export { awaitsTurn, dueAt, isOutOfService } from './turns.ts';
