// Reads the fields that the NodeGroup of an adopted group omits from AWS and the nodes. Reads when
// the Auto Scaling group changes, and every few minutes. Omits what it may not read. Writes
// nothing.

import { completeNodeGroup } from '../../../api/adopted.ts';
import type { EpochMs } from '../../../api/brand.ts';
import type { ScalingGroup } from '../../../api/cloud.ts';
import { defined } from '../../../api/defined.ts';
import type { JsonObject } from '../../../api/json.ts';
import { type KubeObject, resourceTypes } from '../../../api/kube.ts';
import type {
  AdoptedFacts,
  NodeGroup,
  NodeGroupScaling,
  NodeGroupSpec,
} from '../../../api/nodegroup.ts';
import { adoptedFacts, clusterNameOf, profileNameOf } from '../../../core/nodegroup/index.ts';
import { CloudError } from '../../../ports/index.ts';
import { nodeOfInstance } from '../../informers.ts';
import type { NodeGroupDeps } from '../deps.ts';

/** A template's default version and a node's kubelet can change without the group. */
const lookEveryMs = 300_000;

export interface AdoptedMemory {
  /** `facts`: absent if the spec omits nothing. */
  adopted?: { readonly key: string; readonly lookedAt: EpochMs; readonly facts?: AdoptedFacts };
}

/** Undefined if AWS refuses for good, so that a missing permission costs only one field. */
const orRefused = async <T>(answer: Promise<T>): Promise<T | undefined> => {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof CloudError && error.retry === 'never') return undefined;
    throw error;
  }
};

interface NodeWithInfo extends KubeObject {
  readonly status?: { readonly nodeInfo?: { readonly kubeletVersion?: string } };
}

/** `1.32`, from the first instance that is a node. */
const versionOf = async (
  { kube, nodes }: NodeGroupDeps,
  { instances }: ScalingGroup,
  signal: AbortSignal,
): Promise<string | undefined> => {
  for (const { instanceId } of instances) {
    const name = nodeOfInstance(nodes, instanceId)?.metadata.name;
    if (name === undefined) continue;
    const found = await kube.get<NodeWithInfo>(resourceTypes.nodes, { name }, { signal });
    if (found.kind === 'gone') return undefined;
    return /^v(\d+\.\d+)/.exec(found.object.status?.nodeInfo?.kubeletVersion ?? '')?.[1];
  }
  return undefined;
};

const templateOf = async (
  { cloud }: NodeGroupDeps,
  { launchTemplate }: ScalingGroup,
  signal: AbortSignal,
): Promise<JsonObject | undefined> => {
  if (launchTemplate === undefined) return undefined;
  const { id, version } = launchTemplate;
  return (await orRefused(cloud.findLaunchTemplate({ id, version }, { signal })))?.data;
};

const roleOf = async (
  { cloud }: NodeGroupDeps,
  data: JsonObject | undefined,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const name = profileNameOf(data ?? {});
  if (name === undefined) return undefined;
  return (await orRefused(cloud.findInstanceProfile(name, { signal })))?.roleArn;
};

/** The facts known before AWS is read: enough to decide whose group it is. */
export const withClusterName = (
  { nodeGroups }: Pick<NodeGroupDeps, 'nodeGroups'>,
  group: NodeGroup,
  scaling: ScalingGroup,
): NodeGroup => {
  if (group.stated === undefined || group.spec.clusterName !== '') return group;
  const others = nodeGroups.list().map(({ spec }) => spec.clusterName);
  const { minSize, maxSize } = scaling;
  const data = { data: undefined, nodeRole: undefined, version: undefined };
  const clusterName = clusterNameOf(scaling.tags, others);
  return completeNodeGroup(group, {
    ...adoptedFacts(group, scaling, { ...data, clusterName }),
    minSize,
    maxSize,
  });
};

/** The spec states every field that AWS could provide, so AWS is not read. */
const isWhole = (stated: Partial<NodeGroupSpec>): boolean => {
  const { clusterName, capacityType, nodeRole, subnets, version, launchTemplate } = stated;
  const fields = [clusterName, capacityType, nodeRole, subnets, version, launchTemplate];
  const { minSize, maxSize }: Partial<NodeGroupScaling> = stated.scaling ?? {};
  return [...fields, minSize, maxSize].every((field) => field !== undefined);
};

const factsOf = async (
  deps: NodeGroupDeps,
  { stated = {}, ...group }: NodeGroup,
  scaling: ScalingGroup,
  signal: AbortSignal,
): Promise<AdoptedFacts> => {
  const data = await templateOf(deps, scaling, signal);
  const nodeRole = stated.nodeRole ?? (await roleOf(deps, data, signal));
  const known = group.status?.adopted?.version;
  const version = stated.version ?? (await versionOf(deps, scaling, signal)) ?? known;
  const { clusterName } = group.spec;
  return adoptedFacts(group, scaling, { clusterName, data, nodeRole, version });
};

/**
 * Completes an adopted group with facts from AWS; a group that Drover created is returned as it is.
 * Throws CloudError, KubeError.
 */
export const readAdopted = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  { memory, signal }: { readonly memory: AdoptedMemory; readonly signal: AbortSignal },
): Promise<NodeGroup> => {
  if (group.stated === undefined) return group;
  const { minSize, maxSize, subnets, launchTemplate, overrides, isSpot } = scaling;
  const key = JSON.stringify({ minSize, maxSize, subnets, launchTemplate, overrides, isSpot });
  const now = deps.clock.now();
  const known = memory.adopted;
  if (known === undefined || known.key !== key || now >= known.lookedAt + lookEveryMs) {
    const facts = isWhole(group.stated) ? undefined : await factsOf(deps, group, scaling, signal);
    memory.adopted = { key, lookedAt: now, ...defined({ facts }) };
  }
  return completeNodeGroup(group, memory.adopted?.facts);
};
