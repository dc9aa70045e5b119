// Public entry of the plan of an update: what will happen, how long it takes, what stands against
// it.
export type { CloudTimes } from './build.ts';
export type { PlanBasis } from './hash.ts';
export {
  type PlanFinding,
  planUpdate,
  snapshotBasis,
  type UpdatePlan,
} from './plan.ts';
