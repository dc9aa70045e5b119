// Public entry of nodegroup: the decisions about node groups.

export { adoptedFacts, clusterNameOf, profileNameOf } from './adopted.ts';
export {
  type Adoption,
  type AdoptionInput,
  adoptionsOf,
  classicLoadBalancersText,
  clusterNamesOf,
  nodeGroupNameFor,
} from './adoption.ts';

export { clusterSkewComplaint, nextMinor } from './cluster-version.ts';
export {
  bounded,
  codeOfRefusal,
  isLate,
  joinIssue,
  joinTimeoutMs,
  type KnownCause,
  lateAt,
  launchIssues,
  type Unjoined,
  usualJoinMs,
  whyUnjoined,
} from './health.ts';
export {
  type HookLack,
  hookLack,
  installedHooks,
  launchHookName,
  missingHooks,
  standardHooks,
  terminateHookName,
  waitsInHook,
} from './hooks.ts';
export {
  defaultAmiType,
  familyOf,
  hasImages,
  imagePattern,
  newestImage,
  releaseAmong,
  releaseComplaint,
  releaseImages,
  releaseOf,
  supportedAmiTypes,
} from './images.ts';
export { type Left, leftAnew, leftSince, roomOf, type Settled, settle } from './ledger.ts';
export {
  lacksGroupLabel,
  type MarkPlace,
  type MarksStatus,
  markedBy,
  mustMark,
  nodePatch,
  refusedMarks,
  wantedAnew,
} from './nodes.ts';
export { isHighest, overridesComplaint, versionBefore } from './operator-template.ts';
export {
  adoptionTags,
  holdsGroup,
  instanceTags,
  mappedRoleOf,
  type Ownership,
  ownershipOf,
  ownerTags,
  ownsDerived,
  releasedTags,
  roleNameOf,
  templateTags,
} from './ownership.ts';
export { byAge, type Candidate, chooseForScaleIn, type Victim } from './scale-in.ts';
export { type GroupSizes, notedCalls, sizesWithoutLateCall } from './size-calls.ts';
export {
  clamp,
  decideSizes,
  type SizeFacts,
  sizeChange,
  type WantedSizes,
} from './sizes.ts';
export { type StatusFacts, statusOf, type WindowsLack } from './status.ts';
export {
  defaultInstanceType,
  encodedUserData,
  isMixedGroup,
  isTemplateProblem,
  sameOwnTemplate,
  sameTemplateData,
  type TemplateFacts,
  templateData,
  userDataFor,
  userDataOf,
} from './template.ts';
export {
  hasRelease,
  imagesToRead,
  type Made,
  type TemplateReads,
  templateFactsOf,
  typesToRead,
} from './template-facts.ts';
export { unhealthyText } from './unhealthy.ts';
export { sameNodes } from './user-data.ts';
export {
  type Complaint,
  first,
  labelsComplaint,
  marksComplaint,
  nameComplaint,
  nodeRepairComplaint,
  sizeComplaint,
  tagsComplaint,
  taintsComplaint,
  updateConfigComplaint,
} from './validate.ts';
export {
  creationRefusal,
  customImageComplaint,
  madeRefusal,
  misfitComplaint,
  type Refusal,
  sameTemplateComplaint,
  templateRefusal,
  typesTwice,
  versionComplaint,
  versionParams,
  versionRefusal,
} from './version-update.ts';
export {
  evictionFailure,
  heldBy,
  isOfRequest,
  isOwnScaleIn,
  nextCauseId,
  retriesSentence,
  scaleInId,
  victimState,
} from './victims.ts';
