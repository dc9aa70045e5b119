// Whether Drover holds an existing Auto Scaling group: it tags the group before it does anything
// else. Tags have no compare and swap. If the tags name no owner, Drover tags the group, waits and
// reads it again. It continues only if the tag is still its own (Fischer's mutual exclusion). Pure.
import { type EpochMs, epochMs } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import { isRetained, type NodeGroup } from '../../api/nodegroup.ts';
import type { GroupPlan } from '../../api/plan.ts';
import { adoptionTags, type Ownership } from '../nodegroup/index.ts';

/**
 * Another process may have read the group before this tag was set; its own tag appears within this
 * time.
 */
const markSettlesMs = 5_000;

export interface AdoptionObservation {
  readonly group: NodeGroup;
  readonly scaling: ScalingGroup;
  readonly ownership: Ownership;
  /** When this process set the owner's tag, or first read it. */
  readonly markedAt: number | undefined;
  readonly now: EpochMs;
}

export interface AdoptionDecision {
  /**
   * `held`: Drover manages the group. `none`: the NodeGroup was deleted before the adoption, so the
   * group is not touched. `later`: not known yet.
   */
  readonly outcome: 'held' | 'none' | 'later';
  readonly plan: GroupPlan;
}

export const decideAdoption = (observation: AdoptionObservation): AdoptionDecision => {
  const { group, scaling, ownership, markedAt, now } = observation;
  const { metadata, spec, status } = group;
  const nothing: GroupPlan = { subject: metadata.name, steps: [], waitingOn: [] };
  const held: AdoptionDecision = { outcome: 'held', plan: nothing };
  if (spec.autoScalingGroupName === undefined || ownership.kind === 'foreign') return held;
  // A refused group has a status, too; only a managed group has node marks.
  const isNew = status?.nodeMarks === undefined;
  const { name: autoScalingGroupName } = scaling;
  const settlesAt = (since: number): AdoptionDecision['plan'] => ({
    ...nothing,
    waitingOn: [{ kind: 'tag', autoScalingGroupName }],
    nextCheckAt: epochMs(since + markSettlesMs),
  });
  if (ownership.kind === 'own') {
    const since = markedAt ?? now;
    if (!isNew || now >= since + markSettlesMs) return held;
    return { outcome: 'later', plan: settlesAt(since) };
  }
  const isLeaving = metadata.deletionTimestamp !== undefined;
  // A release removes the tag before the NodeGroup is deleted.
  if (isLeaving && isRetained(group) && !isNew) return held;
  if (isNew && isLeaving) return { outcome: 'none', plan: nothing };
  const tags = adoptionTags(group, scaling.tags);
  const steps = [{ kind: 'TagGroup', autoScalingGroupName, tags } as const];
  // The group's tags already name this NodeGroup, or an earlier version of Drover has managed it.
  if (ownership.kind === 'named' || !isNew) return { outcome: 'held', plan: { ...nothing, steps } };
  return { outcome: 'later', plan: { ...settlesAt(now), steps } };
};
