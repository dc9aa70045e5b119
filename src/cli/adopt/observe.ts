// What `drover adopt` reads: Auto Scaling groups, their hooks and refreshes, nodes and NodeGroups.
// Changes nothing.
import { instanceIdOfProviderId } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import {
  type Adoption,
  type AdoptionInput,
  adoptionsOf,
  clusterNamesOf,
  nodeGroupNameFor,
} from '../../core/nodegroup/index.ts';
import { type KubeApi, listNodeGroups } from '../../ports/index.ts';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';
import { orUndefined } from '../health/read.ts';

export interface AdoptionFlags {
  readonly asg?: string;
  readonly tag?: string;
  /** Name of the NodeGroup. */
  readonly name?: string;
}

export interface ObservedAdoptions {
  readonly kube: KubeApi;
  readonly adoptions: readonly Adoption[];
  /** Karpenter's nodes are in no Auto Scaling group. */
  readonly karpenterNodes: number;
  /** Whether the cluster serves NodeGroups. */
  readonly hasDefinitions: boolean;
}

const usage = (message: string): CommandError => new CommandError(exitCodes.usage, message);

/** Throws CommandError if the flags select no group, or name one that does not exist. */
const chosen = (
  groups: readonly ScalingGroup[],
  { asg, tag, name }: AdoptionFlags,
): readonly ScalingGroup[] => {
  if ((asg === undefined) === (tag === undefined)) {
    throw usage('name one Auto Scaling group (--asg NAME), or those with a tag (--tag KEY=VALUE)');
  }
  if (asg !== undefined) {
    const found = groups.filter((group) => group.name === asg);
    if (found.length > 0) return found;
    throw new CommandError(
      exitCodes.failed,
      `no Auto Scaling group ${asg} in this account and region; ` +
        '`aws autoscaling describe-auto-scaling-groups` lists them',
    );
  }
  const [key = '', value] = (tag ?? '').split(/=(.*)/s);
  if (key === '') throw usage(`--tag takes KEY or KEY=VALUE, not ${tag}`);
  const found = groups.filter(({ tags }) =>
    value === undefined ? tags[key] !== undefined : tags[key] === value,
  );
  if (found.length === 0) {
    throw new CommandError(
      exitCodes.failed,
      `no Auto Scaling group in this account and region has the tag ${tag}`,
    );
  }
  if (name === undefined || found.length === 1) return found;
  throw usage(`--name names one NodeGroup, and ${found.length} groups have this tag`);
};

/** Nodes by the id of their instance. */
const nodesByInstance = (nodes: readonly Node[]): ReadonlyMap<string, Node> =>
  new Map(
    nodes.flatMap((node) => {
      const id = instanceIdOfProviderId(node.spec.providerID);
      return id === undefined ? [] : [[id, node] as const];
    }),
  );

const karpenterLabel = 'karpenter.sh/nodepool';

/** Throws CommandError, KubeError, CloudError. */
export const observeAdoptions = async (
  context: CliContext,
  connection: Connection,
  flags: AdoptionFlags,
): Promise<ObservedAdoptions> => {
  const kube = await context.kube(connection);
  const cloud = await context.cloud(connection);
  const provisioning = await context.provisioning(connection);
  // All groups, because the tags of groups with nodes in this cluster show the cluster's name.
  const all = await cloud.describeGroups();
  const groups = chosen(all, flags);
  const found = await orUndefined(listNodeGroups(kube));
  const nodeGroups = found ?? [];
  const { items: nodes } = await kube.list<Node>(resourceTypes.nodes);
  const nodeOf = nodesByInstance(nodes);
  const membersOf = ({ instances }: ScalingGroup): readonly Node[] =>
    instances.flatMap(({ instanceId }) => nodeOf.get(instanceId) ?? []);
  const clusterNames = clusterNamesOf(
    nodeGroups,
    all.filter((group) => membersOf(group).length > 0),
  );
  const inputs: AdoptionInput[] = [];
  for (const group of groups) {
    const hooks = await cloud.describeHooks(group.name);
    const refresh = await provisioning.activeRefresh(group.name);
    inputs.push({
      group,
      hooks,
      nodeGroups,
      name: flags.name ?? nodeGroupNameFor(group),
      nodes: membersOf(group).map(({ metadata }) => metadata),
      clusterNames,
      ...defined({ refresh }),
    });
  }
  return {
    kube,
    adoptions: adoptionsOf(inputs),
    karpenterNodes: nodes.filter(({ metadata }) => metadata.labels?.[karpenterLabel]).length,
    hasDefinitions: found !== undefined,
  };
};
