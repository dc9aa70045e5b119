// How the role of a self-managed group's nodes is authorized: by kube-system/aws-auth, or by an EKS
// access entry where the cluster's mode does not use aws-auth. Asks the cluster which; changes only
// that.
import type { EpochMs } from '../api/brand.ts';
import type { CloudApi, KubeApi } from '../ports/index.ts';
import { addIdentity, checkIdentities, hasIdentity, removeIdentity } from './aws-auth.ts';
import { CommandError, exitCodes } from './context.ts';

/** Tag of the access entries that Drover added and may remove; the controller uses it too. */
const ownTag = 'drover.dev/added';

export interface NodeRoleAccess {
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  readonly clusterName: string;
  readonly now: EpochMs;
  readonly tell: (text: string) => void;
  readonly warn: (text: string) => void;
}

const readsMap = async ({ cloud, clusterName }: NodeRoleAccess): Promise<boolean> =>
  (await cloud.describeCluster(clusterName))?.authenticationMode !== 'API';

/** Throws CommandError when no role could be authorized; called before anything is created. */
export const checkAccess = async (access: NodeRoleAccess): Promise<void> => {
  if (await readsMap(access)) await checkIdentities(access.kube);
};

export const isLetIn = async (access: NodeRoleAccess, roleArn: string): Promise<boolean> => {
  const { cloud, clusterName, kube } = access;
  if (await readsMap(access)) return hasIdentity(kube, roleArn);
  return (await cloud.findAccessEntry({ clusterName, principalArn: roleArn })) !== undefined;
};

export const letIn = async (
  access: NodeRoleAccess,
  role: { readonly arn: string; readonly system: 'linux' | 'windows'; readonly group: string },
): Promise<void> => {
  const { cloud, clusterName, tell } = access;
  const { arn, system } = role;
  if (await readsMap(access)) {
    tell(`adding identity "${arn}" to auth ConfigMap`);
    await addIdentity(
      { ...access, what: `let ${arn} in for node group ${role.group}` },
      arn,
      system,
    );
    return;
  }
  const type = system === 'windows' ? 'EC2_WINDOWS' : 'EC2_LINUX';
  const found = await cloud.findAccessEntry({ clusterName, principalArn: arn });
  if (found?.type === 'STANDARD') {
    throw new CommandError(
      exitCodes.refused,
      `the access entry of ${arn} is of type STANDARD, nodes need ${type}: delete it ` +
        '(`aws eks delete-access-entry`) and run the same command again',
    );
  }
  if (found !== undefined) return;
  tell(`creating access entry of type ${type} for "${arn}"`);
  await cloud.createAccessEntry({
    clusterName,
    principalArn: arn,
    type,
    tags: { [ownTag]: 'true' },
  });
};

/**
 * Removes what was created for a deleted group. The caller ensures that the role has no other user.
 */
export const takeOut = async (
  access: NodeRoleAccess,
  role: { readonly arn: string; readonly group: string },
): Promise<void> => {
  const { cloud, clusterName, tell, warn } = access;
  const { arn } = role;
  try {
    const change = { ...access, what: `take ${arn} out with node group ${role.group}` };
    const outcome = await removeIdentity(change, arn);
    if (outcome === 'removed') tell(`removed identity "${arn}" from auth ConfigMap`);
    if (outcome === 'not-ours') {
      warn(
        `identity "${arn}" stays in auth ConfigMap: Drover did not add it; take it away with ` +
          '`kubectl edit -n kube-system configmap aws-auth` when it is no longer needed',
      );
    }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    warn(`identity "${arn}" stays: ${error.message}`);
  }
  if (await readsMap(access)) return;
  const found = await cloud.findAccessEntry({ clusterName, principalArn: arn });
  if (found?.tags[ownTag] === undefined) return;
  await cloud.deleteAccessEntry(found);
  tell(`removed access entry of "${arn}"`);
};
