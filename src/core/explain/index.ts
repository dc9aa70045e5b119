// Public entry of explain: typed reasons and plans as plain lines.
export { explainDisruption, explainHook, explainPlan } from './explain.ts';
export { drainedGroupOf, foreignHooksText } from './foreign-hooks.ts';
export { explainGroupPlan, explainGroupWaiting } from './group-plan.ts';
export { healthRemedy } from './health-remedies.ts';
export { joinCauses } from './joining.ts';
export type {
  GroupUserDataInForce,
  JoinCause,
  JoinEvidence,
  JoiningInstance,
  RoleMap,
  UnansweredRequest,
  WindowsEvidence,
} from './joining-evidence.ts';
export { type SigningRequest, unansweredRequests } from './joining-requests.ts';
export { vpcAgentOf, windowsCauses } from './joining-windows.ts';
export {
  explainHealth,
  explainRepair,
  explainRepairBlocker,
  explainRepairStep,
} from './repair.ts';
export { withStopping } from './stopping.ts';
export { explainWaiting } from './waiting.ts';
