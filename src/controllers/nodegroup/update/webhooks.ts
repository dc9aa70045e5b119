// Calls the webhooks of an update's hooks, each once the status records it and its next try is due.
// Reads the Secrets with their tokens; no error or log contains a token. Does not interpret
// answers.

import { defined } from '../../../api/defined.ts';
import { isObject, type Json } from '../../../api/json.ts';
import { type KubeObject, resourceTypes } from '../../../api/kube.ts';
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import type { HookCall, WebhookHook } from '../../../api/update-hooks.ts';
import {
  afterAnswer,
  type HookRun,
  isRecordOf,
  type WebhookAnswer,
  webhookBody,
  webhookTryMs,
} from '../../../core/update/index.ts';
import { HttpError, KubeError } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';

/** A pass calls at most this many; the next pass calls the others. */
const maxAtOnce = 16;
const defaultKey = 'token';

/** Misconfigured; retrying cannot help. */
class Unusable extends Error {}

const textOf = (base64: string, what: string): string => {
  try {
    return atob(base64.replaceAll(/\s/g, ''));
  } catch {
    throw new Unusable(`${what} is no base64`);
  }
};

const tokenOf = async (
  { kube }: NodeGroupDeps,
  { namespace, name, key = defaultKey }: NonNullable<WebhookHook['bearerTokenSecret']>,
  signal: AbortSignal,
): Promise<string> => {
  const which = `Secret ${namespace}/${name}`;
  const found = await kube.get<KubeObject>(resourceTypes.secrets, { namespace, name }, { signal });
  if (found.kind === 'gone') throw new Unusable(`there is no ${which}`);
  const { data } = found.object as KubeObject & { readonly data?: Json };
  const value = isObject(data) ? data[key] : undefined;
  if (typeof value !== 'string') throw new Unusable(`${which} has no key ${key}`);
  const token = textOf(value, `key ${key} of ${which}`).trim();
  // RFC 6750: the characters that the header allows.
  if (!/^[\w.~+/=-]+$/.test(token)) throw new Unusable(`key ${key} of ${which} is no bearer token`);
  return token;
};

const caOf = ({ caBundle }: WebhookHook): string | undefined => {
  if (caBundle === undefined || caBundle === '') return undefined;
  const pem = textOf(caBundle, 'caBundle');
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Unusable('caBundle is no PEM');
  return pem;
};

interface Try {
  readonly update: NodeGroupUpdate;
  readonly call: HookCall;
  readonly webhook: WebhookHook;
  readonly attempt: number;
}

const secretRemedy =
  'Grant the controller `get` of this one Secret by a Role (docs/update-hooks.md).';

const post = async (
  deps: NodeGroupDeps,
  { update, call, webhook, attempt }: Try,
  signal: AbortSignal,
): Promise<WebhookAnswer> => {
  const { http } = deps;
  if (http === undefined) return { error: 'this controller makes no HTTP calls', isFinal: true };
  try {
    const { bearerTokenSecret: secret } = webhook;
    const bearerToken = secret === undefined ? undefined : await tokenOf(deps, secret, signal);
    const ca = caOf(webhook);
    const { nodeGroup } = update.spec;
    return await http.post(webhook.url, {
      body: webhookBody(call, { update: update.metadata.name, nodeGroup, attempt }),
      idempotencyKey: call.name,
      ...defined({ bearerToken, ca }),
      timeoutMs: webhookTryMs,
      signal,
    });
  } catch (error) {
    if (error instanceof Unusable) return { error: error.message, isFinal: true };
    if (error instanceof HttpError) {
      return { error: error.message, isFinal: error.code === 'NotAllowed' };
    }
    if (!(error instanceof KubeError) || error.retry !== 'never') throw error;
    const remedy = error.code === 'Forbidden' ? `. ${secretRemedy}` : '';
    return { error: `${error.message}${remedy}`, isFinal: true };
  }
};

/** The state known without a call; undefined: it has not started. */
const knownRun = (
  { status }: NodeGroupUpdate,
  asked: ReadonlyMap<string, HookRun>,
  call: HookCall,
): HookRun | undefined => {
  const told = status?.hooks?.find((one) => isRecordOf(one, call));
  // Takes precedence over the last answer: the timeout may have passed since.
  if (told?.state === 'Failed') return { state: 'Failed', message: told.message ?? 'it failed' };
  // Succeeded, or failed and ignored: there is nothing more to call.
  if (status?.webhooksDone?.includes(call.name) === true) return { state: 'Succeeded' };
  const before = asked.get(call.name);
  if (before !== undefined) return before;
  if (told?.since === undefined) return undefined;
  const { since, attempt = 0, message } = told;
  return { state: 'Running', since, attempt, ...defined({ message }) };
};

/** The state of each hook; due ones are called in parallel. */
export const askWebhooks = async (
  deps: NodeGroupDeps,
  asked: Map<string, HookRun>,
  { update, calls }: { readonly update: NodeGroupUpdate; readonly calls: readonly HookCall[] },
  signal: AbortSignal,
): Promise<readonly (readonly [HookCall, HookRun])[]> => {
  const now = deps.clock.now();
  let room = maxAtOnce;
  const ask = async (call: HookCall): Promise<readonly [HookCall, HookRun] | undefined> => {
    const run = knownRun(update, asked, call);
    const { webhook } = call.hook;
    if (run?.state !== 'Running' || webhook === undefined) return run && [call, run];
    const isDue = run.nextAt === undefined || run.nextAt <= now;
    if (!isDue || room-- <= 0) return [call, run];
    const attempt = (run.attempt ?? 0) + 1;
    const answer = await post(deps, { update, call, webhook, attempt }, signal);
    const after = afterAnswer(answer, { since: run.since, attempt, now: deps.clock.now() });
    asked.set(call.name, after);
    return [call, after];
  };
  const runs = await Promise.all(calls.map(ask));
  return runs.flatMap((one) => (one === undefined ? [] : [one]));
};
