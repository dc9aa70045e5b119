// Public entry of the lifecycle backstop.
export { createLifecycleController } from './controller.ts';
