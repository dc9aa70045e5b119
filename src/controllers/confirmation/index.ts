// Public entry of the controller that asks the cloud whether notices are true.
export { createConfirmationController } from './controller.ts';
