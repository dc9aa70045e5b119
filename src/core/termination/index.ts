// Public entry of the termination decisions.

export {
  type CauseWrite,
  causeWrite,
  type DisruptionSubject,
  defaultDrainTimeoutSeconds,
  freeTerminationWrite,
  type Lifted,
  liftWrite,
  mayBeWithdrawn,
  mergeCause,
  replaceCausesWrite,
  wasHandled,
  withdrawCauseWrite,
  withdrawUpdatesWrite,
  withdrawWrite,
} from './cause-writes.ts';
export { causesInForce, demandOf, isHeld } from './causes.ts';
export { confirmCause, isTerminating, nextLookAt } from './confirmation.ts';
export { decideDisruption } from './decide.ts';
export { podsInTheWay } from './draining.ts';
export { batchBlocker, batchOf, drainOf, receivedAt, unmarkedOf } from './drains.ts';
export { hookKey } from './hooks.ts';
export { marksAreVisible, marksOn } from './marks.ts';
export { type OwnsHook, ownHooks } from './notices/causes.ts';
export {
  decideMessage,
  keptAsFull,
  type MessageDecision,
  type MessageFacts,
  noticesIn,
  type Owner,
} from './notices/message.ts';
export {
  decideScheduled,
  type ScheduledAction,
  type ScheduledInstance,
} from './notices/scheduled.ts';
export {
  decideLifecycle,
  type LifecycleAction,
  launchKey,
  type WaitingInstance,
} from './notices/waiting.ts';
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
