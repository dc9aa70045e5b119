// When there is no node to drain: never joined, deleted, or its instance is gone. Completing a hook
// on that ground is asked of the servers themselves first, past every cache.
import { epochMs, formatTime } from '../../api/brand.ts';
import type { DisruptionOutcome } from '../../api/disruption.ts';
import { autoScalingGroupNameOf } from '../../api/nodegroup.ts';
import type { Step } from '../../api/plan.ts';
import type { Demand } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import { holdBlocker } from './held.ts';
import type { Observation } from './observation.ts';
import { type StatusChange, waitingFields, writeStatus } from './status.ts';
import { endBlockers, mustTerminate } from './terminating.ts';

/** An answer is believed this long; then it is asked for again. */
const believedMs = 30_000;

const fresh = (answer: { readonly at: number } | undefined, now: number): boolean =>
  answer !== undefined && now - answer.at < believedMs;

/** The questions that are open before a missing node is believed. */
const questions = ({ disruption, memory, now }: Observation): readonly Step[] => {
  const { instanceId, nodeName } = disruption.spec;
  const ask = (what: 'noNode' | 'instance'): Step => ({
    kind: 'Confirm',
    what,
    subject: instanceId ?? nodeName ?? disruption.metadata.name,
  });
  return [
    ...(instanceId !== undefined && !fresh(memory.instance, now) ? [ask('instance')] : []),
    ...(fresh(memory.nodeListed, now) ? [] : [ask('noNode')]),
  ];
};

/** Ends the drain of a node that is not there, once that is certain. */
export const withoutNode = (observation: Observation, demand: Demand): Decision => {
  const { disruption, memory } = observation;
  if (demand.heldBy !== undefined && memory.instance?.gone !== true) {
    // Its turn has not come: only an instance that is gone has nothing to wait for.
    const ask = askForInstance(observation);
    return decision({
      steps: ask === undefined ? [] : [ask],
      waitingOn: [holdBlocker(demand.heldBy)],
      wakeAt: [askAgainAt(observation)],
    });
  }
  const open = questions(observation);
  const what = `node of ${disruption.spec.instanceId ?? disruption.spec.nodeName ?? 'nothing'}`;
  if (open.length > 0) {
    const message = 'the cache knows none; asking the server';
    return decision({ steps: open, waitingOn: [{ kind: 'api', what, message }] });
  }
  if (memory.nodeListed?.found === true) {
    const message = 'the server knows it, the cache not yet';
    const at = epochMs(memory.nodeListed.at + believedMs);
    return decision({ waitingOn: [{ kind: 'api', what, message }], wakeAt: [at] });
  }
  const gone = memory.instance?.gone === true;
  const joined = disruption.status?.node !== undefined;
  const outcome: DisruptionOutcome = gone ? 'InstanceGone' : 'NothingToDrain';
  const message = gone
    ? 'the instance is gone'
    : joined
      ? 'the node was deleted'
      : 'the instance never became a node';
  return complete(observation, demand, { outcome, message });
};

/** The write that leaves draining behind: from here on only the hooks and the end are left. */
export const complete = (
  { disruption, now }: Observation,
  demand: Demand,
  how: { readonly outcome: DisruptionOutcome; readonly message: string },
  more: StatusChange = {},
): Decision => {
  const began = disruption.status?.startedAt ?? formatTime(now);
  const { waitingOn: left = [], ...fields } = more;
  const before = mustTerminate(disruption, demand, how.outcome)
    ? endBlockers(demand, how.outcome, now)
    : [];
  const waitingOn = [...before, ...left];
  const change = {
    phase: 'Completing' as const,
    ...how,
    startedAt: began,
    ...(how.outcome === 'Failed' ? {} : { drainedAt: formatTime(now) }),
    podsRemaining: 0,
    completingCauses: demand.causes.map(({ id }) => id),
    ...fields,
    ...waitingFields(waitingOn),
    waitingOnTotal: waitingOn.length - left.length + (more.waitingOnTotal ?? left.length),
  };
  return decision({ steps: [writeStatus({ disruption, demand, change, now })] });
};

/** Asks about the instance of a node that is not Ready; undefined when there is nothing to ask. */
export const askForInstance = ({ disruption, memory, now }: Observation): Step | undefined => {
  const { instanceId } = disruption.spec;
  if (instanceId === undefined || fresh(memory.instance, now)) return undefined;
  return { kind: 'Confirm', what: 'instance', subject: instanceId };
};

/** Whether the cloud is taking the instance: what it says after our last call. undefined = it is to be asked. */
export const isLeaving = ({ memory, now }: Observation): boolean | undefined => {
  const { leaving, terminate } = memory;
  if (terminate?.done === true) return true;
  if (leaving === undefined || !fresh(leaving, now)) return undefined;
  return leaving.at >= (terminate?.at ?? leaving.at) ? leaving.found : undefined;
};

/** Asks Auto Scaling, about its group where that is known, and EC2. */
export const askWhetherLeaving = ({ disruption, group }: Observation): readonly Step[] => {
  const { instanceId } = disruption.spec;
  if (instanceId === undefined) return [];
  const name = group === undefined ? undefined : autoScalingGroupNameOf(group);
  return [
    {
      kind: 'Confirm',
      what: 'leaving',
      subject: instanceId,
      ...(name === undefined ? {} : { autoScalingGroupName: name }),
    },
  ];
};

/** When the answer about the instance is asked for again. */
export const askAgainAt = ({ memory }: Observation) =>
  memory.instance === undefined ? undefined : epochMs(memory.instance.at + believedMs);
