// Held: the node has its marks and keeps its pods until a cause without a hold is in force. No
// timeout runs meanwhile. The status records the start and the end of the hold before they take
// effect.
import { formatTime } from '../../api/brand.ts';
import type { DisruptionCause, WaitingOn } from '../../api/disruption.ts';
import { type Demand, wasHeld } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import type { Observation } from './observation.ts';
import { demandMoved, type StatusChange, waitingFields, writeStatus } from './status.ts';

/**
 * `update NAME`: the name follows the kind in the cause's id; for other ids it is the requester.
 */
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

/** The status fields of a hold when the node is marked (again) for this demand. */
export const holdFields = ({ disruption, now }: Observation, demand: Demand): StatusChange => {
  if (demand.heldBy !== undefined) return waitingFields([holdBlocker(demand.heldBy)]);
  return wasHeld(disruption) ? { heldUntil: formatTime(now), ...waitingFields([]) } : {};
};

/** The node is marked and waits for its turn. */
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

/** The write before the first eviction after a hold; the drain timeout starts here. */
export const letGo = (observation: Observation, demand: Demand): Decision => {
  const { disruption, now } = observation;
  const change = holdFields(observation, demand);
  return decision({ steps: [writeStatus({ disruption, demand, change, now })] });
};
