// Removes an update's taint and scale-down-disabled annotation from nodes if the group is released
// before the update ends. The controller of drains undoes drains and cordons.

import type { ScalingGroup } from '../../../api/cloud.ts';
import { resourceTypes } from '../../../api/kube.ts';
import {
  outdatedTaint,
  restoreScaleDownPatch,
  scaleDownDisabledBy,
} from '../../../core/update/index.ts';
import { nodeOfInstance } from '../../informers.ts';
import type { NodeGroupDeps } from '../deps.ts';

/**
 * One patch per marked node; a node that changed meanwhile is patched by the next pass. Throws
 * KubeError.
 */
export const clearNodes = async (
  deps: NodeGroupDeps,
  { instances }: ScalingGroup,
  signal: AbortSignal,
): Promise<void> => {
  for (const { instanceId } of instances) {
    const node = nodeOfInstance(deps.nodes, instanceId);
    if (node === undefined) continue;
    const { name, uid, resourceVersion } = node.metadata;
    const before = node.spec.taints ?? [];
    const taints = before.filter(({ key }) => key !== outdatedTaint);
    const isTainted = taints.length < before.length;
    const isShielded = scaleDownDisabledBy(node) === 'ours';
    if (!isTainted && !isShielded) continue;
    const annotations = isShielded ? restoreScaleDownPatch(node) : {};
    // With the resourceVersion it is safe to replace the whole list of taints.
    const body = {
      metadata: { uid, resourceVersion, annotations },
      ...(isTainted ? { spec: { taints: taints.map((one) => ({ ...one })) } } : {}),
    };
    const patch = { type: 'merge', body } as const;
    const found = await deps.kube.patch(resourceTypes.nodes, { name }, patch, { signal });
    if (found.kind !== 'found') continue;
    await deps.nodes.observedAtLeast(found.object.metadata.resourceVersion, signal);
  }
};
