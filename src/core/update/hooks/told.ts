// What the journal of an update says of hooks: those that run, those that failed, webhooks that are
// done. For a webhook it is the intent, too: none is asked before it stands there. Pure.

import { formatTime } from '../../../api/brand.ts';
import type { NodeGroupUpdateStatus } from '../../../api/nodegroup-update.ts';
import type { HookCall } from '../../../api/update-hooks.ts';
import {
  type HookStatus,
  type HookTime,
  maxDoneWebhooks,
  maxHookTimes,
  maxToldHooks,
  shownAddress,
} from '../../../api/update-hooks.ts';
import type { UpdateObservation } from '../observation.ts';
import { type HookRun, instanceOfCall, withoutTry } from './job.ts';

export interface Looked {
  readonly call: HookCall;
  readonly run: HookRun | undefined;
}

const maxMessage = 1_000;

export const isOver = ({ call, run }: Looked): boolean =>
  run?.state === 'Succeeded' || (run?.state === 'Failed' && call.hook.onFailure === 'Continue');

const targetOf = ({
  hook,
  name,
}: Pick<HookCall, 'hook' | 'name'>): Pick<HookStatus, 'job' | 'webhook' | 'id'> =>
  hook.webhook === undefined
    ? { job: `${hook.job?.namespace ?? ''}/${name}` }
    : { webhook: shownAddress(hook.webhook.url), id: name };

/** `Job ops/pre-drain-i-1-ab`, `webhook https://ops.example/...`. */
export const targetText = ({ job, webhook }: Pick<HookStatus, 'job' | 'webhook'>): string =>
  webhook === undefined ? `Job ${job ?? ''}` : `webhook ${webhook}`;

export const sentenceOf = (call: HookCall, message: string): string =>
  `Hook ${call.kind} of node ${call.nodeName} (${targetText(targetOf(call))}) failed: ${message}`;

/** What is told of this call and of no other try: a Job by its name, a webhook by its id. */
export const isToldOf = (
  told: HookStatus,
  call: Pick<HookCall, 'kind' | 'instanceId' | 'hook' | 'name'>,
): boolean => {
  const { job, webhook, id } = targetOf(call);
  const isSame = told.hook === call.kind && told.instanceId === call.instanceId;
  return isSame && told.job === job && told.webhook === webhook && told.id === id;
};

const webhookFields = (
  before: HookStatus | undefined,
  { run }: Looked,
  { now }: UpdateObservation,
): Partial<HookStatus> => {
  if (run?.state !== 'Running') return { since: before?.since ?? formatTime(now) };
  const { since, attempt = 0, message } = run;
  // A write for each try would be many: its number is told when it has doubled.
  const isNews = before?.message !== message || attempt >= 2 * (before?.attempt ?? 0);
  const told = isNews ? { attempt, message } : { attempt: before?.attempt, message };
  return {
    since,
    ...(told.attempt === undefined || told.attempt === 0 ? {} : { attempt: told.attempt }),
    ...(told.message === undefined ? {} : { message: told.message.slice(0, maxMessage) }),
  };
};

const toldOf = (observation: UpdateObservation, looked: Looked): HookStatus => {
  const { call, run } = looked;
  const before = observation.status.hooks?.find(
    (one) => one.state === 'Running' && isToldOf(one, call),
  );
  const isFailed = run?.state === 'Failed';
  return {
    hook: call.kind,
    instanceId: call.instanceId,
    node: call.nodeName,
    ...targetOf(call),
    state: isFailed ? 'Failed' : 'Running',
    ...(isFailed ? { message: run.message.slice(0, maxMessage) } : {}),
    ...(call.hook.webhook === undefined || isFailed
      ? {}
      : webhookFields(before, looked, observation)),
  };
};

/** Who has a place first: a webhook is not asked without one, a Job runs without. */
const rankOf = ({ call, run }: Looked, told: HookStatus | undefined): number => {
  const isLater = told === undefined ? 1 : 0;
  // What failed since it was told is news, and keeps its place before those that failed earlier.
  if (run?.state === 'Failed') return told?.state === 'Running' ? 4 : 5 + isLater;
  return (call.hook.webhook === undefined ? 2 : 0) + isLater;
};

/** Those that run, and those that failed, of before too. Of equals those told keep their place. */
export const journalOf = (
  observation: UpdateObservation,
  looked: readonly Looked[],
): readonly HookStatus[] | undefined => {
  const told = observation.status.hooks ?? [];
  const open = looked.filter(({ run }) => run?.state !== 'Succeeded');
  const ranks = new Map(
    open.map((one) => [
      one,
      rankOf(
        one,
        told.find((entry) => isToldOf(entry, one.call)),
      ),
    ]),
  );
  const byRank = open.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
  const chosen = new Set(byRank.slice(0, maxToldHooks));
  const now = open.filter((one) => chosen.has(one));
  const before = told.filter(
    (one) => one.state === 'Failed' && !now.some(({ call }) => isToldOf(one, call)),
  );
  const all = [...before, ...now.map((one) => toldOf(observation, one))].slice(-maxToldHooks);
  return all.length === 0 ? undefined : all;
};

/** What became of it since it was told as running, with how long that took: each is noted once. */
export const timesOf = (
  { hooks = [], hookTimes = [] }: Pick<NodeGroupUpdateStatus, 'hooks' | 'hookTimes'>,
  looked: readonly Looked[],
): readonly HookTime[] | undefined => {
  const ran = looked.flatMap(({ call, run }) => {
    if (run?.state !== 'Succeeded' || run.seconds === undefined) return [];
    const wasRunning = hooks.some((one) => one.state === 'Running' && isToldOf(one, call));
    return wasRunning ? [{ hook: call.kind, seconds: Math.max(0, Math.round(run.seconds)) }] : [];
  });
  const all = [...hookTimes, ...ran].slice(-maxHookTimes);
  return all.length === 0 ? undefined : all;
};

/**
 * Webhooks that are over are not asked again by whoever comes after a crash, those that failed and
 * gave up their place neither: noted as long as their instances are there, of each hook the latest
 * try. A list without news stays as it is.
 */
export const doneOf = (
  { status: { webhooksDone = [] }, instances }: UpdateObservation,
  looked: readonly Looked[],
): readonly string[] | undefined => {
  const known = new Set(webhooksDone);
  const news = looked.flatMap((one) => {
    const { hook, name } = one.call;
    return hook.webhook !== undefined && isOver(one) && !known.has(name) ? [name] : [];
  });
  if (news.length === 0) return webhooksDone.length === 0 ? undefined : webhooksDone;
  const ids = new Set<string>(instances.map(({ instanceId }) => instanceId));
  const replaced = new Set(news.map(withoutTry));
  const kept = webhooksDone.filter(
    (name) => ids.has(instanceOfCall(name)) && !replaced.has(withoutTry(name)),
  );
  return [...kept, ...news].slice(0, maxDoneWebhooks);
};
