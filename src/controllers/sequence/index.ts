// Public entry of the controller of update sequences.
export { createSequenceController } from './controller.ts';
