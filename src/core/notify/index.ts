// Public entry of the decisions about notifications.
export { advanced, type Cursor, maxPending, outboxOf } from './outbox.ts';
export { parseReceiver, type Receiver, receiverOf } from './receiver.ts';
export { renderNotification } from './render.ts';
export {
  drainTransitions,
  repairTransitions,
  type Transition,
  testTransition,
  transitionTypes,
  updateTransitions,
} from './transitions.ts';
