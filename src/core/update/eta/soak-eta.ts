// When an update by blue/green will be over, told while its old nodes are kept: once, from the end
// of the soak, so that no pass writes it anew. Pure.
import { epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import type { UpdateProgress } from '../../../api/nodegroup-update.ts';
import type { UpdateObservation } from '../observation.ts';
import { soakEnd } from '../pacing/index.ts';
import { type LastHooks, lastHooks } from './last-hooks.ts';

type Eta = UpdateProgress['eta'];

/**
 * From the end of the last hook until the last instance is gone: the cooldown, and what EC2 takes.
 */
const goneMs = 120_000;

const fromEnd = (end: number, { p50Ms, p90Ms }: LastHooks): Eta => ({
  p50: formatTime(epochMs(end + p50Ms + goneMs)),
  p90: formatTime(epochMs(end + p90Ms + 2 * goneMs)),
});

/**
 * Not moved with the clock, which would be a write in each pass; past its own bound it is none any
 * more.
 */
const soakedEta = ({ status, now }: UpdateObservation, hooks: LastHooks): Eta => {
  const known = status.progress?.eta;
  const until = parseTime(known?.p90);
  if (until === undefined || now > until) return undefined;
  // Of a soak that was cut short.
  return until > now + hooks.p90Ms + 2 * goneMs ? fromEnd(now, hooks) : known;
};

/**
 * Who knows when a pause ends, or anything that holds it beside the soak; or how long a hook takes
 * that never ran.
 */
export const soakEta = (observation: UpdateObservation): Eta => {
  const { update, holds = [], now } = observation;
  const isHeldBeside = holds.some(({ kind }) => kind !== 'Soak');
  const hooks = lastHooks(observation);
  if (update.spec.paused === true || isHeldBeside || hooks === undefined) return undefined;
  const end = soakEnd(observation);
  return end < now ? soakedEta(observation, hooks) : fromEnd(end, hooks);
};

/** What comes once behind the last node that is emptied; undefined: nobody knows. */
export const soakTailMs = (observation: UpdateObservation): number | undefined => {
  if (observation.status.strategy !== 'BLUE_GREEN') return 0;
  const hooks = lastHooks(observation);
  return hooks && (observation.policies?.soakMs ?? 0) + hooks.p50Ms + goneMs;
};
