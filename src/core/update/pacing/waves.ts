// Waves: after a share of the group's nodes is updated, the update soaks and waits for the gates of
// the wave. The current wave is in the status; its progress is derived from the nodes. Pure.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import {
  approvedWaveAnnotation,
  type Hold,
  type Probe,
  type ProbeResult,
  type Wave,
  type WaveStatus,
} from '../../../api/update-pacing.ts';
import { notApproval } from './approval.ts';

export interface WaveFacts {
  readonly update: NodeGroupUpdate;
  readonly waves: readonly Wave[];
  /** All nodes that the update replaces or terminates, completed ones included. */
  readonly total: number;
  /** How many of them are untouched. */
  readonly untouched: number;
  /** No drain or termination is in progress, and every requested new instance is a healthy node. */
  readonly isSettled: boolean;
  readonly probes: readonly Pick<Probe, 'name'>[];
  /** Has no entry for a probe that has not run. */
  readonly probed: readonly ProbeResult[];
  readonly now: EpochMs;
}

export interface WaveDecision {
  /** How many more nodes may begin. */
  readonly limit: number;
  readonly wave: WaveStatus | undefined;
  readonly holds: readonly Omit<Hold, 'since'>[];
}

/**
 * The number of updated nodes at the end of the wave. Percentages are of all nodes, not of the
 * remaining ones.
 */
const upToOf = ({ percent }: Wave, total: number): number => Math.ceil((total * percent) / 100);

/** The last approved wave; 0: none. */
const approvedUpTo = ({ metadata }: NodeGroupUpdate): number => {
  const given = metadata.annotations?.[approvedWaveAnnotation] ?? '';
  return /^\d{1,3}$/.test(given) ? Number(given) : 0;
};

const nodesText = (count: number): string => (count === 1 ? '1 node' : `${count} nodes`);

/** The next step after this wave; after the last wave, the rest of the update. */
const nextOf = ({ update, waves, total, untouched }: WaveFacts, number: number): string => {
  const next = waves[number];
  if (next !== undefined) {
    const nodes = Math.min(total, upToOf(next, total)) - (total - untouched);
    return nodes > 0
      ? `wave ${number + 1}, ${nodesText(nodes)}`
      : `wave ${number + 1}, which has no more nodes`;
  }
  if (untouched > 0) return `the rest, ${nodesText(untouched)}`;
  switch (update.status?.strategy) {
    case 'BLUE_GREEN':
      return 'the soak of the old nodes';
    case 'DEFAULT':
      return 'the end: the surplus is taken back';
    default:
      return 'the end: sizes are set back';
  }
};

/** A number approved an earlier wave, so it is not reported as wrong. */
const wrongWave = ({ metadata }: NodeGroupUpdate, number: number): string => {
  const given = metadata.annotations?.[approvedWaveAnnotation];
  const isEarlier = given !== undefined && /^\d{1,3}$/.test(given);
  const expected = `expected is the number of the wave, "${number}"`;
  return isEarlier ? '' : notApproval(approvedWaveAnnotation, given, expected);
};

const waveHolds = (
  facts: WaveFacts,
  number: number,
  doneAt: EpochMs,
): readonly Omit<Hold, 'since'>[] => {
  const { update, waves, probes, probed, now } = facts;
  const { soakSeconds = 0, gates = [] } = waves[number - 1] ?? {};
  const next = nextOf(facts, number);
  const name = `wave ${number} of ${waves.length}`;
  const until = epochMs(doneAt + soakSeconds * 1000);
  const soak: Omit<Hold, 'since'> = {
    kind: 'Soak',
    reason: `${name} is done and is watched for ${soakSeconds} s before ${next}`,
    until: formatTime(until),
  };
  const approval: Omit<Hold, 'since'> = {
    kind: 'WaveApproval',
    reason:
      `${name} is done${wrongWave(update, number)}: \`drover approve update ` +
      `${update.metadata.name}\` lets go on with ${next}`,
  };
  const hasPassed = ({ isPassing, at }: ProbeResult): boolean =>
    isPassing && (parseTime(at) ?? 0) >= doneAt;
  const late = probes.filter((one) => !probed.some((it) => it.name === one.name && hasPassed(it)));
  const isProbed = !gates.includes('Probes') || late.length === 0;
  const probe: Omit<Hold, 'since'> = {
    kind: 'WaveProbes',
    reason:
      `${name} is done: waits until ` +
      `${late.map((one) => one.name).join(', ')} has passed since`,
  };
  return [
    ...(now < until ? [soak] : []),
    ...(gates.includes('Approval') && approvedUpTo(update) < number ? [approval] : []),
    ...(isProbed ? [] : [probe]),
  ];
};

/** Waves are sorted by percent, whatever their order in the spec. */
export const decideWave = (asked: WaveFacts): WaveDecision => {
  const waves = asked.waves.toSorted((a, b) => a.percent - b.percent);
  const facts = { ...asked, waves };
  const { update, total, untouched, isSettled, now } = facts;
  if (waves.length === 0 || update.spec.action === 'Rollback') {
    return { limit: Number.POSITIVE_INFINITY, wave: undefined, holds: [] };
  }
  const begun = total - untouched;
  const known = update.status?.wave;
  let number = known?.number ?? 1;
  let doneAt = parseTime(known?.doneAt);
  for (;;) {
    const current = waves[number - 1];
    const upTo = current === undefined ? total : Math.min(total, upToOf(current, total));
    const wave = { number, of: waves.length, upTo };
    // Nodes after the last wave have no soak or gates.
    if (current === undefined) return { limit: Math.max(0, upTo - begun), wave, holds: [] };
    if (begun < upTo) return { limit: upTo - begun, wave, holds: [] };
    if (!isSettled) return { limit: 0, wave, holds: [] };
    const since = doneAt ?? now;
    const holds = waveHolds(facts, number, since);
    if (holds.length > 0) return { limit: 0, wave: { ...wave, doneAt: formatTime(since) }, holds };
    number += 1;
    doneAt = undefined;
  }
};
