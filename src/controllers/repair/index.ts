// Public entry of the repair controller.
export { createRepairController } from './controller.ts';
export { repairCounters } from './metrics.ts';
