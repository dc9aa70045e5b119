// A webhook hook: its request body, and the state that follows from an answer: succeeded, failed,
// or called again at a given time. Pure.

import { type EpochMs, epochMs, parseTime } from '../../../api/brand.ts';
import type { HookCall } from '../../../api/update-hooks.ts';
import type { HookRun } from './job.ts';

/** Timeout of one call. A server whose work takes longer answers 202. */
export const webhookTryMs = 10_000;
/** Default poll interval if 202 has no Retry-After. */
const pollSeconds = 10;
const firstRetryMs = 2_000;
const longestRetryMs = 60_000;
/** Temporary errors: request timeout, too early, too many requests (RFC 9110, 8470, 6585). */
const momentary: ReadonlySet<number> = new Set([408, 425, 429]);

export type WebhookAnswer =
  | { readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly error: string; readonly isFinal: boolean };

/** The JSON request body. */
export const webhookBody = (
  { name, kind, nodeName, instanceId }: HookCall,
  { update, nodeGroup, attempt }: { update: string; nodeGroup: string; attempt: number },
): string =>
  JSON.stringify({
    apiVersion: 'hooks.drover.dev/v1alpha1',
    kind: 'NodeHook',
    id: name,
    phase: kind,
    attempt,
    update,
    nodeGroup,
    node: nodeName,
    instance: instanceId,
  });

const backoffMs = (attempt: number): number =>
  Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(10, attempt - 1));

/** The state after the answer to call number `attempt` of a run that began at `since`. */
export const afterAnswer = (
  answer: WebhookAnswer,
  { since, attempt, now }: { readonly since: string; readonly attempt: number; now: EpochMs },
): HookRun => {
  const again = (message: string, inMs: number): HookRun => {
    const nextAt = epochMs(now + Math.max(1_000, inMs));
    return { state: 'Running', since, attempt, message, nextAt };
  };
  if ('error' in answer) {
    if (answer.isFinal) return { state: 'Failed', message: answer.error };
    return again(answer.error, backoffMs(attempt));
  }
  const { status, retryAfterSeconds } = answer;
  const said = `it answered ${status}`;
  if (retryAfterSeconds !== undefined) {
    // A plain 2xx would mean success. Retry-After asks for another call, so the message names it.
    const isMeant = status === 202 || status >= 300;
    return again(isMeant ? said : `${said} with Retry-After`, retryAfterSeconds * 1000);
  }
  if (status === 202) return again(said, pollSeconds * 1000);
  if (status >= 200 && status < 300) {
    return { state: 'Succeeded', seconds: (now - (parseTime(since) ?? now)) / 1000 };
  }
  if (status >= 500 || momentary.has(status)) return again(said, backoffMs(attempt));
  const why = status >= 300 && status < 400 ? `${said}; redirects are not followed` : said;
  return { state: 'Failed', message: why };
};
