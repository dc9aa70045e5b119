// Reads the instances among which a scale-in chooses, and their facts. Chooses nothing.

import type { ScalingInstance } from '../../../api/cloud.ts';
import { isReady } from '../../../api/conditions.ts';
import { type Node, type Pod, resourceTypes } from '../../../api/kube.ts';
import { classifyPods } from '../../../core/drain/index.ts';
import { candidatesFrom, idsToLook, recordsOf, withEmpty } from '../../../core/group-plan/index.ts';
import type { Candidate } from '../../../core/nodegroup/index.ts';
import { KubeError } from '../../../ports/index.ts';
import { nodeOfInstance } from '../../informers.ts';
import type { NodeGroupDeps } from '../deps.ts';

/** A node whose pods cannot be read counts as occupied; that does not block the scale-in. */
const isEmpty = async (
  { kube }: NodeGroupDeps,
  node: Node | undefined,
  signal: AbortSignal,
): Promise<boolean> => {
  if (node === undefined) return true;
  const fieldSelector = `spec.nodeName=${node.metadata.name}`;
  try {
    const { items } = await kube.list<Pod>(resourceTypes.pods, { fieldSelector, signal });
    return classifyPods(items).evict.length === 0;
  } catch (error) {
    if (error instanceof KubeError) return false;
    throw error;
  }
};

/** Throws CloudError. */
export const candidatesOf = async (
  deps: NodeGroupDeps,
  instances: readonly ScalingInstance[],
  missing: number,
  signal: AbortSignal,
): Promise<readonly Candidate[]> => {
  const ids = instances.map(({ instanceId }) => instanceId);
  const known = await deps.cloud.describeInstances(ids, { signal });
  const startedAt = new Map(known.map((one) => [one.instanceId, one.launchTime ?? '']));
  const nodes = new Map(ids.map((id) => [id, nodeOfInstance(deps.nodes, id)]));
  const members = new Map(
    [...nodes].flatMap(([id, node]) =>
      node === undefined
        ? []
        : [[id, { isReady: isReady(node), isCordoned: node.spec.unschedulable === true }] as const],
    ),
  );
  const records = recordsOf(deps.disruptions.list());
  const candidates = candidatesFrom({ instances, nodes: members, records, startedAt });
  const empty = new Set<string>();
  for (const instanceId of idsToLook(candidates, missing)) {
    if (await isEmpty(deps, nodes.get(instanceId), signal)) empty.add(instanceId);
  }
  return withEmpty(candidates, missing, empty);
};
