// Public entry of update: the decisions about version updates.
export { abortVerdict, type ControlVerdict, notRunning, pauseVerdict } from './control.ts';
export { decideUpdate, nodesToRead } from './decide.ts';
export { failedRequestOf, failedUpdateOf } from './ending/failed-update.ts';
export { failedLaunches } from './ending/missing.ts';
export { endedByCall, isTerminationRequested } from './ending/terminations.ts';
export { explainUpdateWaiting } from './explain-waiting.ts';
export {
  afterAnswer,
  type CronJob,
  type HookJob,
  type HookRun,
  hookCalls,
  hookJob,
  hookRunOf,
  isRecordOf,
  targetText,
  type WebhookAnswer,
  webhookBody,
  webhookTryMs,
} from './hooks/index.ts';
export type {
  StepPacing,
  UpdateDecision,
  UpdateInstance,
  UpdateObservation,
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
export { updateNameOf } from './records/identity.ts';
export { fail } from './records/journal.ts';
export { isRetired, ownCause, updateCauseId } from './records/nodes.ts';
export {
  hasGroupLabels,
  isOfRevision,
  isRequestedBy,
  outdatedTaint,
  revisionAsked,
  sameRevisionAsked,
  withRevision,
} from './records/revision.ts';
export { stopTimesOf } from './records/stops.ts';
export { inTurn, openInTurn, rollbackNameOf, turnAfter, turnOf } from './records/succession.ts';
export { waitingChangeText } from './records/waiting-change.ts';
export { sentences } from './sentences.ts';
export { decideSequence, type SequenceNode, type SequenceStep } from './sequence/sequence.ts';
export type { BudgetLoad } from './strategies/gate.ts';
export { podsAsk, skippedTypes } from './strategies/instance-types.ts';
export {
  disableScaleDownPatch,
  restoreScaleDownPatch,
  scaleDownDisabledBy,
} from './strategies/scale-down-disabled.ts';
export { shortagePast, shortagesOf } from './strategies/shortage.ts';
export { surgeWithout } from './strategies/surplus.ts';
export { eksSurge, maxUnavailableOf, ownSurge } from './strategies/unavailable.ts';
export { evenSurge } from './strategies/zone-placement.ts';
export { strategyOf } from './strategy.ts';
