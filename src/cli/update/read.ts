// Which update a command refers to, and the data to show it. Reads only.

import { instanceIdOfProviderId } from '../../api/brand.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { type NodeGroupUpdate, updateStatusOf } from '../../api/nodegroup-update.ts';
import type { UpdateFacts } from '../../core/overview/index.ts';
import { inTurn, openInTurn, outdatedTaint } from '../../core/update/index.ts';
import { type KubeApi, KubeError, listNodeGroups, readNodeGroup } from '../../ports/index.ts';
import { CommandError, exitCodes } from '../context.ts';
import { closeNames } from '../nodes.ts';
import { targetOf } from '../target.ts';

const type = resourceTypes.nodegroupupdates;
const groupLabel = 'eks.amazonaws.com/nodegroup';
const imageLabel = 'eks.amazonaws.com/nodegroup-image';

/** A cluster without our definitions throws an error with the remedy. */
const known = async <T>(kind: string, list: Promise<T>): Promise<T> => {
  try {
    return await list;
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'NotFound') throw error;
    throw new CommandError(
      exitCodes.failed,
      `this cluster knows no ${kind} (drover.dev): start \`drover controller\`, which ` +
        'installs the definition, or `kubectl apply -f deploy/crds`',
      { cause: error },
    );
  }
};

export const listGroups = (kube: KubeApi): Promise<readonly NodeGroup[]> =>
  known('NodeGroups', listNodeGroups(kube));

/** Newest first; updates of one group in the order of their turns. */
export const listUpdates = async (
  kube: KubeApi,
  nodeGroup?: string,
): Promise<readonly NodeGroupUpdate[]> => {
  const { items } = await known('NodeGroupUpdates', kube.list<NodeGroupUpdate>(type));
  if (nodeGroup !== undefined) {
    return items
      .filter(({ spec }) => spec.nodeGroup === nodeGroup)
      .toSorted((a, b) => inTurn(b, a));
  }
  return items.toSorted(
    ({ metadata: a }, { metadata: b }) =>
      b.creationTimestamp.localeCompare(a.creationTimestamp) || b.name.localeCompare(a.name),
  );
};

const noGroup = async (kube: KubeApi, name: string): Promise<CommandError> => {
  const groups = await listGroups(kube);
  const names = groups.map(({ metadata }) => metadata.name).sort();
  const listed = names.join(', ') || 'none';
  const message =
    `no managed node group ${name}; there are: ${listed}. Self-managed ones (\`drover get ` +
    'ng`) are ' +
    'no objects and are not updated: make another with `drover create nodegroup`, then delete ' +
    'the first';
  return new CommandError(exitCodes.failed, message);
};

/** The managed group of that name, in the cluster where one is named. */
export const needGroup = async (
  kube: KubeApi,
  name: string,
  cluster?: string,
): Promise<NodeGroup> => {
  const group = await readNodeGroup(kube, name);
  if (group === undefined) throw await noGroup(kube, name);
  const { clusterName } = group.spec;
  if (cluster === undefined || clusterName === cluster) return group;
  throw new CommandError(
    exitCodes.failed,
    `node group ${name} is one of cluster ${clusterName}, not of ${cluster}`,
  );
};

/** The group's updates that have not ended, in the order of their turns. */
export const openUpdates = async (
  kube: KubeApi,
  name: string,
): Promise<readonly NodeGroupUpdate[]> => {
  const group = await readNodeGroup(kube, name);
  return group === undefined ? [] : openInTurn(await listUpdates(kube, name), group);
};

/**
 * By id, by a unique prefix of one, or by group: the open update that is first, else the latest.
 */
export const needUpdate = async (
  kube: KubeApi,
  wanted: { readonly id: string | undefined; readonly nodeGroup: string | undefined },
): Promise<NodeGroupUpdate> => {
  const { nodeGroup } = wanted;
  const id = wanted.id === undefined ? undefined : targetOf(wanted.id).name;
  if (id === undefined && nodeGroup === undefined) {
    throw new CommandError(exitCodes.usage, 'name the update, or its group with --nodegroup');
  }
  const all = await listUpdates(kube, nodeGroup);
  if (id === undefined) {
    const open = nodeGroup === undefined ? [] : await openUpdates(kube, nodeGroup);
    const [meant] = [...open, ...all];
    if (meant !== undefined) return meant;
    // A group that does not exist has no update either: that error comes first.
    if (nodeGroup !== undefined) await needGroup(kube, nodeGroup);
    throw new CommandError(exitCodes.failed, `node group ${nodeGroup} has had no update`);
  }
  const same = all.find(({ metadata }) => metadata.name === id);
  if (same !== undefined) return same;
  const begun = all.filter(({ metadata }) => metadata.name.startsWith(id));
  const [only] = begun;
  if (only !== undefined && begun.length === 1) return only;
  const names = all.map(({ metadata }) => metadata.name);
  const close =
    begun.length > 1 ? begun.map(({ metadata }) => metadata.name) : closeNames(id, names);
  const hint =
    close.length > 0
      ? `did you mean ${close.slice(0, 3).join(' or ')}?`
      : '`drover get updates` lists them';
  throw new CommandError(exitCodes.failed, `no update ${id}; ${hint}`);
};

/** The data for one poll; undefined when the update is deleted. */
export const readFacts = async (kube: KubeApi, id: string): Promise<UpdateFacts | undefined> => {
  const found = await kube.get<NodeGroupUpdate>(type, { name: id });
  if (found.kind === 'gone') return undefined;
  const update = found.object;
  const { nodeGroup } = update.spec;
  // The controller has not started it, usually because another is in progress: one at a time,
  // oldest first.
  const first = update.status === undefined ? await openUpdateOf(kube, nodeGroup) : undefined;
  const before = first?.metadata.name;
  const [group, disruptions] = await Promise.all([
    readNodeGroup(kube, nodeGroup),
    // From the server's cache: data that is a second old is good enough for display.
    kube.list<NodeDisruption>(resourceTypes.nodedisruptions, { resourceVersion: '0' }),
  ]);
  return {
    update,
    ...(before === undefined || before === id ? {} : { behind: before }),
    group,
    disruptions: disruptions.items.filter(({ spec }) => spec.nodeGroup === nodeGroup),
  };
};

/**
 * Old nodes of a group during its update: with another image than the update's, or with the taint
 * of old nodes. Not for each poll of a watch, because a group may have thousands of nodes.
 */
export const withOldNodes = async (kube: KubeApi, facts: UpdateFacts): Promise<UpdateFacts> => {
  const { spec, status } = facts.update;
  const imageId = status?.target?.imageId;
  if (updateStatusOf(facts.update) !== 'InProgress' || imageId === undefined) return facts;
  const labelSelector = `${groupLabel}=${spec.nodeGroup}`;
  const { items } = await kube.list<Node>(resourceTypes.nodes, { labelSelector });
  const isOld = ({ metadata, spec: { taints = [] } }: Node): boolean => {
    const image = metadata.labels?.[imageLabel];
    const isOther = image !== undefined && image !== imageId;
    return isOther || taints.some(({ key }) => key === outdatedTaint);
  };
  const old = items.filter(isOld).flatMap(({ metadata: { name }, spec: { providerID = '' } }) => {
    const instanceId = instanceIdOfProviderId(providerID);
    return instanceId === undefined ? [] : [{ name, instanceId }];
  });
  return { ...facts, old };
};

export const openUpdateOf = async (
  kube: KubeApi,
  nodeGroup: string,
): Promise<NodeGroupUpdate | undefined> => (await openUpdates(kube, nodeGroup))[0];
