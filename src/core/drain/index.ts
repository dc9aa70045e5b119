// Public entry of the drain decisions.
export { defaultLimits, type Limits } from './account.ts';
export { allocate, type Grant, type OwnerLookup } from './allocate.ts';
export { termination as stoppingPod } from './blockers.ts';
export { BudgetIndex, keyOfObject, statusIsCurrent } from './budgets.ts';
export type { Drain } from './candidates.ts';
export {
  type Classified,
  classifyPods,
  maxBoomerangs,
  newBoomerangs,
  type PodWarning,
  type SkipReason,
  skipReasonOf,
} from './classify.ts';
export { protectedUntil, protectionOf } from './do-not-evict.ts';
export { type ForceWindow, forceAt, intervalsOf, safetyMs, spotSafetyMs } from './force.ts';
export { Ledger } from './ledger.ts';
export { criticalLast, type NotYet, type Waits } from './not-yet.ts';
export {
  controllerOf,
  criticalPriority,
  isOfJob,
  isTerminating,
  ownerName,
  podRef,
  terminationStart,
  unstoppableFrom,
} from './pods.ts';
export { selectorText } from './selector.ts';
export { selfMovingOf } from './self-moving.ts';
export { mergedStops, StopLog } from './stops.ts';
export {
  type Doomed,
  decideSurge,
  deploymentsOf,
  isOfDeployment,
  maySwap,
  restoreSteps,
  surgeBlocker,
  surgeEndsOf,
  surgeOf,
  surgeUntil,
  surgeWaitMsOf,
} from './surge.ts';
export { isAwaited, type PodEvent, unreadyOf, unreadyPodText, waitsForReady } from './unready.ts';
