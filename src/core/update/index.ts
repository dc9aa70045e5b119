// Public entry of update: the decisions about version updates.
export { decideUpdate } from './decide.ts';
export { failedUpdateOf } from './failed-update.ts';
export type { BudgetLoad } from './gate.ts';
export { fail } from './journal.ts';
export { ownCause, updateCauseId } from './nodes.ts';
export type {
  UpdateDecision,
  UpdateInstance,
  UpdateStep,
  UpdateSurge,
} from './observation.ts';
export { type Policies, policiesOf } from './policy.ts';
export {
  autoscalerAnnotation,
  hasGroupLabels,
  isOfRevision,
  outdatedTaint,
  revisionAsked,
  sameRevisionAsked,
  shieldAnnotation,
  shieldOf,
  withRevision,
} from './revision.ts';
export { shortagesOf } from './shortage.ts';
export { eksSurge, maxUnavailableOf, ownSurge } from './unavailable.ts';
