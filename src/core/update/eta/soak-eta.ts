// The ETA of a blue/green update while its old nodes are kept. Computed from the end of the soak,
// so that it does not change with each pass. Pure.
import { epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import type { UpdateProgress } from '../../../api/nodegroup-update.ts';
import type { UpdateObservation } from '../observation.ts';
import { soakEnd } from '../pacing/index.ts';
import { type LastHooks, lastHooks } from './last-hooks.ts';

type Eta = UpdateProgress['eta'];

/** From the end of the last hook until the last instance is terminated: cooldown and EC2. */
const goneMs = 120_000;

const fromEnd = (end: number, { p50Ms, p90Ms }: LastHooks): Eta => ({
  p50: formatTime(epochMs(end + p50Ms + goneMs)),
  p90: formatTime(epochMs(end + p90Ms + 2 * goneMs)),
});

/**
 * Keeps the recorded ETA while it is valid: one that moves with the clock would cause a write in
 * every pass. An ETA whose own p90 has passed is removed.
 */
const soakedEta = ({ status, now }: UpdateObservation, hooks: LastHooks): Eta => {
  const known = status.progress?.eta;
  const until = parseTime(known?.p90);
  if (until === undefined || now > until) return undefined;
  // The soak was cut short, so the recorded ETA is too late.
  return until > now + hooks.p90Ms + 2 * goneMs ? fromEnd(now, hooks) : known;
};

/**
 * Undefined during a pause or another hold in addition to the soak, and if preTerminate has never
 * run.
 */
export const soakEta = (observation: UpdateObservation): Eta => {
  const { update, holds = [], now } = observation;
  const isHeldBeside = holds.some(({ kind }) => kind !== 'Soak');
  const hooks = lastHooks(observation);
  if (update.spec.paused === true || isHeldBeside || hooks === undefined) return undefined;
  const end = soakEnd(observation);
  return end < now ? soakedEta(observation, hooks) : fromEnd(end, hooks);
};

/** Time from the last drain to the end; undefined: unknown. */
export const soakTailMs = (observation: UpdateObservation): number | undefined => {
  if (observation.status.strategy !== 'BLUE_GREEN') return 0;
  const hooks = lastHooks(observation);
  return hooks && (observation.policies?.soakMs ?? 0) + hooks.p50Ms + goneMs;
};
