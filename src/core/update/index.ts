// Public entry of update: the decisions about version updates.
export { decideUpdate } from './decide.ts';
export { ownCause, updateCauseId } from './nodes.ts';
export type {
  UpdateDecision,
  UpdateInstance,
  UpdateStep,
  UpdateSurge,
} from './observation.ts';
export {
  hasGroupLabels,
  isOfRevision,
  revisionAsked,
  sameRevisionAsked,
  withRevision,
} from './revision.ts';
export { eksSurge, maxUnavailableOf } from './unavailable.ts';
