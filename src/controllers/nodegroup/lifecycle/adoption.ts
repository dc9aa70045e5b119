// Adoption of an Auto Scaling group that exists already: our mark on it comes before anything else
// is done with it. Tags know no compare and swap, so whoever takes a group that names nobody waits
// after the mark, looks again, and goes on only if the mark is still its own (Fischer's mutual
// exclusion).
import { type EpochMs, epochMs } from '../../../api/brand.ts';
import type { ScalingGroup } from '../../../api/cloud.ts';
import { isRetained, type NodeGroup } from '../../../api/nodegroup.ts';
import { adoptionTags, type Ownership } from '../../../core/nodegroup/index.ts';
import type { NodeGroupDeps } from '../deps.ts';

/** Longer than a mark of somebody else takes who had looked before ours was there. */
const markSettlesMs = 5_000;

export interface AdoptionMemory {
  /** Since when our mark has been on a group that is being adopted. */
  markedAt?: number;
}

export type Adoption =
  | { readonly kind: 'held' }
  /** Asked to go before it had a group: nothing of the group is touched. */
  | { readonly kind: 'none' }
  | { readonly kind: 'later'; readonly at: EpochMs };

const held: Adoption = { kind: 'held' };

/** What may be done with the group now; marks it where that is missing. Throws CloudError. */
export const adopt = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  context: {
    readonly ownership: Ownership;
    readonly memory: AdoptionMemory;
    readonly signal: AbortSignal;
  },
): Promise<Adoption> => {
  const { ownership, memory, signal } = context;
  // A group that was refused has a status, too; only one that was looked after has marks of nodes.
  const isNew = group.status?.nodeMarks === undefined;
  if (group.spec.autoScalingGroupName === undefined || ownership.kind === 'foreign') return held;
  if (ownership.kind !== 'own') {
    const isLeaving = group.metadata.deletionTimestamp !== undefined;
    // A release removes the mark before the NodeGroup goes.
    if (isLeaving && isRetained(group) && !isNew) return held;
    if (isNew && isLeaving) return { kind: 'none' };
    await deps.cloud.tagGroup(scaling.name, adoptionTags(group, scaling.tags), { signal });
    memory.markedAt = deps.clock.now();
    // Its tags name this group already, or an earlier version has looked after it all along.
    if (ownership.kind === 'named' || !isNew) return held;
  }
  if (!isNew) return held;
  memory.markedAt ??= deps.clock.now();
  const at = epochMs(memory.markedAt + markSettlesMs);
  return deps.clock.now() < at ? { kind: 'later', at } : held;
};
