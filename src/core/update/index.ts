// Public entry of update: the decisions about version updates.
export { decideUpdate } from './decide.ts';
export { failedRequestOf, failedUpdateOf } from './failed-update.ts';
export type { BudgetLoad } from './gate.ts';
export {
  afterAnswer,
  type CronJob,
  type HookCall,
  type HookJob,
  type HookRun,
  hookCalls,
  hookJob,
  hookRunOf,
  isToldOf,
  targetText,
  type WebhookAnswer,
  webhookBody,
  webhookTryMs,
} from './hooks/index.ts';
export { updateNameOf } from './identity.ts';
export { fail } from './journal.ts';
export { podsAsk, skippedTypes } from './ladder.ts';
export { evenSurge } from './landing.ts';
export { endedByCall, isAskedToEnd } from './leaving.ts';
export { failedLaunches } from './missing.ts';
export { isEmptiedBy, isRetired, ownCause, updateCauseId } from './nodes.ts';
export type {
  StepHolds,
  StepPacing,
  UpdateDecision,
  UpdateInstance,
  UpdateStep,
  UpdateSurge,
} from './observation.ts';
export {
  type Conditioned,
  conditionComplaint,
  outlookOf,
  probedPlace,
  startHolds,
  stepHolds,
  wrongApprovals,
} from './pacing/index.ts';
export { type Policies, policiesOf, policyComplaint } from './policy.ts';
export {
  hasGroupLabels,
  isAskedBy,
  isOfRevision,
  outdatedTaint,
  revisionAsked,
  sameRevisionAsked,
  withRevision,
} from './revision.ts';
export { sentences } from './sentences.ts';
export { decideSequence, type SequenceNode, type SequenceStep } from './sequence.ts';
export { shieldOf, shieldPatch, unshieldPatch } from './shield.ts';
export { shortagePast, shortagesOf } from './shortage.ts';
export { stopTimesOf } from './stops.ts';
export { strategyOf } from './strategy.ts';
export { inTurn, openInTurn, rollbackNameOf, turnAfter, turnOf } from './succession.ts';
export { surgeWithout } from './surplus.ts';
export { eksSurge, maxUnavailableOf, ownSurge } from './unavailable.ts';
export { waitingChangeText } from './waiting-change.ts';
