// Labels and taints of a group's spec: on the nodes that it has, and in the template of those to come.
import { resourceTypes } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import {
  encodedUserData,
  nodePatch,
  ownsTemplate,
  sameNodes,
  userDataFor,
  userDataOf,
} from '../../core/scaling/index.ts';
import type { ScalingGroup } from '../../ports/index.ts';
import { nodeOfInstance } from '../informers.ts';
import { templateFacts } from './create.ts';
import { mustLead, type NodeGroupDeps } from './deps.ts';
import { countedOf } from './scale-in.ts';

/** Patches each node that is not as the spec has it. Throws KubeError. */
export const markNodes = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  signal: AbortSignal,
): Promise<void> => {
  const before = group.status ?? {};
  for (const { instanceId } of countedOf(scaling)) {
    const node = nodeOfInstance(deps.nodes, instanceId);
    const body = node === undefined ? undefined : nodePatch(node, group.spec, before);
    if (node === undefined || body === undefined) continue;
    mustLead(deps);
    const { name } = node.metadata;
    const patch = { type: 'merge', body } as const;
    const found = await deps.kube.patch(resourceTypes.nodes, { name }, patch, { signal });
    if (found.kind === 'found') {
      await deps.nodes.observedAtLeast(found.object.metadata.resourceVersion, signal);
    }
  }
};

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
  if (latest === undefined || !ownsTemplate(group, latest)) return;
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
