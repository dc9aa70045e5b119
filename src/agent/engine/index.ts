// Public entry of the engine: derives a node's health from occurrences, looks and time.
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
