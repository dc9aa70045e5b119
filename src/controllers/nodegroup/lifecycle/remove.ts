// Observes a node group that is being deleted and has no instances, bypassing every cache. Writes
// nothing.
import { autoScalingGroupNameOf, type NodeGroup } from '../../../api/nodegroup.ts';
import { type RemovalObservation, removalWaits } from '../../../core/group-plan/index.ts';
import { findRemoteAccess, readDerivedParts } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { mayStand } from '../memory.ts';
import type { PassMemory } from '../pass-input.ts';

/** Throws CloudError. */
export const observeRemoval = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  { memory, signal }: { readonly memory: PassMemory; readonly signal: AbortSignal },
): Promise<RemovalObservation> => {
  const known = { group, repairs: deps.repairs.list(), scaling: undefined, mayStand: false };
  if (removalWaits(known) !== undefined) return known;
  const [scaling] = await deps.cloud.describeGroups([autoScalingGroupNameOf(group)], { signal });
  const stands = mayStand(memory, group, scaling, deps.clock.now());
  const found = { ...known, scaling, mayStand: stands };
  if (removalWaits(found) !== undefined) return found;
  const derived = await readDerivedParts(deps.cloud, group, { signal });
  const securityGroup = await findRemoteAccess(deps.cloud, group, { signal });
  return { ...found, parts: { ...derived, securityGroup } };
};
