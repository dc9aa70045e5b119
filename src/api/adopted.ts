// Completes the spec of a NodeGroup that adopts an Auto Scaling group: fields that it omits come
// from the status, read from AWS. Every reader of NodeGroups completes them here, once, at the
// edge.
import type { AdoptedFacts, NodeGroup, NodeGroupSpec, NodeGroupStatus } from './nodegroup.ts';

/** Values for an adopted group before its facts are known. */
const unknown: Omit<NodeGroupSpec, 'scaling'> = {
  clusterName: '',
  // EKS' value for a launch template that specifies its image.
  amiType: 'CUSTOM',
  capacityType: 'ON_DEMAND',
  instanceTypes: [],
  version: '',
  nodeRole: '',
  subnets: [],
};

/**
 * The revision in the spec when it was last observed; these values are not a new request. A version
 * that was unknown at that time is the one that the nodes report.
 */
const notedRevision = (
  group: NodeGroup,
  { version = '' }: Partial<AdoptedFacts>,
): NodeGroupStatus['requestedRevision'] => {
  const noted = group.status?.requestedRevision;
  return noted && { ...noted, version: noted.version === '' ? version : noted.version };
};

/**
 * `spec`: complete, whatever the object states; `stated`: what it states. Sizes and revision are
 * the last observed ones, so that a change made at AWS is not taken for a request. Returns a group
 * that Drover created unchanged.
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
  // A release that the spec does not state stays open: an update without one installs the newest.
  const { releaseVersion: _release, ...noted } = revision ?? {};
  const { instanceTypes = [] } = stated;
  const spec: NodeGroupSpec = {
    ...unknown,
    ...known,
    ...(revision === undefined ? launchTemplate && { launchTemplate } : noted),
    ...stated,
    // The API server defaults it to an empty list.
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
