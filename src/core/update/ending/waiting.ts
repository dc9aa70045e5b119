// Waiting for nodes that were asked for: as long as EKS does, since when stands in the journal.
// Pure.
import { epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import { joinTimeoutMs } from '../../nodegroup/index.ts';
import type { UpdateDecision, UpdateObservation } from '../observation.ts';
import { fail, notJoining } from '../records/journal.ts';
import { type Herd, inFlightOf, isWhole } from '../records/nodes.ts';

/** Nothing but what is given: the phase goes on, the surge stays. */
export const stay = (
  { surge }: UpdateObservation,
  more: Partial<UpdateDecision> = {},
): UpdateDecision => ({ change: undefined, surge, steps: [], ...more });

/** Nothing moves, since what was asked of the cloud has not become a node yet. */
const waitsForNodes = (observation: UpdateObservation, herd: Herd): boolean => {
  const { old, fresh, leaving } = herd;
  // In a soak nothing is under way but hooks on old nodes, which wait for the new ones themselves.
  const isUnderWay = observation.status.phase !== 'Soaking' && inFlightOf(herd).length > 0;
  if (isUnderWay || leaving.length > 0) return false;
  // A hook has a time of its own.
  if (fresh.some(({ instance }) => instance.awaitsHook === true)) return false;
  return old.length + fresh.length < observation.actualDesired || !fresh.every(isWhole);
};

/**
 * Nobody waits for new nodes while it is paused, or its window is closed: afterwards their time
 * begins anew.
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

/** The decision, and its end where an idle update has waited for new nodes for too long. */
export const awaiting = (
  observation: UpdateObservation,
  herd: Herd,
  isIdle: boolean,
  decided: UpdateDecision,
): UpdateDecision => {
  const { status, now } = observation;
  if (!isIdle || !waitsForNodes(observation, herd)) {
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
