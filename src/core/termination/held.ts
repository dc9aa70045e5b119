// Held: the node shows its marks and keeps its pods until a cause that does not hold is in force.
// No time runs meanwhile. That it is held, and that it no longer is, stands in the status first.
import { formatTime } from '../../api/brand.ts';
import type { DisruptionCause, WaitingOn } from '../../api/disruption.ts';
import { type Demand, wasHeld } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import type { Observation } from './observation.ts';
import { demandMoved, type StatusChange, waitingFields, writeStatus } from './status.ts';

/** `update NAME`: ids of causes begin with their kind where somebody in particular asked. */
const turnOf = ({ kind, id, requestedBy }: DisruptionCause): string => {
  const noun = kind.toLowerCase();
  const name = id.startsWith(`${noun}/`) ? id.slice(noun.length + 1) : (requestedBy ?? id);
  return `${noun} ${name}`;
};

export const holdBlocker = (cause: DisruptionCause): WaitingOn => ({
  kind: 'hold',
  by: turnOf(cause),
});

export const terminationBlocker = (cause: DisruptionCause): WaitingOn => ({
  kind: 'terminationHold',
  by: turnOf(cause),
});

/** What the status says of a hold when the node is (again) marked for this demand. */
export const holdFields = ({ disruption, now }: Observation, demand: Demand): StatusChange => {
  if (demand.heldBy !== undefined) return waitingFields([holdBlocker(demand.heldBy)]);
  return wasHeld(disruption) ? { heldUntil: formatTime(now), ...waitingFields([]) } : {};
};

/** The node is marked: it waits for its turn. */
export const whileHeld = (
  observation: Observation,
  demand: Demand,
  heldBy: DisruptionCause,
): Decision => {
  const { disruption, now } = observation;
  const waitingOn = [holdBlocker(heldBy)];
  const { status } = disruption;
  const told = status !== undefined && wasHeld(disruption) && !demandMoved(status, demand);
  if (told) return decision({ waitingOn });
  const change = holdFields(observation, demand);
  return decision({ steps: [writeStatus({ disruption, demand, change, now })], waitingOn });
};

/** The write before the first eviction after a hold: from here on the time of the drain runs. */
export const letGo = (observation: Observation, demand: Demand): Decision => {
  const { disruption, now } = observation;
  const change = holdFields(observation, demand);
  return decision({ steps: [writeStatus({ disruption, demand, change, now })] });
};
