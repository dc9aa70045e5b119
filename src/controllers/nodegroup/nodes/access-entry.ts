// The EKS access entry of a group's node role, in clusters whose authentication mode has entries.
// Created before the first node starts, deleted after the last. Does not touch entries that Drover
// did not create.

import type { AccessEntry, ClusterAccess } from '../../../api/cloud.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import { familyOf } from '../../../core/nodegroup/index.ts';
import { CloudError } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { Impossible } from '../impossible.ts';

/** Marks entries that Drover may delete. */
const ownTag = 'drover.dev/added';

/** Whether EKS authorizes nodes by access entries; it then keeps managed groups out of aws-auth. */
export const hasEntries = ({ authenticationMode = 'CONFIG_MAP' }: ClusterAccess): boolean =>
  authenticationMode !== 'CONFIG_MAP';

const wantedFor = ({ spec }: NodeGroup): AccessEntry => ({
  clusterName: spec.clusterName,
  principalArn: spec.nodeRole,
  type: familyOf(spec.amiType)?.bootstrap === 'powershell' ? 'EC2_WINDOWS' : 'EC2_LINUX',
  tags: { [ownTag]: 'true' },
});

/** False: the entry existed. Throws Impossible if the existing entry does not authorize nodes. */
export const admitByEntry = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  signal: AbortSignal,
): Promise<boolean> => {
  const wanted = wantedFor(group);
  const found = await deps.cloud.findAccessEntry(wanted, { signal });
  if (found === undefined) {
    try {
      await deps.cloud.createAccessEntry(wanted, { signal });
      return true;
    } catch (error) {
      // Two groups of one role may be created at the same time; the order of the calls does not
      // matter.
      const now =
        error instanceof CloudError && error.code === 'InvalidRequest'
          ? await deps.cloud.findAccessEntry(wanted, { signal })
          : undefined;
      if (now === undefined) throw error;
      return false;
    }
  }
  if (found.type === 'STANDARD' || (wanted.type === 'EC2_WINDOWS' && found.type === 'EC2_LINUX')) {
    throw new Impossible(
      'AccessDenied',
      `the access entry of ${wanted.principalArn} is of type ${found.type}, nodes of this group ` +
        `need ${wanted.type}: delete it (\`aws eks delete-access-entry\`), or give the ` +
        'group another role',
      [wanted.principalArn],
    );
  }
  return false;
};

/** False: there was no entry of Drover's, or the role is used elsewhere. */
export const dropEntry = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  asked: { readonly isUsed: () => Promise<boolean>; readonly signal: AbortSignal },
): Promise<boolean> => {
  const { signal } = asked;
  if (group.spec.nodeRole === '') return false;
  const wanted = wantedFor(group);
  const cluster = await deps.cloud.describeCluster(wanted.clusterName, { signal });
  if (cluster === undefined || !hasEntries(cluster)) return false;
  const found = await deps.cloud.findAccessEntry(wanted, { signal });
  if (found?.tags[ownTag] === undefined || (await asked.isUsed())) return false;
  return deps.cloud.deleteAccessEntry(wanted, { signal });
};
