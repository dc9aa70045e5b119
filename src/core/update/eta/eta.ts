// The ETA of an update from the time its own nodes have taken. With too few of them, nodes of the
// group's earlier updates count, too; before that, the plan's prediction. Without data there is
// none. Pure.

import { type EpochMs, epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import type {
  NodeGroupUpdateStatus,
  UpdateEta,
  UpdatePace,
} from '../../../api/nodegroup-update.ts';
import { quantileOf } from '../../quantile.ts';

/** With at least this many replaced nodes, an update's ETA uses no other update. */
const enoughOfItsOwn = 3;
/** Fewer samples have no meaningful spread. */
const fewest = 2;
/** The status keeps at most this many entries. */
const maxPace = 20;

/** Known facts about the pace at which the group's nodes are replaced. */
export interface PaceFacts {
  /** The pace of this update, oldest entry first. */
  readonly pace: readonly UpdatePace[];
  /** The pace of earlier updates with the same strategy and maxUnavailable. */
  readonly history: readonly (readonly UpdatePace[])[];
  /** The prediction of the plan with which the update was requested. */
  readonly predicted?: { readonly p50Seconds: number; readonly p90Seconds: number };
  readonly startedAt?: string;
  readonly left: number;
  /** Time after the last node, the same for every node count. */
  readonly tailMs?: number;
  readonly now: EpochMs;
}

/** Milliseconds per node, one sample per node; time while the update was paused does not count. */
const samplesOf = (pace: readonly UpdatePace[]): readonly number[] =>
  pace.flatMap((entry, index) => {
    const before = pace[index - 1];
    const [from, to] = [parseTime(before?.at), parseTime(entry.at)];
    if (before === undefined || before.paused === true) return [];
    if (from === undefined || to === undefined || entry.done <= before.done) return [];
    const nodes = entry.done - before.done;
    return Array.from({ length: nodes }, () => (to - from) / nodes);
  });

/**
 * The end at the median pace, and the 90th percentile: the spread grows with the square root of the
 * node count.
 */
const spread = (samples: readonly number[], left: number, now: EpochMs): UpdateEta => {
  const sorted = samples.toSorted((a, b) => a - b);
  const median = quantileOf(sorted, 0.5);
  const slow = (quantileOf(sorted, 0.9) - median) * Math.sqrt(left);
  return {
    p50: formatTime(epochMs(Math.round(now + left * median))),
    p90: formatTime(epochMs(Math.round(now + left * median + slow))),
  };
};

/** The plan's prediction, counted from the update's start. */
export const planned = ({
  predicted,
  startedAt,
}: Pick<PaceFacts, 'predicted' | 'startedAt'>): UpdateEta | undefined => {
  const from = parseTime(startedAt);
  if (predicted === undefined || from === undefined) return undefined;
  return {
    p50: formatTime(epochMs(Math.round(from + predicted.p50Seconds * 1000))),
    p90: formatTime(epochMs(Math.round(from + predicted.p90Seconds * 1000))),
  };
};

export const etaOf = (facts: PaceFacts): UpdateEta | undefined => {
  const { pace, history, left, now, tailMs = 0 } = facts;
  const own = samplesOf(pace);
  const samples =
    own.length >= enoughOfItsOwn ? own : [...own, ...history.flatMap((one) => samplesOf(one))];
  const from = epochMs(now + tailMs);
  return samples.length < fewest ? planned(facts) : spread(samples, left, from);
};

interface PaceNow {
  readonly done: number;
  readonly isPaused: boolean;
  readonly now: EpochMs;
}

/** The pace with the current progress; returns the same object if nothing changed. */
export const paceWith = (
  pace: readonly UpdatePace[],
  { done, isPaused, now }: PaceNow,
): readonly UpdatePace[] => {
  const last = pace.at(-1);
  const isSame = last?.done === done && (last.paused ?? false) === isPaused;
  if (isSame) return pace;
  const entry = { at: formatTime(now), done, ...(isPaused ? { paused: true } : {}) };
  return [...pace, entry].slice(-maxPace);
};

/** The pace and ETA to record in the status. */
export const recordPace = (
  status: NodeGroupUpdateStatus,
  facts: PaceNow & Pick<PaceFacts, 'history' | 'predicted' | 'tailMs'> & { readonly total: number },
): { readonly pace: readonly UpdatePace[]; readonly eta: UpdateEta | undefined } => {
  const { isPaused, now, total, done, history, predicted, tailMs = 0 } = facts;
  const before = status.pace ?? [];
  const pace = paceWith(before, facts);
  // The end cannot be predicted, since it depends on when an operator resumes the update.
  if (isPaused || done >= total) return { pace, eta: undefined };
  const known = status.progress?.eta;
  // Recomputed with each node; an ETA whose own p90 has passed is removed.
  const isSpent = known !== undefined && now > (parseTime(known.p90) ?? now);
  if (pace === before) return { pace, eta: isSpent ? undefined : known };
  const { startedAt } = status;
  const more = {
    ...defined({ predicted, startedAt }),
  };
  return { pace, eta: etaOf({ pace, history, left: total - done, now, tailMs, ...more }) };
};
