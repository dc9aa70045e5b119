// The instances of a group among which a scale-in chooses, with what is known of each. Chooses
// nothing.

import type { ScalingInstance } from '../../../api/cloud.ts';
import { type Node, type Pod, resourceTypes } from '../../../api/kube.ts';
import { classifyPods } from '../../../core/drain/index.ts';
import { byAge, type Candidate } from '../../../core/nodegroup/index.ts';
import { KubeError } from '../../../ports/index.ts';
import { isReady, nodeOfInstance } from '../../informers.ts';
import type { NodeGroupDeps } from '../deps.ts';

/** Lists of pods that one scale-in asks for: of those that would go next otherwise. */
const maxLooked = 50;

/**
 * Pods are no reason to hold a scale-in up: a node whose pods cannot be read counts as one that has
 * some.
 */
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
  const candidates = instances.map((instance): Candidate => {
    const { instanceId } = instance;
    const node = nodes.get(instanceId);
    const disruption = deps.disruptions.get(instanceId);
    const isOpen = disruption !== undefined && disruption.status?.phase !== 'Ended';
    return {
      instanceId,
      zone: instance.availabilityZone,
      isProtected: instance.protectedFromScaleIn,
      isEmpty: node === undefined,
      isHealthy:
        instance.healthStatus !== 'Unhealthy' &&
        instance.lifecycleState === 'InService' &&
        node !== undefined &&
        isReady(node),
      isDraining: isOpen || node?.spec.unschedulable === true,
      templateVersion: Number(instance.launchTemplateVersion) || 0,
      startedAt: startedAt.get(instanceId) ?? '',
    };
  });
  // Where all of them go, it does not matter which goes first.
  if (candidates.length <= missing) return candidates;
  const looked = byAge(candidates.filter((one) => !one.isProtected)).slice(0, maxLooked);
  const empty = new Set<string>();
  for (const { instanceId } of looked) {
    if (await isEmpty(deps, nodes.get(instanceId), signal)) empty.add(instanceId);
  }
  return candidates.map((one) => ({ ...one, isEmpty: empty.has(one.instanceId) }));
};
