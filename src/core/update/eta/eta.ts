// When an update will be over, from how long nodes have taken: those of this update first, those of
// earlier ones of its group where these are too few, its plan's prediction before there is either.
// Where there is no ground for a number there is none. Pure.

import { type EpochMs, epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import type {
  NodeGroupUpdateStatus,
  UpdateEta,
  UpdatePace,
} from '../../../api/nodegroup-update.ts';
import { quantileOf } from '../../quantile.ts';

/** From so many nodes on, an update's own pace is all that counts. */
const enoughOfItsOwn = 3;
/** Fewer say nothing of a spread. */
const fewest = 2;
/** The status keeps the last of them. */
const maxPace = 20;

/** What is known of how fast a group's nodes are replaced. */
export interface PaceFacts {
  /** This update's, oldest first. */
  readonly pace: readonly UpdatePace[];
  /** Of earlier updates that went as this one goes: same strategy, as many at once. */
  readonly history: readonly (readonly UpdatePace[])[];
  /** Of the plan that it was asked for by. */
  readonly predicted?: { readonly p50Seconds: number; readonly p90Seconds: number };
  readonly startedAt?: string;
  readonly left: number;
  /** What comes when the last node is done, the same for all. */
  readonly tailMs?: number;
  readonly now: EpochMs;
}

/**
 * Milliseconds per node, a number for each node; what was waited for while it was paused does not
 * count.
 */
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
 * The end at the median pace, and the one that nine of ten come before: spreads of single nodes
 * even out.
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

/** As its plan has it, from its begin on. */
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

/** The pace with what is there now: the same object when nothing of it has changed. */
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

/** What the journal says of pace and end from now on. */
export const tellPace = (
  status: NodeGroupUpdateStatus,
  facts: PaceNow & Pick<PaceFacts, 'history' | 'predicted' | 'tailMs'> & { readonly total: number },
): { readonly pace: readonly UpdatePace[]; readonly eta: UpdateEta | undefined } => {
  const { isPaused, now, total, done, history, predicted, tailMs = 0 } = facts;
  const before = status.pace ?? [];
  const pace = paceWith(before, facts);
  // Who knows when it is resumed.
  if (isPaused || done >= total) return { pace, eta: undefined };
  const known = status.progress?.eta;
  // Told anew with each node; past its own bound it is no estimate any more.
  const isSpent = known !== undefined && now > (parseTime(known.p90) ?? now);
  if (pace === before) return { pace, eta: isSpent ? undefined : known };
  const { startedAt } = status;
  const more = {
    ...defined({ predicted, startedAt }),
  };
  return { pace, eta: etaOf({ pace, history, left: total - done, now, tailMs, ...more }) };
};
