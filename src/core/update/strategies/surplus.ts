// How EKS' strategies (DEFAULT, MINIMAL) remove nodes above the desired size, one at a time.
// Without force each is drained under budgets before termination, and a drain that times out fails
// the update as in phase Rolling. With force it works as on EKS: Auto Scaling chooses the instance,
// and its lifecycle hook drains it. Pure.
import { epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import type { NodeGroupUpdateStatus } from '../../../api/nodegroup-update.ts';
import type { UpdateWaitingOn } from '../../../api/update-waiting.ts';
import { heldBy, joinTimeoutMs } from '../../nodegroup/index.ts';
import { atMost, leave, surplusLeft } from '../ending/ending.ts';
import { stay } from '../ending/waiting.ts';
import { explainUpdateWaiting, passingWords } from '../explain-waiting.ts';
import type {
  UpdateDecision,
  UpdateInstance,
  UpdateObservation,
  UpdateSurge,
} from '../observation.ts';
import { isHeld } from '../pacing/index.ts';
import { fail, notEvicted } from '../records/journal.ts';
import { type Counted, type GroupNodes, isServing, phaseSince } from '../records/nodes.ts';
import { isHopeless } from './gate.ts';

const none = { desired: 0, maxSize: 0 } as const;

/** No instance is terminating, and Auto Scaling has none left to choose. */
const isSettled = ({ actualDesired }: UpdateObservation, { old, fresh, leaving }: GroupNodes) =>
  leaving.length === 0 && old.length + fresh.length <= actualDesired;

/**
 * Like EKS, it lowers the size by one when the previous instance is gone. It removes only the
 * surge: if the group was made smaller meanwhile, the scale-in that follows removes those nodes
 * under budgets.
 */
const decideByForce = (observation: UpdateObservation, groupNodes: GroupNodes): UpdateDecision => {
  const { surge, desired, actualDesired, status } = observation;
  const over = actualDesired - desired - surge.desired;
  const isSurplus = (status.surge ?? 0) > 0 && desired >= (status.original?.desired ?? 0);
  if (!isSettled(observation, groupNodes)) return decideUnsettled(observation, groupNodes);
  if (status.waitingSince !== undefined) {
    return stay(observation, { change: { waitingSince: undefined } });
  }
  if (over === 1 && isSurplus) {
    // The lower size is in the status, but the call was not made yet.
    return stay(observation, { steps: [{ kind: 'Lower', desired: actualDesired - 1 }] });
  }
  if (surge.desired === 0) {
    return stay(observation, { surge: none, end: { status: 'Successful' } });
  }
  const left = surge.desired - 1;
  const next = { desired: left, maxSize: left };
  const lower = over > 0 ? actualDesired - 1 : desired + left;
  return stay(observation, { surge: next, steps: [{ kind: 'Lower', desired: lower }] });
};

const nobodyLeft = (
  { desired, groupName }: UpdateObservation,
  { old, fresh }: GroupNodes,
): UpdateDecision['end'] & object => {
  const over = old.length + fresh.length - desired;
  const nodes =
    over === 1 ? 'instance more than asked for stays' : 'instances more than asked for stay';
  const message =
    `${over} ${nodes} in node group ${groupName}: EC2 Auto Scaling was asked to take one back ` +
    'and none left for 15 minutes. Look for protection from scale-in.';
  return { status: 'Successful', message };
};

/** Records since when no instance can be removed; undefined: the wait is over. */
const waitsLonger = (observation: UpdateObservation): UpdateDecision | undefined => {
  const { status, now } = observation;
  const noted = parseTime(status.waitingSince);
  if (noted === undefined) return stay(observation, { change: { waitingSince: formatTime(now) } });
  const late = epochMs(Math.max(noted, phaseSince(observation)) + joinTimeoutMs);
  return now < late ? stay(observation, { wakeAt: late }) : undefined;
};

/**
 * Auto Scaling was asked for fewer instances and terminates none, usually because of scale-in
 * protection. After the join timeout the update requests the whole reduction at once and ends,
 * since all nodes are new. Its message reports that.
 */
const decideUnsettled = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): UpdateDecision => {
  const { surge, desired, actualDesired, status } = observation;
  if (groupNodes.leaving.length > 0) {
    return status.waitingSince === undefined
      ? stay(observation)
      : stay(observation, { change: { waitingSince: undefined } });
  }
  const waits = waitsLonger(observation);
  if (waits !== undefined) return waits;
  if (surge.desired > 0 || actualDesired > desired) {
    const steps = actualDesired > desired ? [{ kind: 'Lower', desired } as const] : [];
    return stay(observation, { surge: none, steps });
  }
  return stay(observation, { surge: none, end: nobodyLeft(observation, groupNodes) });
};

/**
 * Nodes that serve least come first, then those that budgets allow; nodes whose budgets are unknown
 * follow.
 */
const rankOf = (one: Counted): number => {
  const { pods, loads } = one.instance;
  if (!isServing(one)) return 0;
  if (pods === 0) return 1;
  if (loads === undefined) return 3;
  return isHopeless(loads) ? 4 : 2;
};

/**
 * Like Auto Scaling, it chooses in the zone with the most instances; undefined: all are protected
 * from scale-in.
 */
const nextToGo = ({ old, fresh }: GroupNodes): Counted | undefined => {
  const all = [...old, ...fresh];
  const open = all.filter(
    ({ state, instance }) => state.kind === 'untouched' && instance.isProtected !== true,
  );
  const idle = open.find((one) => !isServing(one));
  if (idle !== undefined) return idle;
  const sizeOf = (zone: string): number =>
    all.filter(({ instance }) => instance.zone === zone).length;
  const most = Math.max(...open.map(({ instance }) => sizeOf(instance.zone)));
  const [first] = open
    .filter(({ instance }) => sizeOf(instance.zone) === most)
    .toSorted((a, b) => rankOf(a) - rankOf(b));
  return first;
};

/**
 * Protected nodes stay as the update's own surplus. Auto Scaling, asked for fewer, would terminate
 * them undrained as soon as the protection is removed.
 */
const keepProtected = (observation: UpdateObservation, count: number): UpdateDecision => {
  const stays = count === 1 ? 'node more than asked for stays' : 'nodes more than asked for stay';
  const message =
    `${count} ${stays} in node group ${observation.groupName}: protected from scale-in. Take ` +
    'the protection off and update again.';
  return stay(observation, {
    surge: { desired: count, maxSize: count },
    change: { leftover: count },
    end: { status: 'Successful', message },
  });
};

/**
 * EKS' 15 minutes apply here, too. No other node is tried, since this was the best choice. Draining
 * only nodes of one zone would make Auto Scaling rebalance zones without regard to budgets.
 */
const notDrained = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
  failed: readonly Counted[],
): UpdateDecision => {
  const errors = notEvicted(observation, failed);
  const change = fail(observation, errors, failed);
  const left = Math.max(1, surplusLeft(observation, groupNodes));
  const stays = leave({ ...observation, status: { ...observation.status, errors } }, left);
  return stay(observation, { change: { ...change, ...stays } });
};

/** What delays the drain in progress, and until when; undefined: nothing with a deadline. */
const surplusHeld = (
  { disruption, nodeName, instanceId }: UpdateInstance,
  isLeaving: boolean,
): UpdateWaitingOn | undefined => {
  const held = disruption === undefined ? '' : heldBy([disruption]);
  const { phase, deadline, onDeadline } = disruption?.status ?? {};
  if (held === '' || phase !== 'Draining' || deadline === undefined) return undefined;
  const unforced = isLeaving ? 'hookEnds' : 'fail';
  return {
    kind: 'surplus',
    node: nodeName ?? instanceId,
    heldBy: held,
    deadline,
    atDeadline: onDeadline === 'force' ? 'force' : unforced,
  };
};

/** Adds the message about the drain in progress, if the message changed. */
const told = (
  observation: UpdateObservation,
  { old, fresh, leaving }: GroupNodes,
  decided: UpdateDecision,
): UpdateDecision => {
  const { message = '' } = observation.status;
  const going = [...old, ...fresh]
    .filter(({ state }) => state.kind !== 'untouched')
    .map(({ instance }) => instance);
  const [waiting] = [
    ...going.flatMap((one) => surplusHeld(one, false) ?? []),
    ...leaving.flatMap((one) => surplusHeld(one, true) ?? []),
  ];
  const text = waiting && explainUpdateWaiting(waiting);
  const isSaid = decided.change !== undefined && 'message' in decided.change;
  const isOver = text === undefined && message.startsWith(passingWords.surplus);
  const known = { ...decided, ...defined({ waitingOn: waiting && [waiting] }) };
  if (isSaid || (!isOver && (text === undefined || text === message))) return known;
  return { ...known, change: { ...decided.change, message: text } };
};

/** What must happen before the next drain; undefined: the next drain may begin. */
const beforeDrain = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
  next: Counted | undefined,
): UpdateDecision | undefined => {
  const { surge, status, actualDesired, desired } = observation;
  const all = [...groupNodes.old, ...groupNodes.fresh];
  const asked = all.filter(({ state }) => state.kind !== 'untouched');
  const failed = asked.filter(({ state }) => state.kind === 'failed');
  if (failed.length > 0) return notDrained(observation, groupNodes, failed);
  const excess = surplusLeft(observation, groupNodes);
  const isGoing = asked.length > 0 || groupNodes.leaving.length > 0;
  const isStuck = excess > 0 && next === undefined;
  if (!isGoing && (isStuck || all.length > actualDesired)) {
    const waits = waitsLonger(observation);
    if (waits !== undefined) return waits;
    if (isStuck) return keepProtected(observation, excess);
    if (excess <= 0)
      return stay(observation, { surge: none, end: nobodyLeft(observation, groupNodes) });
  } else if (status.waitingSince !== undefined) {
    return stay(observation, { change: { waitingSince: undefined } });
  }
  if (isGoing) return stay(observation);
  if (excess <= 0) {
    // Requested instances that never launched need no drain.
    const there = Math.max(desired, all.length);
    const isOver = actualDesired > there && surge.desired > 0;
    return isOver
      ? stay(observation, { surge: none, steps: [{ kind: 'Lower', desired: there }] })
      : stay(observation, { surge: none, end: { status: 'Successful' } });
  }
  if (isHeld(observation)) return stay(observation);
  return undefined;
};

const decideByDrains = (observation: UpdateObservation, groupNodes: GroupNodes): UpdateDecision => {
  const next = nextToGo(groupNodes);
  const before = beforeDrain(observation, groupNodes, next);
  if (before !== undefined || next === undefined) return before ?? stay(observation);
  const { instanceId } = next.instance;
  return stay(observation, {
    surge: atMost(observation.surge, surplusLeft(observation, groupNodes) - 1),
    steps: [{ kind: 'Retire', instanceId, isSurplus: true }],
  });
};

/** A node of the surplus may be drained. */
export const mayBeginOfSurplus = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): boolean =>
  observation.update.spec.force !== true &&
  beforeDrain(observation, groupNodes, nextToGo(groupNodes)) === undefined;

export const decideScalingDown = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): UpdateDecision => {
  const isForced = observation.update.spec.force === true;
  const decide = isForced ? decideByForce : decideByDrains;
  return told(observation, groupNodes, decide(observation, groupNodes));
};

/**
 * The surge after other actors removed `taken` instances. They are not launched again unless the
 * update needs them: before the first drain and, with BLUE_GREEN, until the old nodes are
 * terminated.
 */
export const surgeWithout = (
  { desired, maxSize }: UpdateSurge,
  taken: number,
  { phase, strategy }: Pick<NodeGroupUpdateStatus, 'phase' | 'strategy'>,
): UpdateSurge => {
  const isNeeded = phase === 'ScalingUp' || (strategy === 'BLUE_GREEN' && phase !== 'ScalingDown');
  const less = isNeeded ? 0 : Math.min(taken, desired);
  return { desired: desired - less, maxSize: Math.max(0, maxSize - less) };
};
