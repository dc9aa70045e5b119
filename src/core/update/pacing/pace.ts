// What waves, probes and the soak of blue/green make of an update at this moment, beside what held
// it already: how many more nodes may be begun, what waits, what ends it. Pure.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import { type Hold, soakOverAnnotation } from '../../../api/update-pacing.ts';
import { lastHooks } from '../eta/last-hooks.ts';
import type { StatusChange, UpdateObservation } from '../observation.ts';
import { type Herd, inFlightOf, isWhole, phaseSince } from '../records/nodes.ts';
import { dated } from './holds.ts';
import { probeFailures, probeHolds } from './probes.ts';
import { decideWave } from './waves.ts';

interface Paced {
  readonly observation: UpdateObservation;
  /** What is written down of it; empty where nothing has changed. */
  readonly change: StatusChange;
  readonly failures: ReturnType<typeof probeFailures>;
}

const isSettled = ({ actualDesired }: UpdateObservation, herd: Herd): boolean =>
  herd.leaving.length === 0 &&
  inFlightOf(herd).length === 0 &&
  herd.old.length + herd.fresh.length >= actualDesired &&
  herd.fresh.every(isWhole);

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Beyond that it makes no difference, and the journal is not written for it. */
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

/** At once where somebody has said that it is over. */
export const soakEnd = (observation: UpdateObservation): EpochMs => {
  const { update, policies } = observation;
  const isOver = update.metadata.annotations?.[soakOverAnnotation] === 'true';
  return epochMs(phaseSince(observation) + (isOver ? 0 : (policies?.soakMs ?? 0)));
};

const noEta =
  '. There is no ETA: hook preTerminate runs then, and has not been seen to run in this group';

/** The old nodes are empty, and go when this is over. */
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
 * While old nodes are kept, probes are looked at as often as they ask for: whoever fails then costs
 * no new node.
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

/** Only while nodes are updated: before and after that nothing is begun that could be held. */
export const pace = (observation: UpdateObservation, herd: Herd): Paced => {
  const { update, status, waves = [], probes = [], probed, now } = observation;
  const isRolling = status.phase === 'Rolling';
  if ((!isRolling && status.phase !== 'Soaking') || update.spec.abort !== undefined) {
    return { observation, change: {}, failures: [] };
  }
  const { old, leavingOld } = herd;
  const isUntouched = ({ state }: Herd['old'][number]): boolean =>
    state.kind === 'untouched' || state.kind === 'held';
  const waved = decideWave({
    update,
    waves,
    total: Math.max(status.progress?.total ?? 0, old.length + leavingOld.length),
    untouched: old.filter(isUntouched).length,
    isSettled: isSettled(observation, herd),
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

/** The last wave has its rest as well: the update is not over before. */
export const restsInWave = ({ holds = [] }: UpdateObservation): boolean =>
  holds.some(({ kind }) => kind === 'Soak' || kind === 'WaveApproval' || kind === 'WaveProbes');
