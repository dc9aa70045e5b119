// Public entry of the decisions about repairs.
export { checksByInstance, membersWithoutNode, repairObservation } from './assemble.ts';
export { decideRepairs, isOpenRepair } from './decide.ts';
export { ineffectiveIssue } from './effect.ts';
export type {
  RepairMember,
  RepairObservation,
  RepairOutlook,
  RepairPlan,
  RepairStep,
} from './observation.ts';
export { repairModeOf, repairRuleOf } from './policy.ts';
export { decideRequest, type RequestDecision, type RequestWrite } from './request.ts';
