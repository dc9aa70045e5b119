// Public entry of the decisions about notifications.
export { advanced, type Cursor, maxPending, outboxOf } from './outbox.ts';
export { parseReceiver, type Receiver } from './receiver.ts';
export { renderNotification } from './render.ts';
export {
  drainTransitions,
  repairTransitions,
  type Transition,
  transitionTypes,
  updateTransitions,
} from './transitions.ts';
