// Public entry of hooks: Jobs and webhooks that run for a node before or after its drain.
export { holdFor, hookCalls, withHookedNodes, withHooks } from './decide.ts';
export { type CronJob, type HookJob, type HookRun, hookJob, hookRunOf } from './job.ts';
export { isToldOf, targetText } from './told.ts';
export { afterAnswer, type WebhookAnswer, webhookBody, webhookTryMs } from './webhook.ts';
