// What a node group owns in the cloud: the tags it puts on it, and whether something of its name is its
// own. What is not is never changed. Pure.
import {
  autoScalingGroupNameOf,
  launchTemplateNameOf,
  type NodeGroup,
  ownerTag,
} from '../../api/nodegroup.ts';

type Tags = Readonly<Record<string, string>>;

const groupNameTag = 'eks:nodegroup-name';
const clusterNameTag = 'eks:cluster-name';

/** Carried over to instances: EKS' own, and those that cluster-autoscaler looks for. */
export const instanceTags = ({ metadata, spec }: NodeGroup): Tags => ({
  [clusterNameTag]: spec.clusterName,
  [groupNameTag]: metadata.name,
  'k8s.io/cluster-autoscaler/enabled': 'true',
  [`k8s.io/cluster-autoscaler/${spec.clusterName}`]: 'owned',
  [`kubernetes.io/cluster/${spec.clusterName}`]: 'owned',
});

export const ownerTags = ({ metadata }: NodeGroup): Tags => ({ [ownerTag]: metadata.uid });

export const templateTags = (group: NodeGroup): Tags => ({
  [clusterNameTag]: group.spec.clusterName,
  [groupNameTag]: group.metadata.name,
  ...ownerTags(group),
});

/** Why the Auto Scaling group is not this node group's, or undefined. */
export const foreignGroup = (group: NodeGroup, tags: Tags): string | undefined => {
  const { metadata, spec } = group;
  const name = autoScalingGroupNameOf(group);
  if (spec.autoScalingGroupName === undefined) {
    if (tags[ownerTag] === metadata.uid) return undefined;
    return `Auto Scaling group ${name} exists and was not created for this node group: its tag ${ownerTag} is not ${metadata.uid}. Delete it, or name it in spec.autoScalingGroupName of a new NodeGroup to adopt it.`;
  }
  const [owner, cluster] = [tags[groupNameTag], tags[clusterNameTag]];
  const fits = (tag: string | undefined, own: string): boolean => tag === undefined || tag === own;
  if (fits(owner, metadata.name) && fits(cluster, spec.clusterName)) return undefined;
  return `Auto Scaling group ${name} belongs to node group ${owner ?? '?'} of cluster ${cluster ?? '?'} by its tags; a NodeGroup of that name may adopt it.`;
};

/** A profile is only ever ours by our own tag: an adopted group's is that of whoever made the group. */
export const ownsProfile = ({ metadata }: NodeGroup, { tags }: { readonly tags: Tags }): boolean =>
  tags[ownerTag] === metadata.uid;

/** `arn:aws:iam::111122223333:role/path/name` -> `name`. */
export const roleNameOf = ({ spec }: NodeGroup): string =>
  spec.nodeRole.slice(spec.nodeRole.lastIndexOf('/') + 1);

/** The node role as aws-auth must name it: an assumed role has lost its path. */
export const mappedRoleOf = ({ spec }: { readonly spec: { readonly nodeRole: string } }): string =>
  spec.nodeRole.replace(/^(arn:[^:]*:iam::\d*:role)\/.*\/([^/]+)$/, '$1/$2');

/** The derived template of this group: never one that the user brought. */
export const ownsTemplate = (
  group: NodeGroup,
  template: { readonly name: string; readonly tags: Tags },
): boolean => {
  if (template.tags[ownerTag] === group.metadata.uid) return true;
  return (
    group.spec.autoScalingGroupName !== undefined &&
    template.name === launchTemplateNameOf(group) &&
    template.tags[groupNameTag] === group.metadata.name
  );
};
