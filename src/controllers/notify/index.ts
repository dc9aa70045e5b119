// Public entry of the notifications.
export { createNotifyController, type NotifySettings } from './controller.ts';
export { notifyCounters } from './metrics.ts';
