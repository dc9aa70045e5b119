// Public entry of the engine: what occurrences, looks and time make of a node's health.
export { afterLook, afterReading, afterTime, type Look, observe } from './observe.ts';
export { adopt, type PublishOptions, publish } from './publish.ts';
export {
  type ConditionState,
  emptyState,
  type HealthState,
  type Notice,
  type RuleIndex,
  restoredReasons,
  type Step,
  savedReasons,
} from './state.ts';
