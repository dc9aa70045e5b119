// A hook that is a webhook: what it is told, and what its answer makes of it: done, failed, or
// asked again and when. Pure.

import { type EpochMs, epochMs, parseTime } from '../../../api/brand.ts';
import type { HookCall } from '../../../api/update-hooks.ts';
import type { HookRun } from './job.ts';

/** One try waits no longer for its answer; work that takes longer is answered with 202. */
export const webhookTryMs = 10_000;
/** Where 202 names no time. */
const pollSeconds = 10;
const firstRetryMs = 2_000;
const longestRetryMs = 60_000;
/**
 * Refusals that are of the moment: request timeout, too early, too many requests (RFC 9110, 8470,
 * 6585).
 */
const momentary: ReadonlySet<number> = new Set([408, 425, 429]);

export type WebhookAnswer =
  | { readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly error: string; readonly isFinal: boolean };

/** What it is sent, as JSON. */
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

/** After the answer to the `attempt`th try of one that began at `since`. */
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
    // Done but for the header: whoever reads that it is not should see why.
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
