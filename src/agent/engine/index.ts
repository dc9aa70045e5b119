// Public entry of the engine: what occurrences, looks and time make of a node's health.
export { afterLook, afterReading, afterTime, observe } from './observe.ts';
export { adopt, publish } from './publish.ts';
export {
  type ConditionState,
  emptyState,
  type HealthState,
  type Notice,
  restoredReasons,
  type Step,
  savedReasons,
} from './state.ts';
