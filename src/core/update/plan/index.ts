// Public entry of an update's plan: its steps, its duration, and what prevents it.
export type { CloudTimes } from './build.ts';
export type { PlanBasis } from './hash.ts';
export {
  type PlanFinding,
  planUpdate,
  snapshotBasis,
  type UpdatePlan,
} from './plan.ts';
