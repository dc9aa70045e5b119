// Decides for an instance without a Node: it never joined, its Node was deleted, or it is
// terminated. Before it completes a hook on that ground, it asks the servers directly, past every
// cache.

import { epochMs, formatTime } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { DisruptionOutcome, NodeDisruption, WaitingOn } from '../../api/disruption.ts';
import { autoScalingGroupNameOf } from '../../api/nodegroup.ts';
import type { Step } from '../../api/plan.ts';
import { stopTimesOfNode } from '../../api/stop-times.ts';
import { classifyPods, mergedStops } from '../drain/index.ts';
import { type Demand, isDue } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import { holdBlocker } from './held.ts';
import type { Memory, Observation } from './observation.ts';
import { classifyOptions, inTheWay } from './pods-left.ts';
import { type StatusChange, waitingFields, writeStatus } from './status.ts';
import { endBlockers, mustTerminate } from './terminating.ts';

/** An answer is valid for this long; after that the question is asked again. */
const believedMs = 30_000;

const fresh = (answer: { readonly at: number } | undefined, now: number): boolean =>
  answer !== undefined && now - answer.at < believedMs;

/** Questions that need an answer before a missing node is accepted as absent. */
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

/** How a drain ends whose instance does not run any longer. */
export const goneOutcome = ({ isStopped = false }: NonNullable<Memory['instance']>) => ({
  outcome: 'InstanceGone' as const,
  message: isStopped
    ? 'EC2 has stopped the instance; its node returns to service when it runs again'
    : 'the instance is gone',
});

/** The name under which the node registered, from the status or from the recorded cause. */
const registeredName = ({ spec, status }: NodeDisruption): string | undefined =>
  status?.node?.name ?? spec.nodeName;

/** Ends the drain of an instance without a Node object, once the servers confirm that. */
export const withoutNode = (observation: Observation, demand: Demand): Decision => {
  const { disruption, memory } = observation;
  const { instanceId } = disruption.spec;
  if (demand.heldBy !== undefined && memory.instance?.gone !== true) {
    // The node is held until its turn. Only an instance that no longer runs does not wait for that.
    const ask = askForInstance(observation);
    return decision({
      steps: ask === undefined ? [] : [ask],
      waitingOn: [holdBlocker(demand.heldBy)],
      wakeAt: [askAgainAt(observation)],
    });
  }
  const open = questions(observation);
  const name = registeredName(disruption);
  if (open.length > 0 && !isDeletedAndDue(observation, demand, name)) {
    const what = `node of ${instanceId ?? name ?? 'nothing'}`;
    const message = 'the cache knows none; asking the server';
    return decision({ steps: open, waitingOn: [{ kind: 'api', what, message }] });
  }
  if (memory.nodeListed?.found === true) {
    const what = `node of ${instanceId ?? name ?? 'nothing'}`;
    const message = 'the server knows it, the cache not yet';
    const at = epochMs(memory.nodeListed.at + believedMs);
    return decision({ waitingOn: [{ kind: 'api', what, message }], wakeAt: [at] });
  }
  if (memory.instance?.gone === true) {
    return complete(observation, demand, goneOutcome(memory.instance));
  }
  if (instanceId === undefined && name !== undefined) {
    return complete(observation, demand, { outcome: 'NothingToDrain', message: deleted(name) });
  }
  // The instance may have registered a Node that was deleted before the cause was recorded; pods
  // bound to the Node's name show that.
  const likelyName = name ?? memory.instance?.nodeName;
  return likelyName === undefined
    ? complete(observation, demand, neverJoined)
    : whileDeleted(observation, demand, likelyName);
};

const deleted = (name: string): string => `Node ${name} was deleted`;
const neverJoined = {
  outcome: 'NothingToDrain' as const,
  message: 'the instance never became a node',
};

/**
 * The deadline does not wait for an answer: an unreachable server must not let the hook run out.
 */
const isDeletedAndDue = (
  { memory, now }: Observation,
  demand: Demand,
  name: string | undefined,
): boolean => {
  const isKnown = memory.instance !== undefined && memory.nodeListed !== undefined;
  return name !== undefined && isKnown && isDue(demand, now);
};

/**
 * A deleted Node object is not a deleted instance (CVE-2025-5187: a node may delete its own and
 * register again without taints). The drain goes on until no pod is bound to that name; the node is
 * marked again when it registers.
 */
const whileDeleted = (observation: Observation, demand: Demand, name: string): Decision => {
  const { disruption, memory, now } = observation;
  const { status } = disruption;
  const { listed } = memory;
  const options = classifyOptions(observation, status);
  const left = listed && inTheWay(classifyPods(listed.pods, options), demand);
  if (left === 0 && fresh(listed, now)) {
    if (registeredName(disruption) === undefined) return complete(observation, demand, neverJoined);
    const message = `${deleted(name)}, and no pod is bound to it`;
    return complete(observation, demand, { outcome: 'NothingToDrain', message });
  }
  if (isDue(demand, now)) {
    const outcome = demand.onDeadline === 'force' ? ('Forced' as const) : ('Failed' as const);
    const message = `${deleted(name)} and did not register again by the deadline`;
    return complete(observation, demand, { outcome, message }, { podsRemaining: left ?? 0 });
  }
  const message = `${deleted(name)} while the instance runs; marked again when it registers`;
  const waitingOn: readonly WaitingOn[] = [{ kind: 'instance', message }];
  const wakeAt = [askAgainAt(observation), demand.deadline];
  if (!fresh(listed, now)) {
    const ask: Step = { kind: 'Confirm', what: 'nodeEmpty', subject: name };
    return decision({ steps: [ask], waitingOn, wakeAt });
  }
  const isWritten = status?.waitingOn?.some(
    (waiting) => waiting.kind === 'instance' && waiting.message === message,
  );
  if (isWritten === true) return decision({ waitingOn, wakeAt });
  const change = { ...waitingFields(waitingOn), podsRemaining: left ?? 0 };
  return decision({
    steps: [writeStatus({ disruption, demand, change, now })],
    waitingOn,
    wakeAt,
  });
};

/** Stop times of this episode and of earlier ones. */
const stopsOf = ({ status }: NodeDisruption, { stopTimes = [] }: Memory): StatusChange => {
  const all = mergedStops([...(status?.stopTimes ?? []), ...stopTimes], stopTimesOfNode);
  return all.length === 0 ? {} : { stopTimes: all };
};

/** The write that ends the drain: only the hooks and the end of the instance remain after it. */
export const complete = (
  { disruption, memory, now }: Observation,
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
    ...stopsOf(disruption, memory),
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

/**
 * Whether the cloud is terminating the instance, by its answer after our last call. undefined = the
 * cloud has to be asked.
 */
export const isLeaving = ({ memory, now }: Observation): boolean | undefined => {
  const { leaving, terminate } = memory;
  if (terminate?.done === true) return true;
  if (leaving === undefined || !fresh(leaving, now)) return undefined;
  return leaving.at >= (terminate?.at ?? leaving.at) ? leaving.found : undefined;
};

/** Asks EC2, and Auto Scaling about its group where the group is known. */
export const askWhetherLeaving = ({ disruption, group }: Observation): readonly Step[] => {
  const { instanceId } = disruption.spec;
  if (instanceId === undefined) return [];
  const name = group === undefined ? undefined : autoScalingGroupNameOf(group);
  return [
    {
      kind: 'Confirm',
      what: 'leaving',
      subject: instanceId,
      ...defined({ autoScalingGroupName: name }),
    },
  ];
};

/** The time at which the answer about the instance expires and is asked for again. */
export const askAgainAt = ({ memory }: Observation) =>
  memory.instance === undefined ? undefined : epochMs(memory.instance.at + believedMs);
