// What keeps an update from continuing, as text: a line for each hold, with its age and its end;
// hooks of its nodes that run or failed. Pure.
import { type EpochMs, parseTime } from '../../api/brand.ts';
import type { UpdateShortage } from '../../api/nodegroup-update.ts';
import type { UpdateView } from '../../core/overview/index.ts';
import { targetText } from '../../core/update/index.ts';
import { formatDuration } from '../duration.ts';

const ageText = (since: string, now: EpochMs): string => {
  const at = parseTime(since);
  return at === undefined || at > now ? '' : ` for ${formatDuration((now - at) / 1000)}`;
};

const endText = (until: string | undefined, now: EpochMs): string => {
  const at = parseTime(until);
  return at === undefined || at <= now ? '' : ` (${formatDuration((at - now) / 1000)} left)`;
};

/** `held by Window for 3m1s: outside the maintenance windows, ... (45m left)`. */
export const holdLines = ({ update, status }: UpdateView, now: EpochMs): readonly string[] =>
  status !== 'InProgress'
    ? []
    : (update.status?.holds ?? []).map(
        ({ kind, reason, since, until }) =>
          `held by ${kind}${ageText(since, now)}: ${reason}${endText(until, now)}`,
      );

/**
 * `no new node in eu-west-1a for 3m: InsufficientFreeAddresses: ...`, `new node i-1 in ... has not
 * joined for 4m: ...`.
 */
export const missingLines = ({ update, status }: UpdateView, now: EpochMs): readonly string[] =>
  status !== 'InProgress'
    ? []
    : (update.status?.missing ?? []).map(({ zone, instanceId, code, message, since }) => {
        const where = zone === undefined ? '' : ` in ${zone}`;
        const age = ageText(since, now);
        return instanceId === undefined
          ? `no new node${where}${age}: ${code}: ${message}`
          : `new node ${instanceId}${where} has not joined${age}: ${message}`;
      });

/** Zones without capacity at the last attempt, unless a newer problem of the zone is reported. */
export const pastShortages = ({ update, status }: UpdateView): readonly UpdateShortage[] => {
  const { shortages = [], missing = [] } = update.status ?? {};
  const isTold = ({ zone }: UpdateShortage): boolean =>
    status === 'InProgress' && missing.some((one) => one.zone === zone);
  return shortages.filter((one) => !isTold(one));
};

/** `hook preDrain runs for node-1 (Job ops/pre-drain-i-1-ab)`; for a webhook its last answer. */
export const hookLines = ({ update, status }: UpdateView): readonly string[] =>
  (update.status?.hooks ?? [])
    .filter(({ state }) => state === 'Failed' || status === 'InProgress')
    .map((one) => {
      const { hook, state, node, instanceId, message, attempt } = one;
      const of = `${node ?? instanceId} (${targetText(one)})`;
      if (state === 'Failed') return `hook ${hook} failed for ${of}: ${message ?? ''}`;
      const tries = attempt === undefined ? '' : `, asked ${attempt} or more times`;
      const said = message === undefined ? '' : `: ${message}`;
      return `hook ${hook} runs for ${of}${attempt === 1 ? ', asked once' : tries}${said}`;
    });

/** `Hook (preDrain, postReady)`: the running hooks. */
export const hookText = ({ update, status }: UpdateView): string | undefined => {
  const running = (update.status?.hooks ?? []).filter(({ state }) => state === 'Running');
  if (status !== 'InProgress' || running.length === 0) return undefined;
  return `Hook (${[...new Set(running.map(({ hook }) => hook))].join(', ')})`;
};

/** `wave 1 of 3, up to 2 nodes`; after the last wave comes the rest of the group. */
export const waveText = ({ update, status }: UpdateView): string | undefined => {
  const { wave } = update.status ?? {};
  if (wave === undefined || status !== 'InProgress') return undefined;
  if (wave.number > wave.of) return `behind wave ${wave.of} of ${wave.of}`;
  return (
    `wave ${wave.number} of ${wave.of}, up to ${wave.upTo} ` +
    `${wave.upTo === 1 ? 'node' : 'nodes'}`
  );
};

/** The kinds of all holds except a pause, which has a word of its own. */
export const heldText = ({ update, status }: UpdateView): string | undefined => {
  const kinds = (update.status?.holds ?? []).flatMap(({ kind }) => (kind === 'Paused' ? [] : kind));
  if (status !== 'InProgress' || kinds.length === 0) return undefined;
  return `held (${[...new Set(kinds)].join(', ')})`;
};
