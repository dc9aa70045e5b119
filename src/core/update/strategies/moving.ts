// Whether instances are coming or going by an update, which nobody but the cloud tells. What
// happens on a node is told by its record, and when time alone decides is in the decision. Pure.
import { type EpochMs, parseTime } from '../../../api/brand.ts';
import type { UpdateInstance, UpdateObservation } from '../observation.ts';
import { type Herd, isJoined, phaseSince } from '../records/nodes.ts';

/** An instance that has not become a node by then is no reason any more to look often. */
const patienceMs = 180_000;

/**
 * What is taken out of its group is gone within seconds, unless its drain takes that long: budgets
 * may hold one for hours, and its record tells when it is over.
 */
const isLeaving = ({ disruption }: UpdateInstance, now: EpochMs): boolean => {
  const isDraining = disruption?.status?.phase === 'Draining';
  const since = parseTime(disruption?.status?.startedAt);
  return !isDraining || since === undefined || now < since + patienceMs;
};

export const isMoving = (observation: UpdateObservation, herd: Herd): boolean => {
  const { old, fresh, leaving } = herd;
  const { status, now, actualDesired } = observation;
  const isGoing = [...old, ...fresh].some(({ state }) => state.kind === 'drained');
  if (isGoing || leaving.some((one) => isLeaving(one, now))) return true;
  const haveJoined = fresh.every(({ instance }) => isJoined(instance));
  if (haveJoined && old.length + fresh.length === actualDesired) return false;
  // Rolling notes since when it waits for new nodes alone.
  const noted = parseTime(status.waitingSince);
  const since = noted ?? (status.phase === 'Rolling' ? now : phaseSince(observation));
  return now < since + patienceMs;
};
