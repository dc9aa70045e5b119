// What a node group owns in the cloud: the tags it sets, and whether an object of its name belongs
// to it. Other objects are never changed. Pure.
import {
  autoScalingGroupNameOf,
  launchTemplateNameOf,
  type NodeGroup,
  ownerTag,
} from '../../api/nodegroup.ts';

type Tags = Readonly<Record<string, string>>;

const groupNameTag = 'eks:nodegroup-name';
const clusterNameTag = 'eks:cluster-name';

/** Tags propagated to instances: EKS' own, and those that cluster-autoscaler looks for. */
export const instanceTags = ({ metadata, spec }: NodeGroup): Tags => ({
  [clusterNameTag]: spec.clusterName,
  [groupNameTag]: metadata.name,
  'k8s.io/cluster-autoscaler/enabled': 'true',
  [`k8s.io/cluster-autoscaler/${spec.clusterName}`]: 'owned',
  [`kubernetes.io/cluster/${spec.clusterName}`]: 'owned',
});

export const ownerTags = ({ metadata }: Named): Tags => ({ [ownerTag]: metadata.uid });

export const templateTags = (group: NodeGroup): Tags => ({
  [clusterNameTag]: group.spec.clusterName,
  [groupNameTag]: group.metadata.name,
  ...ownerTags(group),
});

/** Ownership of an Auto Scaling group that a NodeGroup names. */
export type Ownership =
  /** It carries the uid of this NodeGroup. */
  | { readonly kind: 'own' }
  /** Can be adopted: its tags name this node group and cluster. */
  | { readonly kind: 'named' }
  /** Can be adopted: its tags name no owner, so another NodeGroup may be about to adopt it. */
  | { readonly kind: 'free' }
  /** Owned by another NodeGroup or cluster; it must not be changed. */
  | { readonly kind: 'foreign'; readonly message: string };

type Named = Pick<NodeGroup, 'metadata' | 'spec'>;

/** If two NodeGroups name one Auto Scaling group, the older one adopts it. */
const isOlder = ({ metadata: a }: Named, { metadata: b }: Named): boolean =>
  a.creationTimestamp < b.creationTimestamp ||
  (a.creationTimestamp === b.creationTimestamp && a.uid < b.uid);

/** `others`: NodeGroups of this Kubernetes cluster that name the same Auto Scaling group. */
export const ownershipOf = (group: Named, tags: Tags, others: readonly Named[] = []): Ownership => {
  const { metadata, spec } = group;
  const name = autoScalingGroupNameOf(group);
  const holder = tags[ownerTag];
  if (holder === metadata.uid) return { kind: 'own' };
  const foreign = (message: string) => ({ kind: 'foreign', message }) as const;
  if (spec.autoScalingGroupName === undefined) {
    return foreign(
      `Auto Scaling group ${name} exists and was not created for this node group: its tag ` +
        `${ownerTag} is not ${metadata.uid}. Delete it, or name it in ` +
        'spec.autoScalingGroupName of a new NodeGroup to adopt it.',
    );
  }
  const [owner, cluster] = [tags[groupNameTag], tags[clusterNameTag]];
  const whose = `node group ${owner ?? '?'} of cluster ${cluster ?? '?'}`;
  const fits = (tag: string | undefined, own: string): boolean => tag === undefined || tag === own;
  if (!fits(owner, metadata.name) || !fits(cluster, spec.clusterName)) {
    return foreign(
      `Auto Scaling group ${name} belongs to ${whose} by its tags; a NodeGroup of that name ` +
        'may adopt it.',
    );
  }
  if (holder !== undefined) {
    return foreign(
      `Auto Scaling group ${name} has been adopted by ${whose} with uid ${holder} (tag ` +
        `${ownerTag}), not by this one with uid ${metadata.uid}. Take the tag away if that ` +
        'NodeGroup no longer exists.',
    );
  }
  const first = others.find((other) => isOlder(other, group));
  if (first !== undefined) {
    return foreign(
      `Auto Scaling group ${name} is being adopted by the older NodeGroup ` +
        `${first.metadata.name}; one group has one NodeGroup. Delete one of them.`,
    );
  }
  return { kind: owner === undefined || cluster === undefined ? 'free' : 'named' };
};

/**
 * Whether this NodeGroup manages the group; also true before its owner tag is set, if the other
 * tags name it.
 */
export const holdsGroup = (group: Named, tags: Tags): boolean => {
  const { kind } = ownershipOf(group, tags);
  return kind === 'own' || kind === 'named';
};

/** On an adopted group: the other tags that adoption added, which a release removes. */
const addedTag = 'drover.dev/added-tags';

/** The tags that adoption writes before anything else; existing tags stay. */
export const adoptionTags = (group: Named, has: Tags): Tags => {
  const names = Object.entries({
    [clusterNameTag]: group.spec.clusterName,
    [groupNameTag]: group.metadata.name,
  }).filter(([key]) => has[key] === undefined);
  const added = names.map(([key]) => key).join(' ');
  return {
    ...Object.fromEntries(names),
    ...(added === '' || has[addedTag] !== undefined ? {} : { [addedTag]: added }),
    ...(has[ownerTag] === undefined ? { [ownerTag]: group.metadata.uid } : {}),
  };
};

/**
 * Keys of the tags that a release removes: Drover's own, and the names that adoption or creation
 * added. With EKS' names left on it, the group would look like one that EKS manages.
 */
export const releasedTags = ({ spec }: Pick<NodeGroup, 'spec'>, has: Tags): readonly string[] => {
  const isCreated = spec.autoScalingGroupName === undefined;
  const added = isCreated ? [clusterNameTag, groupNameTag] : (has[addedTag] ?? '').split(' ');
  const names = [clusterNameTag, groupNameTag].filter((key) => added.includes(key));
  return [...names, addedTag, ownerTag].filter((key) => has[key] !== undefined);
};

/** `arn:aws:iam::111122223333:role/path/name` -> `name`. */
export const roleNameOf = ({ spec }: NodeGroup): string =>
  spec.nodeRole.slice(spec.nodeRole.lastIndexOf('/') + 1);

/** The node role as aws-auth must name it: the ARN of an assumed role has no path. */
export const mappedRoleOf = ({ spec }: { readonly spec: { readonly nodeRole: string } }): string =>
  spec.nodeRole.replace(/^(arn:[^:]*:iam::\d*:role)\/.*\/([^/]+)$/, '$1/$2');

/**
 * Whether a derived launch template or instance profile belongs to this group, by the owner's tag
 * or, for an adopted group, by the name and group tag that Drover derives. A user's own object
 * never does.
 */
export const ownsDerived = (
  group: NodeGroup,
  derived: { readonly name: string; readonly tags: Tags },
): boolean => {
  if (derived.tags[ownerTag] === group.metadata.uid) return true;
  return (
    group.spec.autoScalingGroupName !== undefined &&
    derived.name === launchTemplateNameOf(group) &&
    derived.tags[groupNameTag] === group.metadata.name
  );
};
