// The decision of an update that is held: no further node begins, and the holds are recorded in the
// status. Pure.

import { parseTime } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import type { UpdateDecision, UpdateObservation } from '../observation.ts';
import { dated, sameHolds } from './holds.ts';

/** No further node may begin. */
export const isHeld = ({ update, holds = [] }: UpdateObservation): boolean =>
  update.spec.paused === true || holds.length > 0;

/** Adds the holds on the next step to the decision; an update that has ended has none. */
export const withHolds = (
  observation: UpdateObservation,
  decided: UpdateDecision,
): UpdateDecision => {
  const { status, holds: found = [] } = observation;
  const isLeft = decided.change?.phase !== undefined && decided.change.phase !== 'Rolling';
  const { update, now } = observation;
  const rests = dated({ update: { ...update, status }, now }, decided.rests ?? []);
  const holds = isLeft || decided.end !== undefined ? [] : [...found, ...rests];
  const held = isHeld(observation) ? { isHeld: true } : {};
  const ends = holds.flatMap(({ until }) => parseTime(until) ?? []);
  const wakeAt = [...ends, ...(decided.wakeAt === undefined ? [] : [decided.wakeAt])];
  const [soonest] = wakeAt.toSorted((a, b) => a - b);
  const next = { ...decided, ...held, ...defined({ wakeAt: soonest }) };
  if (sameHolds(status.holds, holds)) return next;
  return { ...next, change: { ...decided.change, holds: holds.length === 0 ? undefined : holds } };
};
