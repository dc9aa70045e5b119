// The wait for requested nodes. It lasts as long as on EKS, and its start is recorded in the
// status. Pure.
import { epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import { joinTimeoutMs } from '../../nodegroup/index.ts';
import type { UpdateDecision, UpdateObservation } from '../observation.ts';
import { fail, notJoining } from '../records/journal.ts';
import { type GroupNodes, inFlightOf, isHealthyNew } from '../records/nodes.ts';

/** A decision that changes nothing but `more`: phase and surge stay. */
export const stay = (
  { surge }: UpdateObservation,
  more: Partial<UpdateDecision> = {},
): UpdateDecision => ({ change: undefined, surge, steps: [], ...more });

/** Only requested instances that have not joined keep the update waiting. */
const waitsForNodes = (observation: UpdateObservation, groupNodes: GroupNodes): boolean => {
  const { old, fresh, leaving } = groupNodes;
  // In a soak only hooks on old nodes are in flight, and they wait for the new nodes, too.
  const isUnderWay = observation.status.phase !== 'Soaking' && inFlightOf(groupNodes).length > 0;
  if (isUnderWay || leaving.length > 0) return false;
  // A hook has a timeout of its own.
  if (fresh.some(({ instance }) => instance.awaitsHook === true)) return false;
  return old.length + fresh.length < observation.actualDesired || !fresh.every(isHealthyNew);
};

/**
 * The wait for new nodes does not run while the update is paused or its window is closed; it
 * restarts afterwards.
 */
export const whileHeld = (
  { status, update, holds = [] }: UpdateObservation,
  decided: UpdateDecision,
): UpdateDecision => {
  const rests =
    update.spec.paused === true || holds.some(({ kind }) => kind === 'Window' || kind === 'Freeze');
  if (!rests || status.waitingSince === undefined) return decided;
  return { ...decided, change: { ...decided.change, waitingSince: undefined } };
};

/**
 * Fails an idle update that has waited for new nodes longer than the join timeout; else returns
 * `decided`.
 */
export const awaiting = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
  isIdle: boolean,
  decided: UpdateDecision,
): UpdateDecision => {
  const { status, now } = observation;
  if (!isIdle || !waitsForNodes(observation, groupNodes)) {
    if (status.waitingSince === undefined) return decided;
    return { ...decided, change: { ...decided.change, waitingSince: undefined } };
  }
  const since = parseTime(status.waitingSince);
  if (since === undefined) {
    return { ...decided, change: { ...decided.change, waitingSince: formatTime(now) } };
  }
  const late = epochMs(since + joinTimeoutMs);
  if (now < late) return { ...decided, wakeAt: late };
  return { ...decided, change: fail(observation, notJoining(observation)) };
};
