// What a machine brings along to join a cluster: the cluster and endpoint that its user data names, and the
// role that its instance profile gives it. Judges nothing.
import { readUserData } from '../ec2/user-data.ts';
import type { AwsParts } from '../parts.ts';
import type { ClusterRow } from './clusters.ts';

export interface NodeAccess {
  readonly privateDnsName: string;
  /** As its user data has it; undefined where that names none in so many words. */
  readonly clusterName: string | undefined;
  readonly endpoint: string | undefined;
  /** Undefined: no instance profile, or one without a role. */
  readonly roleArn: string | undefined;
  /** Of the cluster that it names, or the only one; undefined: EKS knows none such. */
  readonly cluster: Pick<ClusterRow, 'name' | 'authenticationMode'> | undefined;
  /** The cluster's own; undefined while it has none. */
  readonly clusterEndpoint: string | undefined;
}

type Parts = Pick<AwsParts, 'instances' | 'identity' | 'clusters'>;

/** By ARN or by name, as launch templates have it. */
const roleOf = ({ identity }: Parts, profileArn: string | undefined): string | undefined => {
  if (profileArn === undefined) return undefined;
  const name = profileArn.slice(profileArn.lastIndexOf('/') + 1);
  const [role] = identity.profiles().find((profile) => profile.name === name)?.roles ?? [];
  const row = role === undefined ? undefined : identity.role(role);
  return row === undefined ? undefined : identity.roleArn(row);
};

export const nodeAccess = (parts: Parts, instanceId: string): NodeAccess | undefined => {
  const row = parts.instances.get(instanceId);
  if (row === undefined) return undefined;
  const { clusterName, endpoint } = readUserData(row.userData, {
    instanceId,
    lifecycle: row.capacityType === 'SPOT' ? 'spot' : 'on-demand',
  });
  const all = parts.clusters.all();
  return {
    privateDnsName: row.privateDnsName,
    clusterName,
    endpoint,
    roleArn: roleOf(parts, row.profileArn),
    cluster: clusterName === undefined ? all[0] : all.find((one) => one.name === clusterName),
    clusterEndpoint: parts.clusters.access()?.endpoint,
  };
};
