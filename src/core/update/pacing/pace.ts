// How waves, probes and the blue/green soak affect an update, in addition to its other holds.
// Decides how many more nodes may begin, what holds it, and what fails it. Pure.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import { type Hold, soakOverAnnotation } from '../../../api/update-pacing.ts';
import { lastHooks } from '../eta/last-hooks.ts';
import type { StatusChange, UpdateObservation } from '../observation.ts';
import { type GroupNodes, inFlightOf, isHealthyNew, phaseSince } from '../records/nodes.ts';
import { dated } from './holds.ts';
import { probeFailures, probeHolds } from './probes.ts';
import { decideWave } from './waves.ts';

interface Paced {
  readonly observation: UpdateObservation;
  /** The status change; empty if nothing changed. */
  readonly change: StatusChange;
  readonly failures: ReturnType<typeof probeFailures>;
}

const isSettled = ({ actualDesired }: UpdateObservation, groupNodes: GroupNodes): boolean =>
  groupNodes.leaving.length === 0 &&
  inFlightOf(groupNodes).length === 0 &&
  groupNodes.old.length + groupNodes.fresh.length >= actualDesired &&
  groupNodes.fresh.every(isHealthyNew);

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Higher counts are not recorded, to limit writes. */
const maxToldFailures = 99;

const failingOf = ({ probed = [] }: UpdateObservation) => {
  const failing = probed
    .filter(({ isPassing }) => !isPassing)
    .map(({ name, failures, message }) => ({
      name,
      failures: Math.min(failures, maxToldFailures),
      message,
    }));
  return failing.length === 0 ? undefined : failing;
};

/** When the soak ends; immediately if an operator completed it. */
export const soakEnd = (observation: UpdateObservation): EpochMs => {
  const { update, policies } = observation;
  const isOver = update.metadata.annotations?.[soakOverAnnotation] === 'true';
  return epochMs(phaseSince(observation) + (isOver ? 0 : (policies?.soakMs ?? 0)));
};

const noEta =
  '. There is no ETA: hook preTerminate runs then, and has not been seen to run in this group';

/** The hold of the soak, during which the old nodes are empty and kept. */
const soakHolds = (observation: UpdateObservation): readonly Omit<Hold, 'since'>[] => {
  const until = soakEnd(observation);
  if (observation.now >= until) return [];
  const { name } = observation.update.metadata;
  const seconds = Math.round((observation.policies?.soakMs ?? 0) / 1000);
  const isUnknown = lastHooks(observation) === undefined;
  const reason =
    `the old nodes are empty and kept for ${seconds} s; \`drover abort update ${name}\` goes ` +
    `back to them, \`drover complete update ${name}\` ends it now${isUnknown ? noEta : ''}`;
  return [{ kind: 'Soak', reason, until: formatTime(until) }];
};

const usualIntervalSeconds = 30;

/**
 * While old nodes are kept, probes run at their own intervals: a rollback at this point needs no
 * new node.
 */
export const nextProbeAt = ({
  status,
  probes = [],
  probed = [],
  now,
}: UpdateObservation): EpochMs | undefined => {
  if (status.phase !== 'Soaking' || probes.length === 0) return undefined;
  const times = probes.map(({ name, intervalSeconds = usualIntervalSeconds }) => {
    const last = parseTime(probed.find((one) => one.name === name)?.at);
    return last === undefined ? now + 1000 * intervalSeconds : last + 1000 * intervalSeconds;
  });
  return epochMs(Math.max(now, Math.min(...times)));
};

/**
 * Applies only to phases Rolling and Soaking; in other phases no node begins that could be held.
 */
export const pace = (observation: UpdateObservation, groupNodes: GroupNodes): Paced => {
  const { update, status, waves = [], probes = [], probed, now } = observation;
  const isRolling = status.phase === 'Rolling';
  if ((!isRolling && status.phase !== 'Soaking') || update.spec.abort !== undefined) {
    return { observation, change: {}, failures: [] };
  }
  const { old, leavingOld } = groupNodes;
  const isUntouched = ({ state }: GroupNodes['old'][number]): boolean =>
    state.kind === 'untouched' || state.kind === 'held';
  const waved = decideWave({
    update,
    waves,
    total: Math.max(status.progress?.total ?? 0, old.length + leavingOld.length),
    untouched: old.filter(isUntouched).length,
    isSettled: isSettled(observation, groupNodes),
    probes,
    probed: probed ?? [],
    now,
  });
  const isBack = update.spec.action === 'Rollback';
  const found = [
    ...(isRolling ? waved.holds : soakHolds(observation)),
    ...(isBack || probed === undefined ? [] : probeHolds(probes, probed)),
  ];
  const failing = failingOf(observation);
  return {
    observation: {
      ...observation,
      holds: [...(observation.holds ?? []), ...dated({ update, now }, found)],
      limit: waved.limit,
    },
    change: {
      ...(!isRolling || same(status.wave, waved.wave) ? {} : { wave: waved.wave }),
      ...(same(status.failingProbes, failing) ? {} : { failingProbes: failing }),
    },
    failures: isBack ? [] : probeFailures(observation.groupName, probes, probed ?? []),
  };
};

/** The last wave has its soak, too, and the update does not end before it is over. */
export const restsInWave = ({ holds = [] }: UpdateObservation): boolean =>
  holds.some(({ kind }) => kind === 'Soak' || kind === 'WaveApproval' || kind === 'WaveProbes');
