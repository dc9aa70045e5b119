// Shared by the handlers of the EKS face: look-ups, and refusals in EKS' form. Changes nothing.

import type { ScalingGroup } from '../api/cloud.ts';
import { isObject } from '../api/json.ts';
import { resourceTypes } from '../api/kube.ts';
import {
  autoScalingGroupNameOf,
  type NodeGroup,
  nodeGroupUuid,
  ownerTag,
  remoteAccessGroupNameOf,
} from '../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../api/nodegroup-update.ts';
import { type AwsCallContext, AwsError, type AwsHandler, text } from '../aws-wire/index.ts';
import type { Complaint } from '../core/nodegroup/index.ts';
import { inTurn } from '../core/update/index.ts';
import {
  type CloudApi,
  type KubeApi,
  KubeError,
  listNodeGroups,
  readNodeGroup,
} from '../ports/index.ts';

export interface EksFaceOptions {
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  /** EKS operations of the service that owns the clusters, which answers DescribeCluster. */
  readonly world: Readonly<Record<string, AwsHandler>>;
}

export interface Cluster {
  readonly name: string;
  /** Minor version. */
  readonly version: string;
  /** EKS' status, e.g. CREATING, ACTIVE, UPDATING. */
  readonly status: string;
}

interface Named {
  readonly clusterName?: string;
  readonly nodegroupName?: string;
}

export type NamedGroup = Required<Named>;

export const refusal =
  (code: string) =>
  (message: string, members: Named = {}): AwsError =>
    new AwsError({ code, message, members: { ...members } });

export const notFound = refusal('ResourceNotFoundException');
export const invalid = refusal('InvalidParameterException');
export const invalidRequest = refusal('InvalidRequestException');
export const inUse = refusal('ResourceInUseException');
export const unavailable = refusal('ServiceUnavailableException');

/** A missing object is a value, so a 404 means that the kind is not defined. */
export const isUndefinedKind = (error: unknown): boolean =>
  error instanceof KubeError && error.code === 'NotFound';

/** Throws InvalidParameterException for the first complaint. */
export const complain = (complaint: Complaint, named: Named): void => {
  if (complaint !== undefined) throw invalid(complaint, named);
};

/** Throws ResourceNotFoundException with EKS' message. */
export const needCluster = async (
  { world }: EksFaceOptions,
  name: string,
  ctx: AwsCallContext,
): Promise<Cluster> => {
  const missing = notFound(`No cluster found for name: ${name}.`, { clusterName: name });
  let answer: unknown;
  try {
    answer = await world.DescribeCluster?.({ name }, { ...ctx, operation: 'DescribeCluster' });
  } catch (error) {
    if (error instanceof AwsError && error.code === 'ResourceNotFoundException') throw missing;
    throw error;
  }
  const cluster = isObject(answer) ? answer.cluster : undefined;
  if (!isObject(cluster)) throw missing;
  return { name, version: text(cluster, 'version'), status: text(cluster, 'status') };
};

export const findGroup = async (
  { kube }: EksFaceOptions,
  clusterName: string,
  name: string,
): Promise<NodeGroup | undefined> => {
  const group = await readNodeGroup(kube, name);
  return group?.spec.clusterName === clusterName ? group : undefined;
};

/** Throws ResourceNotFoundException with EKS' message. */
export const needGroup = async (
  options: EksFaceOptions,
  clusterName: string,
  nodegroupName: string,
): Promise<NodeGroup> => {
  const group = await findGroup(options, clusterName, nodegroupName);
  if (group !== undefined) return group;
  const named = { clusterName, nodegroupName };
  throw notFound(`No node group found for name: ${nodegroupName}.`, named);
};

export const groupsOf = async (
  { kube }: EksFaceOptions,
  clusterName: string,
): Promise<readonly NodeGroup[]> => {
  const items = await listNodeGroups(kube);
  return items.filter((group) => group.spec.clusterName === clusterName);
};

/** Oldest first, in the order of execution. */
export const updatesOf = async (
  { kube }: EksFaceOptions,
  nodegroupName: string,
): Promise<readonly NodeGroupUpdate[]> => {
  const { items } = await kube.list<NodeGroupUpdate>(resourceTypes.nodegroupupdates);
  return items.filter(({ spec }) => spec.nodeGroup === nodegroupName).toSorted(inTurn);
};

export const scalingOf = async (
  { cloud }: EksFaceOptions,
  group: NodeGroup,
): Promise<ScalingGroup | undefined> =>
  (await cloud.describeGroups([autoScalingGroupNameOf(group)]))[0];

/** The cloud's security group that allows SSH to the group's nodes. */
export const remoteAccessGroupOf = async (
  { cloud }: EksFaceOptions,
  group: NodeGroup,
): Promise<string | undefined> => {
  if (group.spec.remoteAccess?.ec2SshKey === undefined) return undefined;
  const found = await cloud.findSecurityGroups({ name: remoteAccessGroupNameOf(group) });
  return found.find(({ tags }) => tags[ownerTag] === group.metadata.uid)?.id;
};

export const nodegroupArn = (group: NodeGroup, ctx: AwsCallContext): string => {
  const { spec, metadata } = group;
  const path = `nodegroup/${spec.clusterName}/${metadata.name}/${nodeGroupUuid(group)}`;
  return `arn:aws:eks:${ctx.region}:${ctx.principal.accountId}:${path}`;
};

/**
 * One page of names; the token is the number of names already returned: they are few and sorted.
 */
export const pageOf = (
  names: readonly string[],
  request: { readonly nextToken: string | undefined; readonly maxResults: number | undefined },
): { readonly names: readonly string[]; readonly nextToken?: string } => {
  const from = Number(request.nextToken ?? '0');
  if (!Number.isInteger(from) || from < 0) throw invalid('nextToken is not one that was given out');
  const size = request.maxResults ?? 100;
  const more = from + size < names.length;
  return {
    names: names.slice(from, from + size),
    ...(more ? { nextToken: String(from + size) } : {}),
  };
};
