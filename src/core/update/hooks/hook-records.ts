// What the status of an update records about hooks: running ones, failed ones and completed
// webhooks. For a webhook the record is also the intent: it is called only once recorded. Pure.

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

/** The record is of this call and not of another try: Jobs match by name, webhooks by id. */
export const isRecordOf = (
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
  // To limit writes, the number of attempts is written only each time it doubles.
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
    (one) => one.state === 'Running' && isRecordOf(one, call),
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

/**
 * Order in which hooks get one of the limited records: a webhook is not called without one, a Job
 * runs without.
 */
const rankOf = ({ call, run }: Looked, told: HookStatus | undefined): number => {
  const isLater = told === undefined ? 1 : 0;
  // A failure since the last record is new, and precedes earlier failures.
  if (run?.state === 'Failed') return told?.state === 'Running' ? 4 : 5 + isLater;
  return (call.hook.webhook === undefined ? 2 : 0) + isLater;
};

/** Running hooks and failed ones, earlier failures included. Among equals, recorded ones stay. */
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
        told.find((entry) => isRecordOf(entry, one.call)),
      ),
    ]),
  );
  const byRank = open.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
  const chosen = new Set(byRank.slice(0, maxToldHooks));
  const now = open.filter((one) => chosen.has(one));
  const before = told.filter(
    (one) => one.state === 'Failed' && !now.some(({ call }) => isRecordOf(one, call)),
  );
  const all = [...before, ...now.map((one) => toldOf(observation, one))].slice(-maxToldHooks);
  return all.length === 0 ? undefined : all;
};

/** Run times of hooks that were recorded as running and have succeeded; each is recorded once. */
export const timesOf = (
  { hooks = [], hookTimes = [] }: Pick<NodeGroupUpdateStatus, 'hooks' | 'hookTimes'>,
  looked: readonly Looked[],
): readonly HookTime[] | undefined => {
  const ran = looked.flatMap(({ call, run }) => {
    if (run?.state !== 'Succeeded' || run.seconds === undefined) return [];
    const wasRunning = hooks.some((one) => one.state === 'Running' && isRecordOf(one, call));
    return wasRunning ? [{ hook: call.kind, seconds: Math.max(0, Math.round(run.seconds)) }] : [];
  });
  const all = [...hookTimes, ...ran].slice(-maxHookTimes);
  return all.length === 0 ? undefined : all;
};

/**
 * Names of webhooks that ended, so that they are not called again after a crash; failed ones that
 * lost their record, too. Kept while the instance exists, the latest try of each hook only. A list
 * without changes is returned as it is.
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
