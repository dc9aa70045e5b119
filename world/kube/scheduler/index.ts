// Public entry of the scheduler.
export { Scheduler } from './scheduler.ts';
