// Completing: the node is done with, its hooks are told, and so is whoever asked. What was decided
// stands in the status; a call that is repeated after a crash finds its work done.
import { type EpochMs, epochMs, formatTime } from '../../api/brand.ts';
import type { WaitingOn } from '../../api/disruption.ts';
import type { Step } from '../../api/plan.ts';
import { causesInForce, type Demand, endsByItself, handledIds } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import { completionDue, type KnownHook } from './hooks.ts';
import type { Observation } from './observation.ts';
import { waitingFields, writeStatus } from './status.ts';

const terminateAgainMs = 5_000;

const completeStep = ({ ref }: KnownHook, instanceId: string): Step => ({
  kind: 'CompleteHook',
  autoScalingGroupName: ref.autoScalingGroupName,
  hookName: ref.name,
  instanceId,
  ...(ref.token === undefined ? {} : { token: ref.token }),
  result: 'CONTINUE',
});

const hookBlocker = (hook: KnownHook, dueAt: EpochMs): WaitingOn => ({
  kind: 'hook',
  autoScalingGroupName: hook.ref.autoScalingGroupName,
  hookName: hook.ref.name,
  message: hook.memory?.message ?? 'being completed',
  retryAt: formatTime(dueAt),
});

/** Whether the instance itself is still to be asked for: nobody else will take it. */
const mustTerminate = ({ disruption }: Observation, demand: Demand): boolean => {
  const { followUp } = demand;
  if (followUp !== 'Terminate' && followUp !== 'Replace') return false;
  const { outcome } = disruption.status ?? {};
  if (outcome === 'Failed' || outcome === 'InstanceGone') return false;
  // One that came during Completing counts here: it may be the notice of this very termination.
  const goes = causesInForce(disruption).some(({ kind }) => endsByItself[kind]);
  return disruption.spec.instanceId !== undefined && !goes;
};

const terminate = (observation: Observation, demand: Demand): Decision => {
  const { disruption, memory, now } = observation;
  const { instanceId } = disruption.spec;
  if (instanceId === undefined || memory.terminate?.done === true) return decision({});
  const { terminate: tried } = memory;
  const wait = tried === undefined ? 0 : terminateAgainMs * Math.min(6, tried.failures);
  const dueAt = epochMs((tried?.at ?? now) + wait);
  const message = tried?.message ?? 'being terminated';
  const waitingOn: readonly WaitingOn[] = [{ kind: 'instance', message }];
  if (now < dueAt) return decision({ waitingOn, wakeAt: [dueAt] });
  const decrementDesired = demand.followUp === 'Terminate';
  const step: Step = { kind: 'TerminateInstance', instanceId, decrementDesired };
  return decision({ steps: [step], waitingOn });
};

/** What was to be completed without a drain has a node again: the next episode drains it. */
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

export const decideCompleting = (observation: Observation, demand: Demand): Decision => {
  const { disruption, node, now } = observation;
  const { instanceId } = disruption.spec;
  const open = demand.hooks.filter(({ status }) => status.state === 'Open');
  const isBack = node !== undefined && disruption.status?.outcome === 'NothingToDrain';
  if (isBack && open.length > 0) return beginAgain(observation);
  if (open.length > 0 && instanceId !== undefined) {
    const due = open.filter((hook) => completionDue(hook) <= now);
    return decision({
      steps: due.map((hook) => completeStep(hook, instanceId)),
      waitingOn: open.map((hook) => hookBlocker(hook, completionDue(hook))),
      wakeAt: open.map(completionDue),
    });
  }
  if (mustTerminate(observation, demand)) {
    const decided = terminate(observation, demand);
    if (decided.waitingOn.length > 0) return decided;
  }
  return end(observation, demand);
};

const end = ({ disruption, now }: Observation, demand: Demand): Decision => {
  const before = disruption.status;
  const reboot = demand.followUp === 'Reboot' && before?.outcome !== 'Failed';
  const message = reboot
    ? 'drained and left cordoned: this version does not reboot instances'
    : before?.message;
  const failed = before?.outcome === 'Failed' || before?.outcome === 'Forced';
  const change = {
    phase: 'Ended' as const,
    endedAt: formatTime(now),
    // A cause that came meanwhile is not among them: it opens the next episode.
    handledCauses: handledIds(disruption, demand.causes),
    ...(message === undefined ? {} : { message }),
    ...(failed ? {} : waitingFields([])),
  };
  return decision({ steps: [writeStatus({ disruption, demand, change, now })] });
};
