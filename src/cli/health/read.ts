// Reads the data for the health of nodes: nodes, groups, disruptions, repairs, leases. A cluster
// without Drover's definitions has no Drover objects. Reads only.
import { type EpochMs, instanceIdOfProviderId } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import { type KubeObject, type Node, type ResourceType, resourceTypes } from '../../api/kube.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { healthOf, type NodeHealth } from '../../core/health/index.ts';
import { isOpenRepair } from '../../core/repair/index.ts';
import { type KubeApi, KubeError, listNodeGroups } from '../../ports/index.ts';
import { disruptionNameOf, groupNameOf } from '../nodes.ts';

const orNone = async <T>(list: Promise<readonly T[]>): Promise<readonly T[]> => {
  try {
    return await list;
  } catch (error) {
    if (error instanceof KubeError && error.code === 'NotFound') return [];
    throw error;
  }
};

const listOf = async <T extends KubeObject>(
  kube: KubeApi,
  type: ResourceType,
): Promise<readonly T[]> => (await kube.list<T>(type)).items;

export const listDisruptions = (kube: KubeApi): Promise<readonly NodeDisruption[]> =>
  orNone(listOf<NodeDisruption>(kube, resourceTypes.nodedisruptions));

export const listRepairs = (kube: KubeApi): Promise<readonly NodeRepair[]> =>
  orNone(listOf<NodeRepair>(kube, resourceTypes.noderepairs));

/** One node with the data about its health. */
export interface NodeInHealth {
  readonly node: Node;
  readonly health: NodeHealth;
  readonly group?: NodeGroup;
  readonly disruption?: NodeDisruption;
  /** The open repair of its instance. */
  readonly repair?: NodeRepair;
}

/** The objects from which the health of nodes follows. */
export interface HealthObjects {
  readonly nodes: readonly Node[];
  readonly groups: readonly NodeGroup[];
  readonly disruptions: readonly NodeDisruption[];
  readonly repairs: readonly NodeRepair[];
}

const byName = <T extends KubeObject>(objects: readonly T[]): ReadonlyMap<string, T> =>
  new Map(objects.map((one) => [one.metadata.name, one]));

/** O(objects). */
export const healthIn = (
  { nodes, groups, disruptions, repairs }: HealthObjects,
  now: EpochMs,
): readonly NodeInHealth[] => {
  const groupOf = byName(groups);
  const disruptionOf = byName(disruptions);
  const repairOf = new Map(
    repairs.filter(isOpenRepair).map((one) => [one.spec.instanceId, one] as const),
  );
  return nodes.map((node) => ({
    node,
    health: healthOf({ node, now }),
    ...defined({
      group: groupOf.get(groupNameOf(node) ?? ''),
      disruption: disruptionOf.get(disruptionNameOf(node)),
      repair: repairOf.get(instanceIdOfProviderId(node.spec.providerID) ?? ''),
    }),
  }));
};

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
