// Observes what the creation of a node group needs, and what a launch template is derived from.
// Writes nothing.
import type { ClusterAccess } from '../../../api/cloud.ts';
import { defined } from '../../../api/defined.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { CreationObservation } from '../../../core/group-plan/index.ts';
import {
  hasRelease,
  imagesToRead,
  type Made,
  type TemplateFacts,
  type TemplateReads,
  templateFactsOf,
  typesToRead,
} from '../../../core/nodegroup/index.ts';
import { findRemoteAccess, readDerivedParts } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { Impossible } from '../impossible.ts';
import { findSources } from '../nodes/remote-access.ts';

const readImages = async (
  { cloud }: NodeGroupDeps,
  group: NodeGroup,
  asked: ReturnType<typeof imagesToRead>,
  signal: AbortSignal,
): Promise<Pick<TemplateReads, 'images' | 'otherImages'>> => {
  if (asked === undefined) return { images: [], otherImages: [] };
  const { wanted, all } = asked;
  const images = await cloud.describeImages(wanted, { signal });
  const isFound = wanted === all || hasRelease(group, images);
  const otherImages = isFound ? [] : await cloud.describeImages(all, { signal });
  return { images, otherImages };
};

interface Known {
  readonly cluster: ClusterAccess | undefined;
  readonly remoteAccess: string | undefined;
  /** An image to use instead of the newest one. */
  readonly imageId?: string | undefined;
}

/** Throws CloudError. */
const readTemplate = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  { cluster, remoteAccess, imageId }: Known,
  signal: AbortSignal,
): Promise<TemplateReads> => {
  const { cloud } = deps;
  const { launchTemplate: asked } = group.spec;
  const source = asked && (await cloud.findLaunchTemplate(asked, { signal }));
  const wanted = imageId === undefined ? imagesToRead(group, { source }) : undefined;
  const images = await readImages(deps, group, wanted, signal);
  const types = await cloud.describeInstanceTypes(typesToRead(group, { source }), { signal });
  return { source, ...images, types, cluster, remoteAccess };
};

/** All input of the derived template. Throws Impossible, CloudError. */
export const templateFacts = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
  imageId?: string,
): Promise<TemplateFacts & { readonly made: Made }> => {
  const cluster = await deps.cloud.describeCluster(group.spec.clusterName, { signal });
  const remoteAccess = (await findRemoteAccess(deps.cloud, group, { signal }))?.id;
  const known = { cluster, remoteAccess, imageId };
  const reads = await readTemplate(deps, group, known, signal);
  const read = templateFactsOf(group, reads, imageId);
  if (read.kind === 'known') return { ...read.facts, made: read.made };
  const { code, message, resourceIds } = read.issue;
  throw new Impossible(code, message, resourceIds);
};

/** For a group without an Auto Scaling group. Throws CloudError. */
export const observeCreation = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
): Promise<CreationObservation> => {
  const { cloud, compat } = deps;
  const cluster = await cloud.describeCluster(group.spec.clusterName, { signal });
  const subnets = await cloud.describeSubnets(group.spec.subnets, { signal });
  const derived = await readDerivedParts(cloud, group, { signal });
  const sources = await findSources(deps, group, signal);
  const securityGroup = await findRemoteAccess(cloud, group, { signal });
  const known = { cluster, remoteAccess: securityGroup?.id };
  const reads =
    derived.template === undefined ? await readTemplate(deps, group, known, signal) : undefined;
  const found = { cluster, subnets, ...derived, sources, securityGroup };
  return { group, compat, ...found, ...defined({ reads }) };
};
