// Public entry of the node group controller.
export { createNodeGroupController } from './controller.ts';
export { updateCounters } from './metrics.ts';
