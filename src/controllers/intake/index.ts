// Public entry of intake: queue messages to causes.
export { createIntakeController } from './controller.ts';
export { noticeCounters } from './metrics.ts';
