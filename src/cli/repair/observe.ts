// The input of `drover repair`: the same observation of a group as in the repair controller, read
// once from the cluster and the cloud. Reads only.
import { type EpochMs, instanceIdOfProviderId, parseTime } from '../../api/brand.ts';
import { nodeAmong } from '../../api/claims.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import { autoScalingGroupNameOf, type NodeGroup } from '../../api/nodegroup.ts';
import { groupNameOf } from '../../core/overview/index.ts';
import {
  checksByInstance,
  membersWithoutNode,
  type RepairMember,
  type RepairObservation,
  repairObservation,
} from '../../core/repair/index.ts';
import { type CloudApi, type KubeApi, readNodeGroup } from '../../ports/index.ts';
import { CommandError, exitCodes } from '../context.ts';
import { listDisruptions, listRepairs } from '../health/read.ts';

export interface RepairSources {
  readonly kube: KubeApi;
  readonly cloud: Pick<
    CloudApi,
    'describeGroups' | 'describeImpairedInstances' | 'describeInstances'
  >;
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

/**
 * The controller repairs no node of a group that is being created or deleted. Throws CommandError.
 */
const checkLive = ({ metadata: { name, deletionTimestamp }, status }: NodeGroup): void => {
  if (deletionTimestamp !== undefined) {
    throw refused(`node group ${name} is being deleted: its nodes are not repaired`);
  }
  if (status?.createdAt === undefined) {
    throw refused(`node group ${name} is being created: its nodes are not repaired yet`);
  }
};

/** Launch times of members without a Node object. */
const launchesOf = async (
  cloud: RepairSources['cloud'],
  unknown: readonly string[],
): Promise<ReadonlyMap<string, EpochMs>> => {
  const launched = new Map<string, EpochMs>();
  if (unknown.length === 0) return launched;
  for (const { instanceId, launchTime } of await cloud.describeInstances(unknown)) {
    const at = parseTime(launchTime);
    if (at !== undefined) launched.set(instanceId, at);
  }
  return launched;
};

/** Throws CommandError, KubeError, CloudError. */
export const observeForRepair = async (
  { kube, cloud, now }: RepairSources,
  node: Node,
): Promise<{ readonly observation: RepairObservation; readonly member: RepairMember }> => {
  const group = await groupOfNode(kube, node);
  checkLive(group);
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
    cloud.describeImpairedInstances(),
  ]);
  const claims: ReadonlyMap<string, readonly Node[]> = Map.groupBy(
    nodes,
    ({ spec }) => instanceIdOfProviderId(spec.providerID) ?? '',
  );
  const nodeOf = (id: string) => nodeAmong(claims.get(id) ?? []);
  const byName = new Map(disruptions.map((one) => [one.metadata.name, one]));
  const observation = repairObservation({
    group,
    scaling,
    nodeOf,
    nodes,
    repairs: repairs.filter(({ spec }) => spec.nodeGroup === name),
    disruptionOf: (id) => byName.get(id),
    launchedAt: await launchesOf(cloud, membersWithoutNode(scaling, nodeOf)),
    // A command does not watch Node objects disappear; the open repairs record which one did.
    missedSince: new Map(),
    impaired: checksByInstance(impaired),
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
