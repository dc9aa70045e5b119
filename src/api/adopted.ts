// The spec of a NodeGroup that adopts an Auto Scaling group: what it leaves out stands in the
// status, read from AWS. Every reader of NodeGroups completes them here, once, at the edge.
import type { AdoptedFacts, NodeGroup, NodeGroupSpec, NodeGroupStatus } from './nodegroup.ts';

/** The node group of an adopted group whose facts are not known yet. */
const unknown: Omit<NodeGroupSpec, 'scaling'> = {
  clusterName: '',
  // EKS' word for a launch template that names its image.
  amiType: 'CUSTOM',
  capacityType: 'ON_DEMAND',
  instanceTypes: [],
  version: '',
  nodeRole: '',
  subnets: [],
};

/**
 * What the spec asked for when it was last taken note of, none of it a request: a version that no
 * node had told yet is the one that nodes tell by now.
 */
const notedRevision = (
  group: NodeGroup,
  { version = '' }: Partial<AdoptedFacts>,
): NodeGroupStatus['requestedRevision'] => {
  const noted = group.status?.requestedRevision;
  return noted && { ...noted, version: noted.version === '' ? version : noted.version };
};

/**
 * `spec`: whole, whatever the object states; `stated`: what it states. Sizes and revision stand as
 * they were last taken note of, so that a change at AWS is no request. Of a group that Drover
 * creates: as it is.
 */
export const completeNodeGroup = (
  group: NodeGroup,
  facts: AdoptedFacts | undefined = group.status?.adopted,
): NodeGroup => {
  const stated = group.stated ?? group.spec;
  if (stated.autoScalingGroupName === undefined) return group;
  const { minSize = 0, maxSize = 0, imageId: _, ...told }: Partial<AdoptedFacts> = facts ?? {};
  const { launchTemplate, ...known } = told;
  const { requested } = group.status ?? {};
  const revision = notedRevision(group, told);
  // A release that the spec does not state stays open: an update without one is to the newest.
  const { releaseVersion: _release, ...noted } = revision ?? {};
  const { instanceTypes = [] } = stated;
  const spec: NodeGroupSpec = {
    ...unknown,
    ...known,
    ...(revision === undefined ? launchTemplate && { launchTemplate } : noted),
    ...stated,
    // The API server defaults it to none.
    instanceTypes: instanceTypes.length > 0 ? instanceTypes : (known.instanceTypes ?? []),
    scaling: {
      minSize,
      maxSize,
      ...(requested && { minSize: requested.minSize, maxSize: requested.maxSize }),
      ...stated.scaling,
    },
  };
  const status = group.status && revision && { ...group.status, requestedRevision: revision };
  return { ...group, spec, stated, ...(status && { status }) };
};
