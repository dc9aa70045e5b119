// The lifecycle hooks that Drover completes: which are open, when they end, when the next heartbeat
// is due, when to retry a completion. Rules H1 to H4. Calls nothing.

import {
  type DurationMs,
  durationMs,
  type EpochMs,
  epochMs,
  formatTime,
  parseTime,
} from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { DisruptionCause, HookRef, HookStatus } from '../../api/disruption.ts';
import { hookWaitSeconds } from './cause-writes.ts';
import type { HookMemory, Memory, Observation } from './observation.ts';

const shortestIntervalMs = 10_000;
const longestIntervalMs = 600_000;
/** Reserved before a hook's end, for completing it with some retries. */
const longestMarginMs = 60_000;
const firstRetryMs = 1_000;
const longestRetryMs = 30_000;

/** Group and name: an instance waits at most once in each hook. */
export const hookKey = (hook: {
  readonly autoScalingGroupName: string;
  readonly name: string;
}): string => `${hook.autoScalingGroupName}/${hook.name}`;

const startOf = (hook: HookRef): number => parseTime(hook.startedAt) ?? 0;

/** The hooks of these causes, each once, with the earliest start and any known token. */
export const hooksOf = (causes: readonly DisruptionCause[]): readonly HookRef[] => {
  const byKey = new Map<string, HookRef>();
  for (const { hook } of causes) {
    if (hook === undefined) continue;
    const known = byKey.get(hookKey(hook));
    if (known === undefined) {
      byKey.set(hookKey(hook), hook);
      continue;
    }
    const token = known.token ?? hook.token;
    const first = startOf(known) <= startOf(hook) ? known : hook;
    byKey.set(hookKey(hook), { ...first, ...defined({ token }) });
  }
  return [...byKey.values()];
};

const totalWaitMs = (hook: HookRef): number => hookWaitSeconds(hook) * 1000;

/** When the hook ends, regardless of heartbeats. */
export const hookEnd = (hook: HookRef): EpochMs => epochMs(startOf(hook) + totalWaitMs(hook));

/** The last moment that still leaves room for retries of the completion. */
export const lastCompletion = (hook: HookRef): EpochMs =>
  epochMs(hookEnd(hook) - Math.min(longestMarginMs, totalWaitMs(hook) / 10));

export const heartbeatInterval = (hook: HookRef): DurationMs => {
  const third = (hook.heartbeatTimeoutSeconds * 1000) / 3;
  return durationMs(Math.min(longestIntervalMs, Math.max(shortestIntervalMs, third)));
};

const retryDelay = (failures: number): number =>
  failures === 0 ? 0 : Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 5));

const nextTry = (memory: HookMemory | undefined): number =>
  memory?.lastAttemptAt === undefined ? 0 : memory.lastAttemptAt + retryDelay(memory.failures);

export interface KnownHook {
  readonly ref: HookRef;
  readonly memory: HookMemory | undefined;
  readonly status: HookStatus;
}

/**
 * Whether a hook that Auto Scaling does not know ended by its heartbeat timeout. Certain only where
 * this process sent the last heartbeat, or has handled the hook from its start.
 */
const hasTimedOut = (ref: HookRef, { hooks, firstLookAt }: Memory): boolean => {
  const seen = hooks.get(hookKey(ref));
  if (seen?.result !== 'Gone' || seen.lastAttemptAt === undefined) return false;
  const timeoutMs = ref.heartbeatTimeoutSeconds * 1000;
  const began = startOf(ref);
  const knowsStart = firstLookAt !== undefined && firstLookAt - began < timeoutMs;
  const last = seen.lastHeartbeatAt ?? (knowsStart ? began : undefined);
  return last !== undefined && seen.lastAttemptAt - last >= timeoutMs;
};

/** A failed drain keeps its instance where the group's policy asks for that. */
export const hookResult = ({
  disruption,
  group,
}: Pick<Observation, 'disruption' | 'group'>): 'CONTINUE' | 'ABANDON' =>
  disruption.status?.outcome === 'Failed' && group?.spec.drain?.onFailure === 'retain'
    ? 'ABANDON'
    : 'CONTINUE';

/** The hooks of these causes with their state, from this process's memory or from the status. */
export const knownHooks = (
  observation: Observation,
  causes: readonly DisruptionCause[],
): readonly KnownHook[] => {
  const { disruption, memory, now } = observation;
  return hooksOf(causes).map((ref) => {
    const key = hookKey(ref);
    const before = disruption.status?.hooks?.find((hook) => hookKey(hook) === key);
    const seen = memory.hooks.get(key);
    const settled = before?.state === 'Open' ? undefined : before?.state;
    const expired = now >= hookEnd(ref) ? 'Expired' : 'Open';
    const ended = hasTimedOut(ref, memory) ? 'Expired' : seen?.result;
    const state = settled ?? ended ?? expired;
    const at = seen?.lastHeartbeatAt;
    const lastHeartbeatAt = at === undefined ? before?.lastHeartbeatAt : formatTime(at);
    const status: HookStatus = {
      autoScalingGroupName: ref.autoScalingGroupName,
      name: ref.name,
      state,
      endsAt: formatTime(hookEnd(ref)),
      ...defined({ token: ref.token, lastHeartbeatAt }),
      ...(state === 'Completed' ? { result: before?.result ?? hookResult(observation) } : {}),
    };
    return { ref, memory: seen, status };
  });
};

/**
 * When to send the next heartbeat. At once for a hook found by polling, because its start is
 * unknown. Also at once where another process sent the last one: its clock may be ahead of ours by
 * more than the hook's timeout.
 */
export const heartbeatDue = (hook: KnownHook): EpochMs => {
  const isOurs = hook.status.lastHeartbeatAt === undefined && hook.ref.token !== undefined;
  const began = isOurs ? epochMs(startOf(hook.ref)) : undefined;
  const last = hook.memory?.lastHeartbeatAt ?? began;
  const regular = last === undefined ? 0 : last + heartbeatInterval(hook.ref);
  // Waits after a failure, but never so long that the hook runs out between two tries.
  return epochMs(Math.max(regular, nextTry(hook.memory)));
};

/** When to complete the hook: at once, or after the backoff of a failed call. */
export const completionDue = (hook: KnownHook): EpochMs => epochMs(nextTry(hook.memory));
