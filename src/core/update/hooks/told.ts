// What the journal of an update says of hooks: those that run, those that failed, webhooks that are done. For a
// webhook it is the intent, too: none is asked before it stands there. Pure.
import { formatTime } from '../../../api/brand.ts';
import type { NodeGroupUpdateStatus } from '../../../api/nodegroup-update.ts';
import {
  type HookStatus,
  type HookTime,
  maxDoneWebhooks,
  maxHookTimes,
  maxToldHooks,
} from '../../../api/update-hooks.ts';
import type { UpdateObservation } from '../observation.ts';
import type { HookCall, HookRun } from './job.ts';

export interface Looked {
  readonly call: HookCall;
  readonly run: HookRun | undefined;
}

const maxMessage = 1_000;

const targetOf = ({ hook, name }: HookCall): Pick<HookStatus, 'job' | 'webhook'> =>
  hook.webhook === undefined
    ? { job: `${hook.job?.namespace ?? ''}/${name}` }
    : { webhook: hook.webhook.url };

/** `Job ops/pre-drain-i-1-ab`, `webhook https://ops.example/drain`. */
export const targetText = ({ job, webhook }: Pick<HookStatus, 'job' | 'webhook'>): string =>
  webhook === undefined ? `Job ${job ?? ''}` : `webhook ${webhook}`;

export const sentenceOf = (call: HookCall, message: string): string =>
  `Hook ${call.kind} of node ${call.nodeName} (${targetText(targetOf(call))}) failed: ${message}`;

/** What is told of this call; of a Job by its name, of a webhook by hook and instance. */
export const isToldOf = (
  told: HookStatus,
  call: Pick<HookCall, 'kind' | 'instanceId' | 'hook' | 'name'>,
): boolean => {
  const { job, webhook } = targetOf(call as HookCall);
  const isSame = told.hook === call.kind && told.instanceId === call.instanceId;
  return isSame && told.job === job && told.webhook === webhook;
};

const webhookFields = (
  before: HookStatus | undefined,
  { run }: Looked,
  { now }: UpdateObservation,
): Partial<HookStatus> => {
  if (run?.state !== 'Running')
    return before?.since === undefined && run === undefined ? { since: formatTime(now) } : {};
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

/** Those that run, and those that failed, of before too. What is told already keeps its place. */
export const journalOf = (
  observation: UpdateObservation,
  looked: readonly Looked[],
): readonly HookStatus[] | undefined => {
  const told = observation.status.hooks ?? [];
  const open = looked.filter(({ run }) => run?.state !== 'Succeeded');
  const isKnown = ({ call }: Looked): boolean => told.some((one) => isToldOf(one, call));
  let room = Math.max(0, maxToldHooks - open.filter(isKnown).length);
  const now = open.filter((one) => isKnown(one) || room-- > 0);
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

/** Webhooks that are done are not asked again by whoever comes after a crash. */
export const doneOf = (
  { webhooksDone = [] }: Pick<NodeGroupUpdateStatus, 'webhooksDone'>,
  looked: readonly Looked[],
): readonly string[] | undefined => {
  const known = new Set(webhooksDone);
  const done = looked.flatMap(({ call, run }) =>
    call.hook.webhook !== undefined && run?.state === 'Succeeded' && !known.has(call.name)
      ? [call.name]
      : [],
  );
  const all = [...webhooksDone, ...done].slice(-maxDoneWebhooks);
  return all.length === 0 ? undefined : all;
};
