// The end of a node group: its nodes drained and gone, then Auto Scaling group, launch template,
// finalizer, in this order. Never touches what carries another owner's tags.
import {
  autoScalingGroupNameOf,
  launchTemplateNameOf,
  type NodeGroup,
} from '../../api/nodegroup.ts';
import { foreignGroup, ownsTemplate } from '../../core/scaling/index.ts';
import type { ScalingGroup } from '../../ports/index.ts';
import { mustLead, type NodeGroupDeps } from './deps.ts';
import { journalRemoved } from './events.ts';
import { removeFinalizer } from './write.ts';

/** The template that we derived, by the group that uses it or by its name. */
const removeTemplate = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
): Promise<void> => {
  const { cloud } = deps;
  const name = launchTemplateNameOf(group);
  const template = await cloud.findLaunchTemplate({ name, version: '$Latest' }, { signal });
  if (template === undefined || !ownsTemplate(group, template)) return;
  mustLead(deps);
  await cloud.deleteLaunchTemplate(template.name, { signal });
};

/** What must be set before the first drain: nobody is started any more, desired may fall to 0. */
export const openBounds = async (
  deps: NodeGroupDeps,
  scaling: ScalingGroup,
  signal: AbortSignal,
): Promise<void> => {
  if (scaling.minSize === 0) return;
  mustLead(deps);
  await deps.cloud.updateGroup({ name: scaling.name, minSize: 0 }, { signal });
};

/**
 * Removes what is left of a group that has no instances any more, asking the cloud past every cache.
 * True when the object is free to go.
 */
export const removeRest = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
): Promise<boolean> => {
  const { cloud } = deps;
  const name = autoScalingGroupNameOf(group);
  const [scaling] = await cloud.describeGroups([name], { signal });
  if (scaling !== undefined && foreignGroup(group, scaling.tags) === undefined) {
    if (scaling.instances.length > 0 || scaling.desiredCapacity > 0) return false;
    mustLead(deps);
    await cloud.deleteGroup(name, { signal });
  }
  await removeTemplate(deps, group, signal);
  await removeFinalizer(deps, group, signal);
  journalRemoved(deps.journal, group);
  return true;
};
