// Labels and taints of a group's spec in the template of the nodes to come. Touches no node.
import type { NodeGroup } from '../../api/nodegroup.ts';
import {
  encodedUserData,
  ownsDerived,
  sameNodes,
  userDataFor,
  userDataOf,
} from '../../core/scaling/index.ts';
import type { ScalingGroup } from '../../ports/index.ts';
import { templateFacts } from './create.ts';
import { mustLead, type NodeGroupDeps } from './deps.ts';

/**
 * A further version of the derived template where new nodes would get other labels or taints than the
 * spec has. Looked at when the spec has changed. Throws Impossible, CloudError.
 */
export const syncTemplate = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  signal: AbortSignal,
): Promise<void> => {
  const { cloud } = deps;
  const use = scaling.launchTemplate;
  if (use === undefined) return;
  const latest = await cloud.findLaunchTemplate({ id: use.id, version: '$Latest' }, { signal });
  if (latest === undefined || !ownsDerived(group, latest)) return;
  const { ImageId } = latest.data;
  const imageId = typeof ImageId === 'string' ? ImageId : undefined;
  const wanted = userDataFor(await templateFacts(deps, group, signal, imageId));
  if (typeof wanted !== 'string') return;
  let { version } = latest;
  if (!sameNodes(userDataOf(latest.data), wanted)) {
    mustLead(deps);
    const data = encodedUserData(wanted);
    version = await cloud.addLaunchTemplateVersion(
      { id: use.id, source: version, data },
      { signal },
    );
  }
  if (version === use.version) return;
  mustLead(deps);
  const types = scaling.instanceTypes === undefined ? {} : { instanceTypes: scaling.instanceTypes };
  const launchTemplate = { id: use.id, version };
  await cloud.updateGroup({ name: scaling.name, launchTemplate, ...types }, { signal });
};
