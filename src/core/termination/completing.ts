// Completing: the drain is over; its hooks are completed and its follow-up is carried out. The
// decision is recorded in the status, so repeating a call after a crash is harmless.

import { type EpochMs, formatTime } from '../../api/brand.ts';
import { isReady } from '../../api/conditions.ts';
import { defined } from '../../api/defined.ts';
import type { DisruptionCause, NodeDisruptionStatus, WaitingOn } from '../../api/disruption.ts';
import type { Step } from '../../api/plan.ts';
import { askAgainAt, askForInstance, askWhetherLeaving, isLeaving } from './absence.ts';
import { type Demand, handledIds } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import { detach, mustDetach } from './detaching.ts';
import { terminationBlocker } from './held.ts';
import { completionDue, hookResult, type KnownHook } from './hooks.ts';
import type { Observation } from './observation.ts';
import { mustReboot, reboot } from './rebooting.ts';
import { type StatusChange, waitingFields, writeStatus } from './status.ts';
import { isEndBlocker, isTakenBack, mustTerminate, terminate } from './terminating.ts';

const completeStep = (
  { ref }: KnownHook,
  instanceId: string,
  result: 'CONTINUE' | 'ABANDON',
): Step => ({
  kind: 'CompleteHook',
  autoScalingGroupName: ref.autoScalingGroupName,
  hookName: ref.name,
  instanceId,
  result,
});

const hookBlocker = (hook: KnownHook, dueAt: EpochMs): WaitingOn => ({
  kind: 'hook',
  autoScalingGroupName: hook.ref.autoScalingGroupName,
  hookName: hook.ref.name,
  message: hook.memory?.message ?? 'being completed',
  retryAt: formatTime(dueAt),
});

/**
 * The hook was to be completed without a drain, but the node exists again: the next episode drains
 * it.
 */
const beginAgain = ({ disruption, now }: Observation): Decision => {
  const change = {
    phase: 'Ended' as const,
    message: 'the node came back before its hooks were completed',
    endedAt: formatTime(now),
    handledCauses: handledIds(disruption, []),
    ...waitingFields([]),
  };
  return decision({ steps: [writeStatus({ disruption, change, now })] });
};

/**
 * The node is drained and its termination is on hold. The instance may still be terminated by
 * others, so it is asked about when its node is missing or not Ready. `waitingOn` is empty once it
 * is gone.
 */
const whileKept = (observation: Observation, keptBy: DisruptionCause): Decision => {
  const { memory, node } = observation;
  if (memory.instance?.gone === true) return decision({});
  const waitingOn = [terminationBlocker(keptBy)];
  if (node !== undefined && isReady(node)) return decision({ waitingOn });
  const ask = askForInstance(observation);
  const steps = ask === undefined ? [] : [ask];
  return decision({ steps, waitingOn, wakeAt: [askAgainAt(observation)] });
};

export const decideCompleting = (observation: Observation, demand: Demand): Decision => {
  const { disruption, node, now } = observation;
  const { instanceId } = disruption.spec;
  const open = demand.hooks.filter(({ status }) => status.state === 'Open');
  const isBack = node !== undefined && disruption.status?.outcome === 'NothingToDrain';
  if (isBack && open.length > 0) return beginAgain(observation);
  if (open.length > 0 && instanceId !== undefined) {
    const due = open.filter((hook) => completionDue(hook) <= now);
    return decision({
      steps: due.map((hook) => completeStep(hook, instanceId, hookResult(observation))),
      waitingOn: open.map((hook) => hookBlocker(hook, completionDue(hook))),
      wakeAt: open.map(completionDue),
    });
  }
  if (mustTerminate(disruption, demand, disruption.status?.outcome)) {
    const { keptBy } = demand;
    const decided =
      keptBy === undefined ? terminate(observation, demand) : whileKept(observation, keptBy);
    if (decided.waitingOn.length > 0) return decided;
  }
  if (mustReboot(disruption, demand, disruption.status?.outcome)) {
    const decided = reboot(observation, demand);
    if (decided.waitingOn.length > 0) return decided;
  }
  if (mustDetach(disruption, demand, disruption.status?.outcome)) {
    const decided = detach(observation, demand);
    if (decided.waitingOn.length > 0) return decided;
  }
  if (!isTakenBack(observation, demand)) return end(observation, demand);
  const leaving = isLeaving(observation);
  if (leaving === undefined) {
    const message = 'withdrawn; asking the cloud whether it is being terminated already';
    const steps = askWhetherLeaving(observation);
    return decision({ steps, waitingOn: [{ kind: 'instance', message }] });
  }
  // Too late to withdraw: the follow-up and the marks remain.
  const { followUp } = disruption.status ?? {};
  return end(observation, demand, leaving && followUp !== undefined ? { followUp } : {});
};

/** Keeps the blockers that name the remaining pods, which explain why the drain was forced. */
const withoutEndBlockers = ({
  waitingOn,
  waitingOnTotal = 0,
}: NodeDisruptionStatus): StatusChange => {
  const rest = waitingOn?.filter((one) => !isEndBlocker(one)) ?? [];
  const gone = (waitingOn?.length ?? 0) - rest.length;
  return gone === 0 ? {} : { waitingOn: rest, waitingOnTotal: waitingOnTotal - gone };
};

/** The message about a hook that ended before Drover completed it. */
const endedEarly = (
  { hooks }: Demand,
  outcome: NodeDisruptionStatus['outcome'],
): string | undefined => {
  const expired = hooks.find(({ status: { state } }) => state === 'Expired');
  if (expired !== undefined) return `hook ${expired.ref.name} had timed out`;
  // While the instance exists, the hook may have ended by our own call whose answer was lost.
  const gone = hooks.find(({ status: { state } }) => state === 'Gone');
  return gone !== undefined && outcome === 'InstanceGone'
    ? `hook ${gone.ref.name} had ended`
    : undefined;
};

const end = (
  { disruption, memory, now }: Observation,
  demand: Demand,
  more: StatusChange = {},
): Decision => {
  const before = disruption.status;
  const isRebooted = mustReboot(disruption, demand, before?.outcome);
  const isDetached = memory.detach?.done === true;
  const done = isRebooted
    ? 'drained and rebooted; cordoned until it is healthy'
    : isDetached
      ? 'drained and detached from its group; cordoned for inspection'
      : before?.message;
  const early = endedEarly(demand, before?.outcome);
  const message = early === undefined ? done : `${done ?? 'ended'}; ${early}`;
  const failed = before?.outcome === 'Failed' || before?.outcome === 'Forced';
  const change = {
    phase: 'Ended' as const,
    endedAt: formatTime(now),
    // A cause that arrived in the meantime is not among them: it opens the next episode.
    handledCauses: handledIds(disruption, demand.causes),
    ...defined({ message }),
    ...(failed ? withoutEndBlockers(before) : waitingFields([])),
    ...more,
  };
  return decision({ steps: [writeStatus({ disruption, demand, change, now })] });
};
