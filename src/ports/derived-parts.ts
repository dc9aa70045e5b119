// Reads the objects beside an Auto Scaling group that have the names which Drover derives for a
// node group. Their tags show the owner. Writes nothing.
import type { InstanceProfile, LaunchTemplate, SecurityGroup } from '../api/cloud.ts';
import {
  launchTemplateNameOf,
  type NodeGroup,
  ownerTag,
  remoteAccessGroupNameOf,
} from '../api/nodegroup.ts';
import type { CloudApi } from './cloud.ts';

interface Options {
  readonly signal?: AbortSignal;
}

/** Throws CloudError. */
export const readDerivedParts = async (
  cloud: Pick<CloudApi, 'findLaunchTemplate' | 'findInstanceProfile'>,
  group: NodeGroup,
  options: Options = {},
): Promise<{
  readonly template: LaunchTemplate | undefined;
  readonly profile: InstanceProfile | undefined;
}> => {
  const name = launchTemplateNameOf(group);
  return {
    template: await cloud.findLaunchTemplate({ name, version: '$Latest' }, options),
    profile: await cloud.findInstanceProfile(name, options),
  };
};

/**
 * The security group of remote access. Undefined: remote access is not requested, or the group does
 * not exist yet. Throws CloudError.
 */
export const findRemoteAccess = async (
  cloud: Pick<CloudApi, 'findSecurityGroups'>,
  group: NodeGroup,
  options: Options = {},
): Promise<SecurityGroup | undefined> => {
  if (group.spec.remoteAccess?.ec2SshKey === undefined) return undefined;
  const name = remoteAccessGroupNameOf(group);
  const found = await cloud.findSecurityGroups({ name }, options);
  return found.find((one) => one.tags[ownerTag] === group.metadata.uid);
};
