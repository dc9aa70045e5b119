// The security group with which EKS opens port 22 of a node group's nodes, if the group requests
// remote access. Created before the launch template that names it, deleted after the last node.

import type { SecurityGroup } from '../../../api/cloud.ts';
import { type NodeGroup, ownerTag, remoteAccessGroupNameOf } from '../../../api/nodegroup.ts';
import { templateTags } from '../../../core/nodegroup/index.ts';
import { CloudError, isInUse } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { Impossible } from '../impossible.ts';

const sshPort = 22;
const anywhere = '0.0.0.0/0';

/**
 * Undefined: remote access is not requested, or the group does not exist yet. Throws CloudError.
 */
export const findRemoteAccess = async (
  { cloud }: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
): Promise<SecurityGroup | undefined> => {
  if (group.spec.remoteAccess?.ec2SshKey === undefined) return undefined;
  const name = remoteAccessGroupNameOf(group);
  const found = await cloud.findSecurityGroups({ name }, { signal });
  return found.find((one) => one.tags[ownerTag] === group.metadata.uid);
};

/** Ensures that it exists if remote access is requested. Throws Impossible, CloudError. */
export const ensureRemoteAccess = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  vpcId: string,
  signal: AbortSignal,
): Promise<void> => {
  const { remoteAccess } = group.spec;
  if (remoteAccess?.ec2SshKey === undefined) return;
  const { sourceSecurityGroups: sources = [] } = remoteAccess;
  if (sources.length > 0) {
    const known = await deps.cloud.findSecurityGroups({ ids: sources }, { signal });
    const missing = sources.filter((id) => !known.some((one) => one.id === id));
    if (missing.length > 0) {
      const message = `The security group '${missing.join(', ')}' does not exist`;
      throw new Impossible('Ec2SecurityGroupNotFound', message, missing);
    }
  }
  let id = (await findRemoteAccess(deps, group, signal))?.id;
  if (id === undefined) {
    id = await deps.cloud.createSecurityGroup(
      {
        name: remoteAccessGroupNameOf(group),
        description: 'Security group for all nodes in the nodeGroup to allow SSH access',
        vpcId,
        tags: templateTags(group),
      },
      { signal },
    );
  }
  // Without source groups EKS opens the port to all addresses.
  const cidrs = sources.length === 0 ? [anywhere] : [];
  await deps.cloud.allowIngress(id, { port: sshPort, groups: sources, cidrs }, { signal });
};

/** Throws Impossible while it is in use elsewhere. */
export const removeRemoteAccess = async (
  deps: NodeGroupDeps,
  own: Pick<SecurityGroup, 'id' | 'name'>,
  signal: AbortSignal,
): Promise<void> => {
  try {
    await deps.cloud.deleteSecurityGroup(own.id, { signal });
  } catch (error) {
    if (!(error instanceof CloudError) || !isInUse(error.message)) throw error;
    const message =
      `Security group ${own.id} (${own.name}) could not be deleted: ${error.message}. Take it ` +
      'off the instances, network interfaces and rules that still name it.';
    throw new Impossible('Ec2SecurityGroupDeletionFailure', message, [own.id]);
  }
};
