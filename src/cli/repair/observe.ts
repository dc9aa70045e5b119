// What `drover repair` decides on: the same observation of a group that the repair controller
// makes, read once from the cluster and the cloud. Reads only.
import { type EpochMs, instanceIdOfProviderId, parseTime } from '../../api/brand.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import { autoScalingGroupNameOf, type NodeGroup } from '../../api/nodegroup.ts';
import type { ImpairedCheck } from '../../core/health/index.ts';
import {
  type RepairMember,
  type RepairObservation,
  repairObservation,
} from '../../core/repair/index.ts';
import { type CloudApi, type KubeApi, readNodeGroup } from '../../ports/index.ts';
import { CommandError, exitCodes } from '../context.ts';
import { listDisruptions, listRepairs } from '../health/read.ts';
import { groupNameOf } from '../nodes.ts';

export interface RepairSources {
  readonly kube: KubeApi;
  readonly cloud: Pick<CloudApi, 'describeGroups' | 'describeImpairedInstances'>;
  readonly now: EpochMs;
}

const refused = (message: string): CommandError => new CommandError(exitCodes.refused, message);

/** Throws CommandError where the node belongs to no NodeGroup. */
export const groupOfNode = async (kube: KubeApi, node: Node): Promise<NodeGroup> => {
  const { name: nodeName } = node.metadata;
  const name = groupNameOf(node);
  const group = name === undefined ? undefined : await readNodeGroup(kube, name);
  if (group !== undefined) return group;
  throw refused(
    `node ${nodeName} belongs to no NodeGroup, so no controller repairs it: ` +
      `\`drover drain ${nodeName}\` empties it; adopt its group to have it repaired`,
  );
};

const impairedOf = async (
  cloud: RepairSources['cloud'],
): Promise<ReadonlyMap<string, readonly ImpairedCheck[]>> => {
  const impaired = new Map<string, ImpairedCheck[]>();
  for (const { instanceId, check, since } of await cloud.describeImpairedInstances()) {
    const checks = impaired.get(instanceId) ?? [];
    impaired.set(instanceId, [...checks, { check, since: parseTime(since) }]);
  }
  return impaired;
};

/** Throws CommandError, KubeError, CloudError. */
export const observeForRepair = async (
  { kube, cloud, now }: RepairSources,
  node: Node,
): Promise<{ readonly observation: RepairObservation; readonly member: RepairMember }> => {
  const group = await groupOfNode(kube, node);
  const [scaling] = await cloud.describeGroups([autoScalingGroupNameOf(group)]);
  const { name } = group.metadata;
  if (scaling === undefined) {
    throw refused(
      `node group ${name} has no Auto Scaling group; \`drover get ng ${name}\` says why`,
    );
  }
  const [{ items: nodes }, disruptions, repairs, impaired] = await Promise.all([
    kube.list<Node>(resourceTypes.nodes),
    listDisruptions(kube),
    listRepairs(kube),
    impairedOf(cloud),
  ]);
  const byInstance = new Map(
    nodes.map((one) => [instanceIdOfProviderId(one.spec.providerID), one]),
  );
  const byName = new Map(disruptions.map((one) => [one.metadata.name, one]));
  const observation = repairObservation({
    group,
    scaling,
    nodeOf: (id) => nodes.find((one) => instanceIdOfProviderId(one.spec.providerID) === id),
    nodes: [...byInstance.values()],
    repairs: repairs.filter(({ spec }) => spec.nodeGroup === name),
    disruptionOf: (id) => byName.get(id),
    launchedAt: new Map(),
    missedSince: new Map(),
    impaired,
    now,
  });
  const id = instanceIdOfProviderId(node.spec.providerID);
  const member = observation.members.find(({ instanceId }) => instanceId === id);
  if (member === undefined) {
    const state = scaling.instances.find(({ instanceId }) => instanceId === id)?.lifecycleState;
    throw refused(
      `instance ${id} of node ${node.metadata.name} is ` +
        `${state ?? 'not in the Auto Scaling group'}: ` +
        'only instances in service are repaired',
    );
  }
  return { observation, member };
};
