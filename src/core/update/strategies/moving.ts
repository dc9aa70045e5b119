// Whether an update has instances launching or terminating, which only polling the cloud shows.
// Drain progress is in the NodeDisruption, and decisions by time carry a `wakeAt`. Pure.
import { type EpochMs, parseTime } from '../../../api/brand.ts';
import type { UpdateInstance, UpdateObservation } from '../observation.ts';
import { type GroupNodes, isJoined, phaseSince } from '../records/nodes.ts';

/** After this an instance that has not joined is not worth frequent polling. */
const patienceMs = 180_000;

/**
 * A terminating instance is gone within seconds, except while it is drained. Budgets may delay a
 * drain for hours, and its NodeDisruption shows the end.
 */
const isLeaving = ({ disruption }: UpdateInstance, now: EpochMs): boolean => {
  const isDraining = disruption?.status?.phase === 'Draining';
  const since = parseTime(disruption?.status?.startedAt);
  return !isDraining || since === undefined || now < since + patienceMs;
};

export const isMoving = (observation: UpdateObservation, groupNodes: GroupNodes): boolean => {
  const { old, fresh, leaving } = groupNodes;
  const { status, now, actualDesired } = observation;
  const isGoing = [...old, ...fresh].some(({ state }) => state.kind === 'drained');
  if (isGoing || leaving.some((one) => isLeaving(one, now))) return true;
  const haveJoined = fresh.every(({ instance }) => isJoined(instance));
  if (haveJoined && old.length + fresh.length === actualDesired) return false;
  // In phase Rolling, `waitingSince` is when the update began to wait for new nodes only.
  const noted = parseTime(status.waitingSince);
  const since = noted ?? (status.phase === 'Rolling' ? now : phaseSince(observation));
  return now < since + patienceMs;
};
