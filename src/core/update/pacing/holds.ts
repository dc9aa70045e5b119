// What holds the next step of an update, each with its reason, since when and until when. One list
// for the start of an update and for each node after it; a drain under way is never held. Pure.
import { type EpochMs, formatTime } from '../../../api/brand.ts';
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import { approvedAnnotation, type Hold, type UpdatePacing } from '../../../api/update-pacing.ts';
import { notApproval, notApprovalWords } from './approval.ts';
import { windowState } from './windows.ts';

type Found = Omit<Hold, 'since'>;

export interface HoldFacts {
  readonly update: NodeGroupUpdate;
  /** The group's, as it is now: what is changed while an update runs counts at once. */
  readonly pacing: UpdatePacing;
  readonly now: EpochMs;
}

const pausedHold = ({ metadata, spec }: NodeGroupUpdate): readonly Found[] =>
  spec.paused === true
    ? [{ kind: 'Paused', reason: `paused: \`drover resume update ${metadata.name}\` goes on` }]
    : [];

/** Whether somebody has approved it: any plan, or the one that was looked at. */
export const isApproved = ({ metadata, spec }: NodeGroupUpdate): boolean => {
  const given = metadata.annotations?.[approvedAnnotation];
  return given === 'true' || (given !== undefined && given === spec.planHash);
};

const approvalHold = (update: NodeGroupUpdate): readonly Found[] => {
  if (isApproved(update)) return [];
  const { name, annotations } = update.metadata;
  const { planHash } = update.spec;
  const expected =
    planHash === undefined
      ? 'expected is "true", since it was asked for without a plan'
      : `expected is "true" or the hash of its plan, "${planHash}"`;
  const wrong = notApproval(approvedAnnotation, annotations?.[approvedAnnotation], expected);
  const reason = `not approved yet${wrong}: \`drover approve update ${name}\``;
  return [{ kind: 'Approval', reason }];
};

const windowHold = ({ pacing, now }: HoldFacts): readonly Found[] => {
  const state = windowState(pacing, now);
  if (state.kind === 'open') return [];
  const until = state.until === undefined ? {} : { until: formatTime(state.until) };
  return [{ kind: state.by, reason: state.reason, ...until }];
};

/** Approvals that were given in words that are none, and that nobody was told of before. */
export const wrongApprovals = (
  before: readonly Hold[] | undefined,
  after: readonly Hold[] | undefined,
): readonly string[] =>
  (after ?? [])
    .map(({ reason }) => reason)
    .filter((reason) => reason.includes(notApprovalWords))
    .filter((reason) => !before?.some((one) => one.reason === reason));

/** What was held before keeps its time; `since` of all else is now. */
export const dated = (
  { update, now }: Pick<HoldFacts, 'update' | 'now'>,
  found: readonly Found[],
): readonly Hold[] =>
  found.map((one) => {
    const known = update.status?.holds?.find(({ kind }) => kind === one.kind);
    return { ...one, since: known?.since ?? formatTime(now) };
  });

/**
 * Nothing of the update is begun while there is one. The way back from a bad release waits for no
 * window and nobody's approval.
 */
export const startHolds = (facts: HoldFacts): readonly Hold[] => {
  const { update, pacing } = facts;
  if (update.spec.action === 'Rollback') return dated(facts, pausedHold(update));
  const approval = pacing.approval === 'Required' ? approvalHold(update) : [];
  return dated(facts, [...pausedHold(update), ...approval, ...windowHold(facts)]);
};

/** No further node is begun while there is one. */
export const stepHolds = (facts: HoldFacts): readonly Hold[] => {
  const { update } = facts;
  if (update.spec.action === 'Rollback') return dated(facts, pausedHold(update));
  return dated(facts, [...pausedHold(update), ...windowHold(facts)]);
};

export const sameHolds = (a: readonly Hold[] | undefined, b: readonly Hold[]): boolean =>
  JSON.stringify(a ?? []) === JSON.stringify(b);
