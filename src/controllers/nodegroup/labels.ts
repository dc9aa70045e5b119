// Labels and taints of a group's spec: on the nodes that it has, and in the template of those to come.
import { parseTime } from '../../api/brand.ts';
import { resourceTypes } from '../../api/kube.ts';
import { launchTemplateNameOf, type NodeGroup } from '../../api/nodegroup.ts';
import {
  encodedUserData,
  type MarkPlace,
  type MarksStatus,
  markedBy,
  mustMark,
  nodePatch,
  ownsTemplate,
  sameNodes,
  userDataFor,
  userDataOf,
} from '../../core/scaling/index.ts';
import type { ScalingGroup, ScalingInstance } from '../../ports/index.ts';
import { nodeOfInstance } from '../informers.ts';
import { templateFacts } from './create.ts';
import { mustLead, type NodeGroupDeps } from './deps.ts';
import { countedOf } from './scale-in.ts';

const placeOf = (
  { nodes }: Pick<NodeGroupDeps, 'nodes'>,
  group: NodeGroup,
  { launchTemplate }: ScalingGroup,
  { instanceId, launchTemplateVersion }: ScalingInstance,
): MarkPlace => {
  const joined = nodeOfInstance(nodes, instanceId)?.metadata.creationTimestamp;
  return {
    joinedAt: joined === undefined ? undefined : parseTime(joined),
    // A template that is not ours, or whose image brings its own bootstrap, says nothing of the spec.
    isCurrent:
      group.spec.amiType !== 'CUSTOM' &&
      launchTemplate?.name === launchTemplateNameOf(group) &&
      launchTemplate.version === launchTemplateVersion,
  };
};

/** What is remembered of the marks, once `markNodes` has been through. */
export const marksOf = (
  deps: Pick<NodeGroupDeps, 'nodes' | 'clock'>,
  group: NodeGroup,
  scaling: ScalingGroup,
): MarksStatus => {
  const places = countedOf(scaling).map((instance) => placeOf(deps, group, scaling, instance));
  return markedBy(group.spec, group.status ?? {}, places, deps.clock.now());
};

/** Patches each node that the spec's labels and taints have not reached yet. Throws KubeError. */
export const markNodes = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  signal: AbortSignal,
): Promise<void> => {
  const before = group.status ?? {};
  const now = deps.clock.now();
  for (const instance of countedOf(scaling)) {
    const node = nodeOfInstance(deps.nodes, instance.instanceId);
    if (node === undefined) continue;
    const place = placeOf(deps, group, scaling, instance);
    if (!mustMark(group.spec, before, place, now)) continue;
    const body = nodePatch(node, group.spec, before);
    if (body === undefined) continue;
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
