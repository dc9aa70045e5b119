// Builds the causes that come from the cloud: hooks, spot notices, maintenance. Messages and
// polling share this, so both describe a hook in the same way. Drains nothing. Pure.

import { type EpochMs, epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import type { ScheduledEvent } from '../../../api/cloud.ts';
import { defined } from '../../../api/defined.ts';
import type { DisruptionCause } from '../../../api/disruption.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { Notice, ScheduledChangeNotice } from '../../../api/notice.ts';
import { launchHookName, terminateHookName } from '../../nodegroup/index.ts';
import {
  defaultDrainTimeoutSeconds,
  hookCauseId,
  hookWaitSeconds,
  spotNoticeMs,
} from '../cause-writes.ts';

/** The limit in the schema of NodeDisruption. */
const maxCauseIdLength = 1024;

/**
 * The hooks that EKS creates on each managed group (article 001); completed by Drover by default.
 */
const eksHookNames = [launchHookName, terminateHookName] as const;

/** Foreign hooks are never completed, extended or used as a reason to drain. */
export type OwnsHook = (hookName: string, group: Pick<NodeGroup, 'spec'> | undefined) => boolean;
export const ownHooks = (names: readonly string[] = eksHookNames): OwnsHook => {
  const owned = new Set(names);
  return (name, group) =>
    owned.has(name) || group?.spec.drain?.lifecycleHooks?.includes(name) === true;
};

export interface HookTimes {
  readonly heartbeatTimeoutSeconds: number;
  readonly globalTimeoutSeconds: number;
}

/** For a hook with unknown settings: the shortest timeouts that Auto Scaling allows. */
export const shortestHook: HookTimes = { heartbeatTimeoutSeconds: 30, globalTimeoutSeconds: 3_000 };

/** The confirmation of a notice that the cloud has not answered yet. */
const unasked = (now: EpochMs): Pick<DisruptionCause, 'confirmation'> => ({
  confirmation: { state: 'Pending', at: formatTime(now), reason: 'the cloud is being asked' },
});

/** The confirmation of a cause that was found by asking the cloud. */
export const foundInCloud = (
  now: EpochMs,
  reason: string,
): Pick<DisruptionCause, 'confirmation'> => ({
  confirmation: { state: 'Confirmed', at: formatTime(now), reason },
});

/**
 * A waiting lifecycle hook. `startedAt` is from the queue or Auto Scaling, never from the message.
 * `now` replaces a start in the future, or one so early that the hook would have ended.
 */
export const hookCause = (facts: {
  readonly autoScalingGroupName: string;
  readonly hookName: string;
  readonly token?: string;
  readonly startedAt: EpochMs;
  readonly times: HookTimes;
  readonly group: NodeGroup;
  readonly now: EpochMs;
}): DisruptionCause => {
  const { autoScalingGroupName, hookName, token, times, group, now } = facts;
  const waitMs = hookWaitSeconds(times) * 1000;
  const isPossible = facts.startedAt <= now && facts.startedAt + waitMs > now;
  const startedAt = isPossible ? facts.startedAt : now;
  const onDeadline = group.spec.drain?.onDeadline ?? 'force';
  const hookEnd = startedAt + waitMs;
  // Counts from now: a late message must not find the drain timeout already over.
  const wanted = now + (group.spec.drain?.timeoutSeconds ?? defaultDrainTimeoutSeconds) * 1000;
  // A drain with `onDeadline: fail` keeps its instance as long as the hook allows.
  const deadline = onDeadline === 'fail' ? hookEnd : Math.min(hookEnd, wanted);
  const ref = { autoScalingGroupName, name: hookName, ...defined({ token }) };
  return {
    kind: 'LifecycleHook',
    id: hookCauseId(ref),
    receivedAt: formatTime(now),
    deadline: formatTime(epochMs(deadline)),
    onDeadline,
    // Completing the hook lets Auto Scaling terminate; the instance needs no other action.
    followUp: 'Release',
    hook: {
      ...ref,
      startedAt: formatTime(epochMs(startedAt)),
      heartbeatTimeoutSeconds: times.heartbeatTimeoutSeconds,
      globalTimeoutSeconds: times.globalTimeoutSeconds,
    },
    ...(token === undefined ? foundInCloud(now, 'Auto Scaling: Terminating:Wait') : unasked(now)),
    requestedBy: 'EC2 Auto Scaling',
    reason:
      token === undefined
        ? `found waiting in lifecycle hook ${hookName}`
        : `lifecycle hook ${hookName}`,
  };
};

/** Hibernation begins at once (EC2 user guide, "hibernate interrupted Spot Instances"). */
const noticeMs = { terminate: spotNoticeMs, stop: spotNoticeMs, hibernate: 20_000 } as const;
const did = (action: keyof typeof noticeMs): string =>
  action === 'terminate' ? '' : ` (${action})`;

/** EC2 stops the instance, or has stopped it: pods left on it are deleted after two minutes. */
export const stateChangeCause = (
  { instanceId, at, state }: Extract<Notice, { readonly kind: 'stateChange' }>,
  now: EpochMs,
): DisruptionCause => ({
  kind: 'StateChange',
  id: `state/${instanceId}/${at ?? 'untimed'}`,
  receivedAt: formatTime(now),
  deadline: formatTime(epochMs(now + spotNoticeMs)),
  onDeadline: 'force',
  followUp: 'Release',
  ...unasked(now),
  requestedBy: 'EC2',
  reason: `EC2 reports it as ${state}`,
});

/**
 * A spot interruption or rebalance recommendation. Repeats carry the same time, so they get the
 * same id. It counts from the sender's time or the queue's, `sentAt`, whichever is earlier.
 */
export const spotCause = (facts: {
  readonly kind: 'SpotInterruption' | 'RebalanceRecommendation';
  readonly instanceId: string;
  readonly at: string | undefined;
  readonly sentAt: EpochMs | undefined;
  /** How far the clock of `at` and `sentAt` is ahead of ours, milliseconds. */
  readonly cloudAheadMs: number;
  /** What EC2 does to the instance; undefined for a recommendation. */
  readonly action?: 'terminate' | 'stop' | 'hibernate' | undefined;
  readonly now: EpochMs;
}): DisruptionCause => {
  const { kind, instanceId, at, sentAt, cloudAheadMs, now, action = 'terminate' } = facts;
  const interruption = kind === 'SpotInterruption';
  const name = interruption ? 'spot' : 'rebalance';
  const told = [parseTime(at), sentAt].flatMap((time) => time ?? []);
  const since = Math.min(...told.map((time) => time - cloudAheadMs), now);
  return {
    kind,
    id: `${name}/${instanceId}/${at ?? 'untimed'}`,
    receivedAt: formatTime(now),
    ...(interruption ? { deadline: formatTime(epochMs(since + noticeMs[action])) } : {}),
    // EC2 does not wait after an interruption; following a recommendation is optional.
    onDeadline: interruption ? 'force' : 'fail',
    followUp: 'Release',
    ...unasked(now),
    requestedBy: 'EC2 Spot',
    reason: interruption ? `spot interruption warning${did(action)}` : 'rebalance recommendation',
  };
};

const maintenanceTerms = (facts: {
  readonly startsAt: string | undefined;
  readonly group: NodeGroup;
  readonly now: EpochMs;
}): Pick<DisruptionCause, 'receivedAt' | 'deadline' | 'onDeadline' | 'followUp'> => {
  const { startsAt, group, now } = facts;
  const opens = parseTime(startsAt);
  // Once the window opens, EC2 may act at any moment, as after a spot interruption notice.
  const deadline = opens === undefined ? undefined : Math.max(opens, now + spotNoticeMs);
  return {
    receivedAt: formatTime(now),
    ...(deadline === undefined ? {} : { deadline: formatTime(epochMs(deadline)) }),
    onDeadline: group.spec.drain?.onDeadline ?? 'force',
    followUp: 'Replace',
  };
};

const windowOf = ({ startsAt, endsAt }: ScheduledChangeNotice): DisruptionCause['window'] => {
  const [from, until] = [parseTime(startsAt), parseTime(endsAt)];
  if (from === undefined && until === undefined) return undefined;
  return {
    ...(from === undefined ? {} : { startsAt: formatTime(from) }),
    ...(until === undefined ? {} : { endsAt: formatTime(until) }),
  };
};

/**
 * Records that AWS Health has closed an event, so that an announcement read later has no effect.
 * Queues do not guarantee order.
 */
export const closedCause = (cause: DisruptionCause, now: EpochMs): DisruptionCause => {
  const at = formatTime(now);
  const reason = 'AWS Health has closed the event';
  return { ...cause, cancelledAt: at, confirmation: { state: 'Refuted', at, reason } };
};

/**
 * Maintenance that AWS Health announces. There is time until the window opens, so pods are evicted
 * as budgets allow, and the instance is replaced before EC2 stops or reboots it.
 */
export const maintenanceCause = (facts: {
  readonly notice: ScheduledChangeNotice;
  readonly group: NodeGroup;
  readonly now: EpochMs;
}): DisruptionCause => {
  const { notice, group, now } = facts;
  const { eventArn, eventTypeCode, startsAt } = notice;
  const window = windowOf(notice);
  return {
    kind: 'Maintenance',
    id: `maintenance/${eventArn}`.slice(0, maxCauseIdLength),
    ...maintenanceTerms({ startsAt, group, now }),
    ...unasked(now),
    ...defined({ window }),
    requestedBy: 'AWS Health',
    reason: `${eventTypeCode.slice(0, 200)}${startsAt === undefined ? '' : ` at ${startsAt}`}`,
  };
};

export const scheduledEventCauseId = ({ id }: ScheduledEvent): string =>
  `maintenance/${id}`.slice(0, maxCauseIdLength);

/** The same for an event in EC2's list of scheduled events that no message announced. */
export const scheduledEventCause = (facts: {
  readonly event: ScheduledEvent;
  readonly group: NodeGroup;
  readonly now: EpochMs;
}): DisruptionCause => {
  const { event, group, now } = facts;
  const { code, notBefore } = event;
  return {
    kind: 'Maintenance',
    id: scheduledEventCauseId(event),
    ...maintenanceTerms({ startsAt: notBefore, group, now }),
    ...foundInCloud(now, `EC2: ${code.slice(0, 200)} is scheduled`),
    requestedBy: 'EC2',
    reason:
      'found scheduled: ' +
      `${code.slice(0, 200)}${notBefore === undefined ? '' : ` at ${notBefore}`}`,
  };
};
