// Builds the status of a disruption, which is its journal: complete, bounded in size, and written
// rarely (at most 8 times per drain). Decides no phase.

import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type {
  DisruptionPhase,
  NodeDisruption,
  NodeDisruptionStatus,
  WaitingOn,
} from '../../api/disruption.ts';
import type { Condition } from '../../api/kube.ts';
import type { Step } from '../../api/plan.ts';
import { maxBoomerangs } from '../drain/index.ts';
import type { Demand } from './causes.ts';
import { causesServed } from './emptied.ts';
import { transition } from './phases.ts';

type WriteStatus = Extract<Step, { kind: 'WriteStatus' }>;
export type StatusChange = Partial<Omit<NodeDisruptionStatus, 'phase'>> & {
  readonly phase?: DisruptionPhase;
};

const maxBlockers = 20;
const maxMessageLength = 256;
/** docs/designs/termination.md: a status is at most 16 KB. */
const maxStatusBytes = 16_384;
/** Blockers are written for the first time once they have lasted this long. */
const firstProgressMs = 2_000;
/** Factor between the times of two writes: 2 s, 16 s, 128 s, ... after the marks. */
const progressFactor = 8;
/** Longest time between two writes, so that a blocker that appears late in a drain is recorded. */
const longestProgressMs = 5 * 60_000;

export const phaseOf = (disruption: NodeDisruption): DisruptionPhase =>
  disruption.status?.phase ?? 'Pending';

/**
 * Whether this leader has written its term to the record. That makes what an earlier leader read
 * stale, so its writes fail. Nothing is done to a node before that.
 */
export const isTaken = ({ status }: NodeDisruption, epoch: number | undefined): boolean =>
  epoch === undefined ||
  status === undefined ||
  status.phase === 'Ended' ||
  status.leaderEpoch === epoch;

/**
 * Whether a later leader has written its term: this process was replaced without noticing, and must
 * not act or write.
 */
export const isSuperseded = ({ status }: NodeDisruption, epoch: number | undefined): boolean =>
  epoch !== undefined && (status?.leaderEpoch ?? epoch) > epoch;

const shorten = (waiting: WaitingOn): WaitingOn => {
  if (!('message' in waiting) || waiting.message.length <= maxMessageLength) return waiting;
  return { ...waiting, message: `${waiting.message.slice(0, maxMessageLength - 1)}…` };
};

/** Ranks blockers by what a reader acts on first: those that time alone does not remove. */
const weight = (waiting: WaitingOn): number => {
  if (waiting.kind === 'termination') return waiting.why === 'grace' ? 2 : 1;
  return waiting.kind === 'tier' || waiting.kind === 'settling' ? 2 : 0;
};

const identity = (waiting: WaitingOn): string =>
  `${waiting.kind}/${'pod' in waiting ? waiting.pod : ''}`;

/** Unchanged blockers keep the time since which they exist. */
export const withSince = (
  current: readonly WaitingOn[],
  previous: readonly WaitingOn[] | undefined,
  now: EpochMs,
): readonly WaitingOn[] => {
  const known = new Map((previous ?? []).map((waiting) => [identity(waiting), waiting]));
  return current.map((waiting) => {
    if (waiting.kind !== 'pdb' && waiting.kind !== 'multiplePdbs') return waiting;
    const before = known.get(identity(waiting));
    const since = before !== undefined && 'since' in before ? before.since : undefined;
    return { ...waiting, since: since ?? formatTime(now) };
  });
};

/** The 20 heaviest blockers, each message truncated. */
const boundedBlockers = (waitingOn: readonly WaitingOn[]): readonly WaitingOn[] =>
  waitingOn
    .toSorted((a, b) => weight(a) - weight(b))
    .slice(0, maxBlockers)
    .map(shorten);

const utf8 = new TextEncoder();
const bytesOf = (status: NodeDisruptionStatus): number =>
  utf8.encode(JSON.stringify(status)).length;

/**
 * Drops blockers from the end until the status fits; they stay counted. Then drops the pods of
 * boomerangs: an owner that stays recorded is not detected again, so its pods stay on the node.
 */
export const bounded = (status: NodeDisruptionStatus): NodeDisruptionStatus => {
  const { waitingOn = [], boomerangs = [], stopTimes, ...rest } = status;
  let blockers = waitingOn.slice(0, maxBlockers);
  let back = boomerangs.slice(0, maxBoomerangs);
  let stops = stopTimes;
  const whole = (): NodeDisruptionStatus => ({
    ...rest,
    ...(back.length === 0 ? {} : { boomerangs: back }),
    ...defined({ stopTimes: stops }),
    ...(blockers.length === 0 ? {} : { waitingOn: blockers }),
  });
  const tooLarge = (): boolean => bytesOf(whole()) > maxStatusBytes;
  // Stop times are dropped first, since only plans read them.
  if (tooLarge()) stops = undefined;
  while (blockers.length > 0 && tooLarge()) blockers = blockers.slice(0, -1);
  for (let last = back.length - 1; last >= 0 && tooLarge(); last--) {
    back = back.map((each, i) => (i === last ? { ...each, podUids: [] } : each));
  }
  return whole();
};

export const waitingFields = (
  waitingOn: readonly WaitingOn[],
): Pick<NodeDisruptionStatus, 'waitingOn' | 'waitingOnTotal'> => ({
  waitingOn: boundedBlockers(waitingOn),
  waitingOnTotal: waitingOn.length,
});

const drainedCondition = (
  status: NodeDisruptionStatus,
  before: NodeDisruptionStatus | undefined,
  now: EpochMs,
): Condition => {
  const { outcome, phase } = status;
  const done = status.drainedAt !== undefined && outcome !== 'Cancelled';
  const last = before?.conditions?.find(({ type }) => type === 'Drained');
  const value = done ? 'True' : 'False';
  const changed = last?.status !== value;
  return {
    type: 'Drained',
    status: value,
    reason: outcome ?? phase,
    ...defined({ message: status.message }),
    lastTransitionTime: changed ? formatTime(now) : (last.lastTransitionTime ?? formatTime(now)),
  };
};

const demandFields = (demand: Demand): StatusChange => ({
  followUp: demand.followUp,
  onDeadline: demand.onDeadline,
  hooks: demand.hooks.map(({ status }) => status),
  ...(demand.deadline === undefined ? {} : { deadline: formatTime(demand.deadline) }),
});

const deadlineOf = (status: NodeDisruptionStatus | undefined): StatusChange => ({
  ...defined({ deadline: status?.deadline, onDeadline: status?.onDeadline }),
});

const unwritten: NodeDisruptionStatus = { episode: 1, phase: 'Pending' };

/**
 * The status write that applies `change`. Fields follow the demand while there is one; an ended
 * disruption keeps its last values.
 */
export const writeStatus = (options: {
  readonly disruption: NodeDisruption;
  readonly demand?: Demand;
  readonly change: StatusChange;
  readonly now: EpochMs;
}): WriteStatus => {
  const { disruption, demand, change, now } = options;
  const before = disruption.status;
  const from = phaseOf(disruption);
  const to = change.phase ?? from;
  if (to !== from || change.phase === 'Marking') transition(from, to);
  const { deadline: _old, ...open } = before ?? unwritten;
  const { heldUntil: _until, forcingSince: _since, ...held } = open;
  const current = demand?.heldBy === undefined ? open : held;
  // Completed work is not undone: a completed hook does not bound the drain.
  const settled = from === 'Completing' || from === 'Ended';
  const kept = settled ? before : current;
  const { generation } = disruption.metadata;
  const status: NodeDisruptionStatus = {
    episode: 1,
    ...(demand === undefined ? before : kept),
    ...defined({ observedGeneration: generation }),
    ...(demand === undefined ? {} : demandFields(demand)),
    ...(settled ? deadlineOf(before) : {}),
    ...change,
    phase: to,
  };
  return {
    kind: 'WriteStatus',
    disruption: disruption.metadata.name,
    resourceVersion: disruption.metadata.resourceVersion,
    status: bounded({ ...status, conditions: [drainedCondition(status, before, now)] }),
  };
};

/**
 * Whether a cause was added or removed: its deadline is written to the status before it applies.
 */
export const demandMoved = (status: NodeDisruptionStatus, demand: Demand): boolean => {
  const deadline = demand.deadline === undefined ? undefined : formatTime(demand.deadline);
  const { followUp, onDeadline } = demand;
  if (status.deadline !== deadline) return true;
  return status.followUp !== followUp || status.onDeadline !== onDeadline;
};

/** The summary of an episode that is kept once the next has begun. */
const summaryOf = (
  disruption: NodeDisruption,
  status: NodeDisruptionStatus,
): NonNullable<NodeDisruptionStatus['previous']> => {
  const { episode, outcome, message, startedAt, deadline, endedAt, podsTotal } = status;
  const causes = causesServed(disruption);
  return {
    episode,
    ...defined({ outcome, message, startedAt, deadline, endedAt }),
    ...(causes.length === 0 ? {} : { causes }),
    ...defined({ podsTotal }),
  };
};

/**
 * The status at the start of the next episode; it keeps only the marks and records that are still
 * Drover's.
 */
export const nextEpisode = (disruption: NodeDisruption): WriteStatus => {
  const before = disruption.status;
  const { resourceVersion, name, generation } = disruption.metadata;
  transition(phaseOf(disruption), 'Pending');
  return {
    kind: 'WriteStatus',
    disruption: name,
    resourceVersion,
    status: {
      episode: (before?.episode ?? 0) + 1,
      phase: 'Pending',
      ...defined({ observedGeneration: generation }),
      // Ownership of marks belongs to one node: without the node's uid it would apply to any node.
      ...(before?.ownedMarks === undefined || before.node === undefined
        ? {}
        : { ownedMarks: before.ownedMarks, node: before.node }),
      ...defined({ handledCauses: before?.handledCauses, stopTimes: before?.stopTimes }),
      ...(before === undefined ? {} : { previous: summaryOf(disruption, before) }),
    },
  };
};

/** What matters to a reader: which pods wait for what. Times and counts change constantly. */
const gist = (waitingOn: readonly WaitingOn[]): string =>
  boundedBlockers(waitingOn)
    .filter((waiting) => weight(waiting) < 2)
    .map((waiting) => {
      const { pod, reason } = (waiting.kind === 'pdb' ? waiting.unready : undefined) ?? {};
      return JSON.stringify([
        identity(waiting),
        'budgets' in waiting && waiting.budgets,
        pod,
        reason,
      ]);
    })
    .join();

const forceAtOf = (waiting: WaitingOn): string | undefined =>
  'forceAt' in waiting ? waiting.forceAt : undefined;

/** Whether the recorded force time is outdated, because a cause was added or removed. */
export const forceMoved = (
  { waitingOn: written = [] }: NodeDisruptionStatus,
  waitingOn: readonly WaitingOn[],
): boolean => {
  const known = new Map(written.map((waiting) => [identity(waiting), waiting]));
  return waitingOn.some((waiting) => {
    const before = known.get(identity(waiting));
    return before !== undefined && forceAtOf(before) !== forceAtOf(waiting);
  });
};

/** When progress may be written next. */
export const progressDueAt = (status: NodeDisruptionStatus): EpochMs | undefined => {
  const began = parseTime(status.heldUntil ?? status.markedAt);
  if (began === undefined) return undefined;
  const last = parseTime(status.progressAt);
  if (last === undefined || last <= began) return epochMs(began + firstProgressMs);
  const elapsed = last - began;
  return epochMs(began + Math.min(elapsed * progressFactor, elapsed + longestProgressMs));
};

/** Whether blockers were added, removed or changed since the last write. */
export const progressChanged = (
  status: NodeDisruptionStatus,
  waitingOn: readonly WaitingOn[],
): boolean => {
  const written = status.waitingOn ?? [];
  if (gist(written) !== gist(waitingOn)) return true;
  // A blocker that only takes time is not worth a write when it appears, but it must be cleared.
  const current = new Set(waitingOn.map(identity));
  return written.some((waiting) => !current.has(identity(waiting)));
};
