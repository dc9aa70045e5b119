// The facts with which a machine joins a cluster: the cluster and endpoint in its user data, and
// the role of its instance profile. Judges nothing.
import type { AwsParts } from '../parts.ts';
import type { EntryUser } from './access-entries.ts';
import type { ClusterRow } from './clusters.ts';
import { roleArnOfProfile } from './identity.ts';
import { reaches } from './node-reach.ts';

export interface NodeAccess {
  readonly privateDnsName: string;
  /** As in its user data; undefined if it contains no literal name. */
  readonly clusterName: string | undefined;
  readonly endpoint: string | undefined;
  /** Undefined: no instance profile, or one without a role. */
  readonly roleArn: string | undefined;
  /** The cluster that it names, or the only one; undefined if EKS does not know it. */
  readonly cluster: Pick<ClusterRow, 'name' | 'authenticationMode'> | undefined;
  /** The access entry of this role, not of an earlier role with the same name. */
  readonly entry: EntryUser | undefined;
  /** The cluster's current endpoint; undefined while it has none. */
  readonly clusterEndpoint: string | undefined;
  /** Earlier endpoints of the same cluster. */
  readonly formerEndpoints: readonly string[];
  /** Its packets reach that endpoint and return. */
  readonly isReached: boolean;
}

type Parts = Pick<
  AwsParts,
  'instances' | 'identity' | 'clusters' | 'entries' | 'network' | 'records'
>;

export const nodeAccess = (parts: Parts, instanceId: string): NodeAccess | undefined => {
  const row = parts.instances.get(instanceId);
  if (row === undefined) return undefined;
  const { clusterName, endpoint } = parts.instances.bootstrapOf(row);
  const all = parts.clusters.all();
  const cluster = clusterName === undefined ? all[0] : all.find((one) => one.name === clusterName);
  const { profileArn } = row;
  const roleArn = profileArn && roleArnOfProfile(parts.identity, profileArn);
  const known = parts.clusters.access();
  return {
    privateDnsName: row.privateDnsName,
    clusterName,
    endpoint,
    roleArn,
    cluster,
    entry:
      cluster === undefined || roleArn === undefined
        ? undefined
        : parts.entries.live(cluster.name, roleArn),
    clusterEndpoint: known?.endpoint,
    formerEndpoints: known?.formerEndpoints ?? [],
    isReached: cluster === undefined || reaches(parts, row, cluster),
  };
};
