// Turns an update requested through EKS into a NodeGroupUpdate: one at a time per group, and one
// per request, whose token determines the object's name. Each operation decides the change.

import type { JsonObject } from '../api/json.ts';
import { resourceTypes } from '../api/kube.ts';
import { newUpdate } from '../api/new-update.ts';
import type { NodeGroup } from '../api/nodegroup.ts';
import {
  type NodeGroupUpdate,
  type NodeGroupUpdateSpec,
  updateStatusOf,
} from '../api/nodegroup-update.ts';
import {
  type AwsCallContext,
  type AwsInput,
  md5Hex,
  optionalText,
  text,
} from '../aws-wire/index.ts';
import { KubeError } from '../ports/index.ts';
import {
  type Cluster,
  type EksFaceOptions,
  inUse,
  invalid,
  needCluster,
  needGroup,
  updatesOf,
} from './context.ts';
import { requestText } from './read-input.ts';

const requestAnnotation = 'drover.dev/request-digest';

/** A uuid derived from a digest: the same request has the same id. */
const uuidOf = (digest: string): string =>
  [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `4${digest.slice(13, 16)}`,
    `a${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-');

const mustBeActive = async (options: EksFaceOptions, group: NodeGroup): Promise<void> => {
  const { metadata, status, spec } = group;
  const updates = await updatesOf(options, metadata.name);
  const isFree = !updates.some((one) => updateStatusOf(one) === 'InProgress');
  const state = status?.state ?? (spec.autoScalingGroupName === undefined ? 'CREATING' : 'ACTIVE');
  const isActive = state === 'ACTIVE' || state === 'DEGRADED' || state === 'UPDATING';
  if (isFree && isActive && metadata.deletionTimestamp === undefined) return;
  throw inUse('Nodegroup cannot be updated as it is currently not in Active State', {
    clusterName: spec.clusterName,
    nodegroupName: metadata.name,
  });
};

/** Evaluates an operation's request; throws EKS' refusals. */
type Decide = (asked: {
  readonly group: NodeGroup;
  readonly cluster: Cluster;
}) => Omit<NodeGroupUpdateSpec, 'nodeGroup'> | Promise<Omit<NodeGroupUpdateSpec, 'nodeGroup'>>;

const objectOf = (
  { metadata }: NodeGroup,
  id: { readonly name: string; readonly digest: string },
  spec: Omit<NodeGroupUpdateSpec, 'nodeGroup'>,
): JsonObject =>
  newUpdate({
    name: id.name,
    owner: metadata,
    annotations: { [requestAnnotation]: id.digest },
    spec: { nodeGroup: metadata.name, ...spec },
  });

/** Throws ResourceInUseException while another update is in progress. */
export const recordUpdate = async (
  options: EksFaceOptions,
  input: AwsInput,
  ctx: AwsCallContext,
  decide: Decide,
): Promise<NodeGroupUpdate> => {
  const { kube } = options;
  const cluster = await needCluster(options, text(input, 'clusterName'), ctx);
  const group = await needGroup(options, cluster.name, text(input, 'nodegroupName'));
  const named = { clusterName: cluster.name, nodegroupName: group.metadata.name };
  const request = optionalText(input, 'clientRequestToken') ?? ctx.requestId;
  const name = uuidOf(md5Hex(`${group.metadata.uid}/${request}`));
  const type = resourceTypes.nodegroupupdates;
  const digest = md5Hex(requestText(input));
  const repeated = async (): Promise<NodeGroupUpdate | undefined> => {
    const found = await kube.get<NodeGroupUpdate>(type, { name });
    if (found.kind === 'gone') return undefined;
    if (found.object.metadata.annotations?.[requestAnnotation] === digest) return found.object;
    throw invalid('clientRequestToken was used before with other parameters', named);
  };
  const known = await repeated();
  if (known !== undefined) return known;
  await mustBeActive(options, group);
  const spec = await decide({ group, cluster });
  try {
    return await kube.create<NodeGroupUpdate>(type, objectOf(group, { name, digest }, spec));
  } catch (error) {
    const again = error instanceof KubeError && error.code === 'AlreadyExists';
    const other = again ? await repeated() : undefined;
    if (other === undefined) throw error;
    return other;
  }
};
