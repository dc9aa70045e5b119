// A repair with a decided action: its cause is recorded, the disruption path drains the node and
// terminates or reboots the instance, then the effect is verified. A reboot that does not help is
// followed by the next action. Nothing here touches a node or an instance. Pure.
import { epochMs, formatTime, parseTime } from '../../api/brand.ts';
import type { DisruptionCause, FollowUp, NodeDisruption } from '../../api/disruption.ts';
import type {
  NodeRepair,
  NodeRepairStatus,
  RepairAction,
  RepairAttempt,
  RepairBlocker,
} from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { canDrain } from '../health/index.ts';
import { wasHandled } from '../termination/index.ts';
import { nextBundle } from './bundle.ts';
import { causeIdOf, dueOf, recoversAt } from './episode.ts';
import type { RepairMember, RepairObservation, RepairStep } from './observation.ts';
import { repairModeOf, repairTimesOf } from './policy.ts';
import { feasible, kept } from './quarantine.ts';
import { holdBlocker, type Taken } from './waiting.ts';

/**
 * Drain time of a node whose kubelet is not Ready: its pods are evicted, but cannot stop cleanly.
 */
const deadDrainMs = 2 * 60_000;
const rebootWithinMs = 10 * 60_000;
/** EC2 Auto Scaling terminates the old instance before or while it launches the new one. */
const replaceSlackMs = 5 * 60_000;

export interface Running {
  readonly status: NodeRepairStatus;
  readonly steps: readonly RepairStep[];
}

const followUpOf: Readonly<Record<RepairAction, FollowUp>> = {
  Replace: 'Replace',
  Reboot: 'Reboot',
  Quarantine: 'Detach',
  NoAction: 'Release',
};

const causeOf = (
  repair: NodeRepair,
  attempt: RepairAttempt,
  member: RepairMember,
  { group }: RepairObservation,
): DisruptionCause => {
  // The drain time of a dead node starts after the wait for its log bundle.
  const since = parseTime(attempt.bundle?.endedAt ?? attempt.startedAt) ?? epochMs(0);
  const { drainTimeoutSeconds } = group.spec.nodeRepair ?? {};
  const drainMs = canDrain(member.health)
    ? drainTimeoutSeconds === undefined
      ? undefined
      : drainTimeoutSeconds * 1000
    : deadDrainMs;
  const { condition, reason, unhealthySince, requested } = repair.spec;
  return {
    kind: 'Repair',
    id: attempt.causeId,
    receivedAt: attempt.startedAt,
    ...(drainMs === undefined ? {} : { deadline: formatTime(epochMs(since + drainMs)) }),
    onDeadline: 'force',
    followUp: followUpOf[attempt.action],
    requestedBy: requested?.by ?? 'node repair',
    reason: `${condition} ${reason} since ${unhealthySince} (NodeRepair ${repair.metadata.name})`,
  };
};

/** Whether the drain for the cause has ended. */
const isServed = ({ status, spec }: NodeDisruption, causeId: string): boolean => {
  const cause = spec.causes.find(({ id }) => id === causeId);
  return cause !== undefined && wasHandled(cause, status?.handledCauses ?? []);
};

/** Whether the repair can still be cancelled: nothing was done to the instance yet. */
const isDraining = ({ status }: NodeDisruption): boolean =>
  status === undefined || ['Pending', 'Marking', 'Draining'].includes(status.phase);

const withAttempt = (
  { status }: NodeRepair,
  change: Partial<RepairAttempt>,
): readonly RepairAttempt[] => {
  const attempts = status?.attempts ?? [];
  return attempts.map((attempt, index) =>
    index === attempts.length - 1 ? { ...attempt, ...change } : attempt,
  );
};

const same = (repair: NodeRepair, steps: readonly RepairStep[] = []): Running => ({
  status: repair.status ?? { phase: 'Repairing' },
  steps,
});

const ended = (
  repair: NodeRepair,
  observation: RepairObservation,
  how: Pick<NodeRepairStatus, 'phase' | 'message'> & { readonly replacement?: string },
): Running => {
  const endedAt = formatTime(observation.now);
  const { action: _action, ...rest } = repair.status ?? {};
  const attempts =
    how.phase === 'Cancelled'
      ? (repair.status?.attempts ?? [])
      : withAttempt(repair, {
          outcome: how.phase === 'Succeeded' ? 'Succeeded' : 'Failed',
          ...(how.message === undefined ? {} : { message: how.message }),
        });
  return { status: { ...rest, ...how, attempts, endedAt }, steps: [] };
};

/** The action to try after the last one, if the rule for the episode's finding has one. */
const nextAction = (group: NodeGroup, repair: NodeRepair, member: RepairMember | undefined) => {
  // An operator requested this single action.
  if (member === undefined || repair.spec.requested !== undefined) return undefined;
  const due = dueOf(group, member, repair.status?.findings ?? []);
  const tried = repair.status?.attempts?.length ?? 0;
  return due?.actions[tried] ?? (tried === 1 ? ('Replace' as const) : undefined);
};

/**
 * A hold that was set after the start: the phase stays, so the repair acts once the hold is
 * removed.
 */
const held = (
  { status }: NodeRepair,
  blockedBy: readonly RepairBlocker[],
  message: string,
): Running => ({
  status: {
    phase: 'Repairing',
    ...status,
    message: message.slice(0, 500),
    blockedBy,
  },
  steps: [],
});

/**
 * A reboot that did not help is followed by the next action, once and when no owner forbids it;
 * anything else has failed.
 */
const failed = (
  repair: NodeRepair,
  observation: RepairObservation,
  member: RepairMember | undefined,
  of: { readonly message: string; readonly taken: Taken },
): Running => {
  const { message, taken } = of;
  const last = repair.status?.attempts?.at(-1);
  const ruled =
    last?.action === 'Reboot' ? nextAction(observation.group, repair, member) : undefined;
  const next =
    ruled === undefined || member === undefined
      ? ruled
      : feasible(ruled, observation, member, taken).action;
  if (next === undefined || member === undefined || repair.status === undefined) {
    return ended(repair, observation, { phase: 'Failed', message });
  }
  const mode = repairModeOf(observation.group);
  if (mode !== 'Enforce') {
    const said = `${message}; ${next} does not follow in mode ${mode}`;
    return ended(repair, observation, { phase: 'Failed', message: said });
  }
  const blockedBy = holdBlocker(observation, member);
  const [blocker] = blockedBy;
  if (blocker !== undefined) {
    return held(repair, blockedBy, `${message}; ${next} waits: ${blocker.message}`);
  }
  const attempts = withAttempt(repair, { outcome: 'Failed', message });
  const startedAt = formatTime(observation.now);
  const causeId = causeIdOf(repair, attempts.length + 1, startedAt);
  const attempt: RepairAttempt = { action: next, causeId, startedAt };
  const status: NodeRepairStatus = {
    ...repair.status,
    phase: 'Repairing',
    action: next,
    message: `${message}; ${next} follows`,
    attempts: [...attempts, attempt],
  };
  return { status, steps: [] };
};

const saidOf: Readonly<Record<RepairAction, string>> = {
  Replace: 'terminated',
  Reboot: 'rebooted',
  Quarantine: 'detached',
  NoAction: 'kept',
};

export const nextRepairing = (
  repair: NodeRepair,
  observation: RepairObservation,
  taken: Taken,
): Running => {
  const { disruptions, members, now, group } = observation;
  const { instanceId } = repair.spec;
  const attempt = repair.status?.attempts?.at(-1);
  if (attempt === undefined) return same(repair);
  const member = members.find((one) => one.instanceId === instanceId);
  const disruption = disruptions.get(instanceId);
  const cause = disruption?.spec.causes.find(({ id }) => id === attempt.causeId);
  if (disruption === undefined || cause === undefined) {
    if (member === undefined) {
      return ended(repair, observation, {
        phase: 'Cancelled',
        message: 'the instance left the group',
      });
    }
    const blockedBy = holdBlocker(observation, member);
    const [blocker] = blockedBy;
    if (blocker !== undefined) {
      return held(repair, blockedBy, `${attempt.action} waits: ${blocker.message}`);
    }
    const bundle = nextBundle(repair, attempt, member, observation);
    if (bundle !== undefined) return bundle;
    const nodeName = member.node?.metadata.name;
    const step: RepairStep = {
      kind: 'RecordCause',
      instanceId,
      ...(nodeName === undefined ? {} : { nodeName }),
      cause: causeOf(repair, attempt, member, observation),
    };
    return same(repair, [step]);
  }
  if (cause.cancelledAt !== undefined) {
    const message = `withdrawn at ${cause.cancelledAt}`;
    return ended(repair, observation, { phase: 'Cancelled', message });
  }
  if (isServed(disruption, attempt.causeId)) {
    const { outcome, message = outcome ?? 'drained' } = disruption.status ?? {};
    if (outcome === 'Failed') return failed(repair, observation, member, { message, taken });
    const attempts = withAttempt(repair, { endedAt: formatTime(now) });
    const said = saidOf[attempt.action];
    const status = { ...repair.status, phase: 'Verifying' as const, attempts, message: said };
    return { status, steps: [] };
  }
  const isAutomatic = repair.spec.requested === undefined;
  const at = member === undefined || !isAutomatic ? undefined : recoversAt(group, member);
  if (at !== undefined && now >= at && isDraining(disruption)) {
    const step: RepairStep = {
      kind: 'WithdrawCause',
      disruption: disruption.metadata.name,
      causeId: attempt.causeId,
    };
    return same(repair, [step]);
  }
  return same(repair);
};

const isHealthy = ({ health }: RepairMember): boolean =>
  health.state === 'Healthy' || health.state === 'Pressure';

/**
 * A healthy member whose node is younger than the repair and is not the replacement of another
 * repair.
 */
const replacementOf = (
  repair: NodeRepair,
  { members, repairs }: RepairObservation,
  of: { readonly since: number; readonly taken: Taken },
): string | undefined => {
  const counted = new Set([
    ...of.taken.replacements,
    ...repairs.flatMap(({ metadata, status }) =>
      metadata.name === repair.metadata.name ? [] : (status?.replacement ?? []),
    ),
  ]);
  return members.find(
    (member) =>
      isHealthy(member) &&
      !counted.has(member.instanceId) &&
      (parseTime(member.node?.metadata.creationTimestamp) ?? 0) >= of.since,
  )?.instanceId;
};

const nextReplaced = (
  repair: NodeRepair,
  observation: RepairObservation,
  taken: Taken,
): Running => {
  const { members, desired, now, group } = observation;
  const attempt = repair.status?.attempts?.at(-1);
  const since = parseTime(attempt?.startedAt) ?? now;
  const isLeft = members.some(({ instanceId }) => instanceId === repair.spec.instanceId);
  if (!isLeft) {
    // Creation times of nodes have whole seconds.
    const of = { since: Math.floor(since / 1000) * 1000, taken };
    const replacement = replacementOf(repair, observation, of);
    if (replacement !== undefined) {
      const message = `replaced by ${replacement}`;
      return ended(repair, observation, { phase: 'Succeeded', message, replacement });
    }
    const healthy = members.filter(isHealthy).length;
    if (healthy >= desired) {
      const { message: done = 'terminated' } = repair.status ?? {};
      const message = `${done}; the group has its ${desired} nodes`;
      return ended(repair, observation, { phase: 'Succeeded', message });
    }
  }
  const until =
    (parseTime(attempt?.endedAt) ?? now) + repairTimesOf(group).startupTimeoutMs + replaceSlackMs;
  if (now < until) return same(repair);
  const message = isLeft ? 'the instance is still in its group' : 'no healthy replacement in time';
  return ended(repair, observation, { phase: 'Failed', message });
};

const nextRebooted = (
  repair: NodeRepair,
  observation: RepairObservation,
  taken: Taken,
): Running => {
  const { members, disruptions, now, group } = observation;
  const { instanceId } = repair.spec;
  const attempt = repair.status?.attempts?.at(-1);
  const member = members.find((one) => one.instanceId === instanceId);
  const cause = disruptions.get(instanceId)?.spec.causes.find(({ id }) => id === attempt?.causeId);
  if (cause?.cancelledAt !== undefined) {
    return ended(repair, observation, { phase: 'Succeeded', message: 'healthy after its reboot' });
  }
  if (member === undefined) {
    return ended(repair, observation, { phase: 'Failed', message: 'the instance left the group' });
  }
  const bootId = member.node?.status.nodeInfo?.bootID;
  const at = recoversAt(group, member);
  const isProven = bootId !== undefined && bootId !== attempt?.bootId && at !== undefined;
  if (isProven && now >= at) {
    const step: RepairStep = {
      kind: 'WithdrawCause',
      disruption: instanceId,
      causeId: attempt?.causeId ?? '',
    };
    return same(repair, [step]);
  }
  const until = (parseTime(attempt?.endedAt) ?? now) + rebootWithinMs;
  if (isProven || now < until) return same(repair);
  const message =
    bootId === attempt?.bootId ? 'the boot id did not change' : 'not healthy after its reboot';
  return failed(repair, observation, member, { message, taken });
};

/** A detachment may have failed, and an instance with a dead kubelet is terminated instead. */
const isDetached = (
  { spec: { instanceId } }: NodeRepair,
  { members, gone }: RepairObservation,
): boolean => !gone.has(instanceId) && members.every((one) => one.instanceId !== instanceId);

export const nextVerifying = (
  repair: NodeRepair,
  observation: RepairObservation,
  taken: Taken,
): Running => {
  const action = repair.status?.attempts?.at(-1)?.action;
  if (action === 'Reboot') return nextRebooted(repair, observation, taken);
  const next = nextReplaced(repair, observation, taken);
  const isOver = next.status.phase === 'Succeeded' || next.status.phase === 'Failed';
  if (action !== 'Quarantine' || !isOver || !isDetached(repair, observation)) return next;
  return { ...next, status: kept(repair, observation, next.status) };
};
