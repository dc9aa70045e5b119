// Adoption of an existing Auto Scaling group: Drover tags it before it does anything else. Tags
// have no compare and swap. If the tags name no owner, Drover tags the group, waits and reads it
// again. It continues only if the tag is still its own (Fischer's mutual exclusion).
import { type EpochMs, epochMs } from '../../../api/brand.ts';
import type { ScalingGroup } from '../../../api/cloud.ts';
import { isRetained, type NodeGroup } from '../../../api/nodegroup.ts';
import { adoptionTags, type Ownership } from '../../../core/nodegroup/index.ts';
import type { NodeGroupDeps } from '../deps.ts';

/**
 * Another process may have read the group before this tag was set; its own tag appears within this
 * time.
 */
const markSettlesMs = 5_000;

export interface AdoptionMemory {
  /** When Drover tagged the group that it is adopting. */
  markedAt?: number;
}

export type Adoption =
  | { readonly kind: 'held' }
  /** Deleted before it was adopted: the group is not touched. */
  | { readonly kind: 'none' }
  | { readonly kind: 'later'; readonly at: EpochMs };

const held: Adoption = { kind: 'held' };

/** What may be done with the group; tags it if necessary. Throws CloudError. */
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
  // A refused group has a status, too; only a managed group has node marks.
  const isNew = group.status?.nodeMarks === undefined;
  if (group.spec.autoScalingGroupName === undefined || ownership.kind === 'foreign') return held;
  if (ownership.kind !== 'own') {
    const isLeaving = group.metadata.deletionTimestamp !== undefined;
    // A release removes the tag before the NodeGroup is deleted.
    if (isLeaving && isRetained(group) && !isNew) return held;
    if (isNew && isLeaving) return { kind: 'none' };
    await deps.cloud.tagGroup(scaling.name, adoptionTags(group, scaling.tags), { signal });
    memory.markedAt = deps.clock.now();
    // Its tags already name this group, or an earlier version of Drover has managed it.
    if (ownership.kind === 'named' || !isNew) return held;
  }
  if (!isNew) return held;
  memory.markedAt ??= deps.clock.now();
  const at = epochMs(memory.markedAt + markSettlesMs);
  return deps.clock.now() < at ? { kind: 'later', at } : held;
};
