// Public entry of the drain decisions.
export { defaultLimits, type Limits } from './account.ts';
export { allocate, type Drain, type Grant, type OwnerLookup } from './allocate.ts';
export { BudgetIndex, keyOfObject, statusIsCurrent } from './budgets.ts';
export {
  type Classified,
  classifyPods,
  maxBoomerangs,
  newBoomerangs,
  type PodWarning,
  type SkipReason,
} from './classify.ts';
export { type ForceWindow, forceAt, safetyMs, spotSafetyMs } from './force.ts';
export { Ledger } from './ledger.ts';
export { controllerOf, isTerminating, ownerName, podRef, unstoppableFrom } from './pods.ts';
export { selectorText } from './selector.ts';
export { selfMovingOf } from './self-moving.ts';
export { mergedStops, StopLog } from './stops.ts';
export { isAwaited, type PodEvent, unreadyOf, unreadyPodText, waitsForReady } from './unready.ts';
