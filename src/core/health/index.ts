// Public entry of the health of nodes.
export {
  canDrain,
  deletedWaitMs,
  type Finding,
  type HealthFacts,
  healthOf,
  type ImpairedCheck,
  type NodeHealth,
  startupTimeoutMs,
} from './classify.ts';
export { instanceConditions, pressureConditions, repairableConditions } from './conditions.ts';
