// What a node group owns in the cloud: the tags it puts on it, and whether something of its name is
// its own. What is not is never changed. Pure.
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

export const ownerTags = ({ metadata }: Named): Tags => ({ [ownerTag]: metadata.uid });

export const templateTags = (group: NodeGroup): Tags => ({
  [clusterNameTag]: group.spec.clusterName,
  [groupNameTag]: group.metadata.name,
  ...ownerTags(group),
});

/** Of an Auto Scaling group that a NodeGroup names. */
export type Ownership =
  /** It carries the uid of this NodeGroup. */
  | { readonly kind: 'own' }
  /** To be adopted: its tags name this very node group and cluster. */
  | { readonly kind: 'named' }
  /** To be adopted: nobody's by its tags, so anybody may be about to. */
  | { readonly kind: 'free' }
  /** Somebody else's; nothing of it may be changed. */
  | { readonly kind: 'foreign'; readonly message: string };

type Named = Pick<NodeGroup, 'metadata' | 'spec'>;

/** Of two NodeGroups that name one Auto Scaling group: the older adopts it. */
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
        'NodeGroup is no more.',
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
 * Whether the group is looked after for this NodeGroup: so too before its mark, where its tags say
 * whose.
 */
export const holdsGroup = (group: Named, tags: Tags): boolean => {
  const { kind } = ownershipOf(group, tags);
  return kind === 'own' || kind === 'named';
};

/** On an adopted group: which tags besides adoption added, for a release to remove. */
const addedTag = 'drover.dev/added-tags';

/** What adoption writes on a group before anything else; what it has already stays as it is. */
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

/** Keys of the tags that a release removes: Drover's own, and those that adoption added. */
export const releasedTags = (has: Tags): readonly string[] => {
  const added = (has[addedTag] ?? '').split(' ');
  const names = [clusterNameTag, groupNameTag].filter((key) => added.includes(key));
  return [...names, addedTag, ownerTag].filter((key) => has[key] !== undefined);
};

/** `arn:aws:iam::111122223333:role/path/name` -> `name`. */
export const roleNameOf = ({ spec }: NodeGroup): string =>
  spec.nodeRole.slice(spec.nodeRole.lastIndexOf('/') + 1);

/** The node role as aws-auth must name it: an assumed role has lost its path. */
export const mappedRoleOf = ({ spec }: { readonly spec: { readonly nodeRole: string } }): string =>
  spec.nodeRole.replace(/^(arn:[^:]*:iam::\d*:role)\/.*\/([^/]+)$/, '$1/$2');

/**
 * Derived launch template or instance profile of this group: never one that the user brought. Those
 * of an adopted group that carry its names go with it.
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
