// Public entry of hooks: what runs for a node beside its drain.
export { holdFor, hookCalls, withHookedNodes, withHooks } from './decide.ts';
export { type CronJob, type HookJob, type HookRun, hookJob, hookRunOf } from './job.ts';
export { isToldOf, targetText } from './told.ts';
export { afterAnswer, type WebhookAnswer, webhookBody, webhookTryMs } from './webhook.ts';
