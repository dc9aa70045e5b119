// Public entry of hooks: Jobs and webhooks that run for a node before or after its drain.
export { holdFor, hookCalls, withHookedNodes, withHooks } from './decide.ts';
export { isRecordOf, targetText } from './hook-records.ts';
export { type CronJob, type HookJob, type HookRun, hookJob, hookRunOf } from './job.ts';
export { afterAnswer, type WebhookAnswer, webhookBody, webhookTryMs } from './webhook.ts';
