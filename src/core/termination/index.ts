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
  withdrawAllWrite,
  withdrawCauseWrite,
  withdrawUpdatesWrite,
  withdrawWrite,
} from './cause-writes.ts';
export { causesInForce, demandOf, isHeld } from './causes.ts';
export { confirmCause, isTerminating, nextLookAt } from './confirmation.ts';
export { decideDisruption } from './decide.ts';
export { beforeEvictions, needsTargets } from './deregistration.ts';
export { podsInTheWay } from './draining.ts';
export { type Batch, batchBlocker, batchOf, drainOf, receivedAt, unmarkedOf } from './drains.ts';
export { hookKey } from './hooks.ts';
export { marksAreVisible, marksOn, ownedOn } from './marks.ts';
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
  startupTaintsOn,
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
export { standingMarks } from './terminating.ts';
export { awaitsTurn, dueAt, isOutOfService } from './turns.ts';
export { podWaitsOf } from './waits.ts';
export { decideZoneShift, isZoneShift, type ShiftAction, shiftedZonesOf } from './zone-shift.ts';
