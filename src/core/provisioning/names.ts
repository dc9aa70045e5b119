// Names and tags that eksctl gives to the resources it creates, because other tools look for them.

export const nodeGroupStackName = (cluster: string, group: string): string =>
  `eksctl-${cluster}-nodegroup-${group}`;

export const clusterStackName = (cluster: string): string => `eksctl-${cluster}-cluster`;

export const clusterTag = 'alpha.eksctl.io/cluster-name';
export const groupTag = 'alpha.eksctl.io/nodegroup-name';
const groupTypeTag = 'alpha.eksctl.io/nodegroup-type';

/** Whether the tags are those of a managed node group's stack. */
export const isManagedStack = (tags: Readonly<Record<string, string>>): boolean =>
  tags[groupTypeTag] === 'managed';

/** Tags of a node group's stack, which CloudFormation also sets on the stack's resources. */
export const nodeGroupStackTags = (options: {
  readonly cluster: string;
  readonly group: string;
  readonly kind: 'managed' | 'self-managed';
  readonly own: Readonly<Record<string, string>>;
}): Readonly<Record<string, string>> => ({
  [clusterTag]: options.cluster,
  'eksctl.cluster.k8s.io/v1alpha1/cluster-name': options.cluster,
  [groupTag]: options.group,
  [groupTypeTag]: options.kind === 'managed' ? 'managed' : 'unmanaged',
  'eksctl.io/v1alpha2/nodegroup-name': options.group,
  ...options.own,
});
