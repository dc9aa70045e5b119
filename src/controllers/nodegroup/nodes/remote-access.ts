// The security group with which EKS opens port 22 of a node group's nodes, if the group requests
// remote access. Reads and deletes it; `decideCreation` plans it.

import type { SecurityGroup } from '../../../api/cloud.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import { CloudError, isInUse } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { Impossible } from '../impossible.ts';

/** Ids of the source security groups of remote access that exist. Throws CloudError. */
export const findSources = async (
  { cloud }: NodeGroupDeps,
  { spec: { remoteAccess } }: NodeGroup,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const { ec2SshKey, sourceSecurityGroups: ids = [] } = remoteAccess ?? {};
  if (ec2SshKey === undefined || ids.length === 0) return [];
  return (await cloud.findSecurityGroups({ ids }, { signal })).map(({ id }) => id);
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
