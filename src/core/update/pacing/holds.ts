// The holds on the next step of an update, each with its reason, since when and until when. They
// apply to the start of an update and to each further node; a drain in progress is never held.
// Pure.
import { type EpochMs, formatTime } from '../../../api/brand.ts';
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import { approvedAnnotation, type Hold, type UpdatePacing } from '../../../api/update-pacing.ts';
import { notApproval, notApprovalWords } from './approval.ts';
import { windowState } from './windows.ts';

type Found = Omit<Hold, 'since'>;

export interface HoldFacts {
  readonly update: NodeGroupUpdate;
  /** The group's current pacing: changes apply to a running update at once. */
  readonly pacing: UpdatePacing;
  readonly now: EpochMs;
}

const pausedHold = ({ metadata, spec }: NodeGroupUpdate): readonly Found[] =>
  spec.paused === true
    ? [{ kind: 'Paused', reason: `paused: \`drover resume update ${metadata.name}\` continues it` }]
    : [];

/** Whether the update is approved: with `true` for any plan, or with the hash of its plan. */
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

/** Annotations that approve nothing and were not reported before. */
export const wrongApprovals = (
  before: readonly Hold[] | undefined,
  after: readonly Hold[] | undefined,
): readonly string[] =>
  (after ?? [])
    .map(({ reason }) => reason)
    .filter((reason) => reason.includes(notApprovalWords))
    .filter((reason) => !before?.some((one) => one.reason === reason));

/** Keeps `since` of holds that existed before; `since` of new ones is the current time. */
export const dated = (
  { update, now }: Pick<HoldFacts, 'update' | 'now'>,
  found: readonly Found[],
): readonly Hold[] =>
  found.map((one) => {
    const known = update.status?.holds?.find(({ kind }) => kind === one.kind);
    return { ...one, since: known?.since ?? formatTime(now) };
  });

/**
 * The update does not begin while one of these exists. A rollback waits for neither a window nor an
 * approval.
 */
export const startHolds = (facts: HoldFacts): readonly Hold[] => {
  const { update, pacing } = facts;
  if (update.spec.action === 'Rollback') return dated(facts, pausedHold(update));
  const approval = pacing.approval === 'Required' ? approvalHold(update) : [];
  return dated(facts, [...pausedHold(update), ...approval, ...windowHold(facts)]);
};

/** No further node begins while one of these exists. */
export const stepHolds = (facts: HoldFacts): readonly Hold[] => {
  const { update } = facts;
  if (update.spec.action === 'Rollback') return dated(facts, pausedHold(update));
  return dated(facts, [...pausedHold(update), ...windowHold(facts)]);
};

export const sameHolds = (a: readonly Hold[] | undefined, b: readonly Hold[]): boolean =>
  JSON.stringify(a ?? []) === JSON.stringify(b);
