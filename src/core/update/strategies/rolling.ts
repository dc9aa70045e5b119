// EKS' two strategies, phase by phase (EKS user guide, "managed node update behavior"). DEFAULT
// launches new nodes first, MINIMAL launches none. Both cordon all old nodes, drain at most
// maxUnavailable at a time in random order and remove the surge one by one. Pure.

import { epochMs } from '../../../api/brand.ts';
import type { UpdateStep } from '../../../api/plan.ts';
import { joinTimeoutMs } from '../../nodegroup/index.ts';
import { awaiting, stay, whileHeld } from '../ending/waiting.ts';
import type { UpdateDecision, UpdateObservation } from '../observation.ts';
import { isHeld, restsInWave } from '../pacing/index.ts';
import { enter, fail, notEvicted, notJoining, notMarked } from '../records/journal.ts';
import {
  type Counted,
  freeToDrain,
  type GroupNodes,
  isHealthyNew,
  isServing,
  phaseSince,
} from '../records/nodes.ts';
import { inOrderOfChance } from './order.ts';

const startSurge = ({ status }: UpdateObservation) => {
  const desired = status.surge ?? 0;
  return { desired, maxSize: desired };
};

/**
 * Every zone that has old nodes has a healthy new one, and every requested instance has joined. A
 * zone as large as the largest zone with new nodes needs none: EC2 Auto Scaling balances zones and
 * launches elsewhere.
 */
const hasNewNodes = (observation: UpdateObservation, { old, fresh }: GroupNodes): boolean => {
  const { desired, actualDesired } = observation;
  const wanted = desired + startSurge(observation).desired;
  const counted = old.length + fresh.length;
  if (actualDesired < wanted || counted < wanted) return false;
  const zones = new Set(fresh.filter(isHealthyNew).map(({ instance }) => instance.zone));
  const sizes = new Map<string, number>();
  for (const { instance } of [...old, ...fresh]) {
    sizes.set(instance.zone, (sizes.get(instance.zone) ?? 0) + 1);
  }
  const sizeOf = (zone: string): number => sizes.get(zone) ?? 0;
  const fullest = Math.max(0, ...[...zones].map(sizeOf));
  const isServed = (zone: string): boolean => zones.has(zone) || sizeOf(zone) >= fullest;
  return fresh.every(isHealthyNew) && old.every(({ instance }) => isServed(instance.zone));
};

export const decideScalingUp = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): UpdateDecision => {
  const surge = startSurge(observation);
  if (groupNodes.old.length === 0) {
    return stay(observation, { surge, change: enter(observation, 'ScalingDown') });
  }
  if (hasNewNodes(observation, groupNodes)) {
    return stay(observation, { surge, change: enter(observation, 'Marking') });
  }
  const late = epochMs(phaseSince(observation) + joinTimeoutMs);
  if (observation.now < late) return stay(observation, { surge, wakeAt: late });
  return stay(observation, { surge, change: fail(observation, notJoining(observation)) });
};

const holdUntouched = ({ old }: GroupNodes): readonly UpdateStep[] =>
  old
    .filter(({ state }) => state.kind === 'untouched')
    .map(({ instance }) => ({ kind: 'Hold', instanceId: instance.instanceId }));

/**
 * No node is marked while the update is held: marked nodes would get no traffic for all that time.
 */
export const decideMarking = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): UpdateDecision => {
  const isBegun = groupNodes.old.some(({ state }) => state.kind === 'held');
  if (!isBegun && isHeld(observation)) return stay(observation);
  const steps = holdUntouched(groupNodes);
  // An instance that never became a node cannot be marked.
  const isMarked = ({ instance, state }: Counted): boolean =>
    state.kind === 'held'
      ? state.isMarked || instance.nodeName === undefined
      : state.kind !== 'untouched';
  const unmarked = groupNodes.old.filter((one) => !isMarked(one));
  if (unmarked.length > 0) {
    const since = phaseSince(observation);
    // The hold has just ended and less than half of the marking timeout remains: restart the
    // timeout.
    const wasHeld = (observation.status.holds ?? []).length > 0;
    const isShort = observation.now >= since + joinTimeoutMs / 2;
    if (wasHeld && isShort && !isBegun && steps.length > 0) {
      return stay(observation, { steps, change: enter(observation, 'Marking') });
    }
    const late = epochMs(since + joinTimeoutMs);
    if (observation.now < late) return stay(observation, { steps, wakeAt: late });
    return stay(observation, { change: fail(observation, notMarked(observation, unmarked)) });
  }
  return stay(observation, { steps, change: enter(observation, 'Rolling') });
};

export const decideRolling = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): UpdateDecision => {
  const { old, fresh, leavingOld } = groupNodes;
  const failed = old.filter(({ state }) => state.kind === 'failed');
  if (failed.length > 0) {
    return stay(observation, {
      change: fail(observation, notEvicted(observation, failed), failed),
    });
  }
  const isThrough = old.length === 0 && leavingOld.length === 0;
  if (isThrough && fresh.every(isHealthyNew) && !restsInWave(observation)) {
    return stay(observation, { change: enter(observation, 'ScalingDown') });
  }
  if (isHeld(observation)) {
    return whileHeld(observation, stay(observation, { steps: holdUntouched(groupNodes) }));
  }
  const { slots, spare } = freeToDrain(observation, groupNodes);
  const held = old.filter(({ state }) => state.kind === 'held');
  // Nodes that do not serve cost no capacity when drained, and do not recover.
  const idle = held.filter((one) => !isServing(one));
  const order = inOrderOfChance(
    held.filter((one) => !idle.includes(one)),
    ({ instance }) => instance.instanceId,
    observation,
  );
  const first = idle.slice(0, slots);
  const chosen = [...first, ...order.slice(0, Math.min(slots - first.length, spare))];
  const steps = [
    ...holdUntouched(groupNodes),
    ...chosen.map(
      ({ instance }): UpdateStep => ({ kind: 'Lift', instanceId: instance.instanceId }),
    ),
  ];
  return awaiting(observation, groupNodes, chosen.length === 0, stay(observation, { steps }));
};
