// Reads the data for the health of nodes: nodes, groups, disruptions, repairs, leases. A cluster
// without Drover's definitions has no Drover objects. Reads only.
import type { EpochMs } from '../../api/brand.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import { type KubeObject, type Node, type ResourceType, resourceTypes } from '../../api/kube.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import { healthIn, type NodeInHealth } from '../../core/overview/index.ts';
import { type KubeApi, KubeError, listNodeGroups } from '../../ports/index.ts';

/** Undefined: the cluster has no such definition. */
export const orUndefined = async <T>(list: Promise<T>): Promise<T | undefined> => {
  try {
    return await list;
  } catch (error) {
    if (error instanceof KubeError && error.code === 'NotFound') return undefined;
    throw error;
  }
};

const orNone = async <T>(list: Promise<readonly T[]>): Promise<readonly T[]> =>
  (await orUndefined(list)) ?? [];

const listOf = async <T extends KubeObject>(
  kube: KubeApi,
  type: ResourceType,
): Promise<readonly T[]> => (await kube.list<T>(type)).items;

export const listDisruptions = (kube: KubeApi): Promise<readonly NodeDisruption[]> =>
  orNone(listOf<NodeDisruption>(kube, resourceTypes.nodedisruptions));

export const listRepairs = (kube: KubeApi): Promise<readonly NodeRepair[]> =>
  orNone(listOf<NodeRepair>(kube, resourceTypes.noderepairs));

export const readHealth = async (
  kube: KubeApi,
  nodes: readonly Node[],
  now: EpochMs,
): Promise<readonly NodeInHealth[]> => {
  const [groups, disruptions, repairs] = await Promise.all([
    orNone(listNodeGroups(kube)),
    listDisruptions(kube),
    listRepairs(kube),
  ]);
  return healthIn({ nodes, groups, disruptions, repairs }, now);
};

interface Lease extends KubeObject {
  readonly spec: { readonly renewTime?: string };
}

/**
 * When the kubelet last renewed its lease; undefined if it has none, or reading it is not allowed.
 */
export const lastRenewal = async (kube: KubeApi, node: string): Promise<string | undefined> => {
  try {
    const key = { namespace: 'kube-node-lease', name: node };
    const found = await kube.get<Lease>(resourceTypes.leases, key);
    return found.kind === 'found' ? found.object.spec.renewTime : undefined;
  } catch (error) {
    if (error instanceof KubeError) return undefined;
    throw error;
  }
};
