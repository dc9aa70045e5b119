// The meaning of a webhook's answers, and its request body.
import { describe, expect, it } from 'vitest';
import { epochMs, formatTime } from '../../../api/brand.ts';
import { afterAnswer, type WebhookAnswer, webhookBody } from './webhook.ts';

const now = epochMs(1_700_000_000_000);
const since = formatTime(now);

const saidOf = (answer: WebhookAnswer, attempt = 1): string => {
  const run = afterAnswer(answer, { since, attempt, now });
  if (run.state === 'Succeeded') return 'done';
  if (run.state === 'Failed') return `failed: ${run.message}`;
  expect(run).toMatchObject({ since, attempt });
  return `again in ${((run.nextAt ?? 0) - now) / 1000} s: ${run.message}`;
};

describe('an answer of a webhook', () => {
  it.each<[WebhookAnswer, string]>([
    [{ status: 200 }, 'done'],
    [{ status: 204 }, 'done'],
    [{ status: 202 }, 'again in 10 s: it answered 202'],
    [{ status: 202, retryAfterSeconds: 90 }, 'again in 90 s: it answered 202'],
    [{ status: 200, retryAfterSeconds: 5 }, 'again in 5 s: it answered 200 with Retry-After'],
    [{ status: 202, retryAfterSeconds: 0 }, 'again in 1 s: it answered 202'],
    [{ status: 302 }, 'failed: it answered 302; redirects are not followed'],
    [{ status: 400 }, 'failed: it answered 400'],
    [{ status: 404 }, 'failed: it answered 404'],
    [{ status: 409, retryAfterSeconds: 3 }, 'again in 3 s: it answered 409'],
    [{ status: 408 }, 'again in 2 s: it answered 408'],
    [{ status: 425 }, 'again in 2 s: it answered 425'],
    [{ status: 429 }, 'again in 2 s: it answered 429'],
    [{ status: 500 }, 'again in 2 s: it answered 500'],
    [{ status: 503, retryAfterSeconds: 30 }, 'again in 30 s: it answered 503'],
    [{ error: 'refused', isFinal: false }, 'again in 2 s: refused'],
    [{ error: 'not allowed', isFinal: true }, 'failed: not allowed'],
  ])('%j: %s', (answer, expected) => {
    expect(saidOf(answer)).toBe(expected);
  });

  it.each([
    [1, 2],
    [2, 4],
    [5, 32],
    [6, 60],
    [400, 60],
  ])('that is an error at try %d is asked again in %d s', (attempt, seconds) => {
    expect(saidOf({ status: 503 }, attempt)).toContain(`again in ${seconds} s`);
  });
});

describe('what a webhook is sent', () => {
  it('names update, node, instance, phase and attempt', () => {
    const call = {
      kind: 'preTerminate',
      hook: { webhook: { url: 'https://h' } },
      instanceId: 'i-1',
      nodeName: 'n1',
      name: 'pre-terminate-i-1-ab',
    } as const;
    expect(JSON.parse(webhookBody(call, { update: 'u', nodeGroup: 'ng', attempt: 3 }))).toEqual({
      apiVersion: 'hooks.drover.dev/v1alpha1',
      kind: 'NodeHook',
      id: 'pre-terminate-i-1-ab',
      phase: 'preTerminate',
      attempt: 3,
      update: 'u',
      nodeGroup: 'ng',
      node: 'n1',
      instance: 'i-1',
    });
  });
});
