// Public entry of group-plan: the next steps for a node group.
export { decideAdoption } from './adoption.ts';
export { candidatesFrom, idsToLook, withEmpty } from './candidates.ts';
export { type CreationObservation, decideCreation } from './creation.ts';
export { decideGroup, instancesToRead, sizesAsked } from './decide.ts';
export { decideLeaving, instancesToLeave, isEmpty } from './deletion.ts';
export { readSizes } from './late-calls.ts';
export { lateSuspension } from './late-suspension.ts';
export { countedOf, sizesOf, suspendedOf } from './members.ts';
export { type GroupObservation, type RolloutFacts, recordsOf } from './observation.ts';
export { decideRelease, type ReleaseObservation, releaseWaits, usesDerived } from './release.ts';
export { decideRemoval, type RemovalObservation, removalFailure, removalWaits } from './removal.ts';
export { netDesired, noSurge, seeSizes } from './requests.ts';
export { missingDrains, scaleInSteps, viewScaleIn } from './scale-in.ts';
export { decideUpkeep } from './upkeep.ts';
