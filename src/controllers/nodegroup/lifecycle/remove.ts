// Observes a node group that is being deleted and has no instances, bypassing every cache. Writes
// nothing.
import {
  autoScalingGroupNameOf,
  launchTemplateNameOf,
  type NodeGroup,
} from '../../../api/nodegroup.ts';
import { type RemovalObservation, removalWaits } from '../../../core/group-plan/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { mayStand } from '../memory.ts';
import { findRemoteAccess } from '../nodes/remote-access.ts';
import type { PassMemory } from '../pass-input.ts';

/** The objects with the names that Drover derives for a group. Throws CloudError. */
export const readDerived = async (
  { cloud }: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
) => {
  const name = launchTemplateNameOf(group);
  return {
    template: await cloud.findLaunchTemplate({ name, version: '$Latest' }, { signal }),
    profile: await cloud.findInstanceProfile(name, { signal }),
  };
};

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
  const derived = await readDerived(deps, group, signal);
  const securityGroup = await findRemoteAccess(deps, group, signal);
  return { ...found, parts: { ...derived, securityGroup } };
};
