// What a machine brings along to join a cluster: the cluster and endpoint that its user data names,
// and the role that its instance profile gives it. Judges nothing.
import type { AwsParts } from '../parts.ts';
import type { EntryUser } from './access-entries.ts';
import type { ClusterRow } from './clusters.ts';
import { roleArnOfProfile } from './identity.ts';
import { reaches } from './node-reach.ts';

export interface NodeAccess {
  readonly privateDnsName: string;
  /** As its user data has it; undefined where that names none in so many words. */
  readonly clusterName: string | undefined;
  readonly endpoint: string | undefined;
  /** Undefined: no instance profile, or one without a role. */
  readonly roleArn: string | undefined;
  /** Of the cluster that it names, or the only one; undefined: EKS knows none such. */
  readonly cluster: Pick<ClusterRow, 'name' | 'authenticationMode'> | undefined;
  /** Of this role, and of no other that had its name before. */
  readonly entry: EntryUser | undefined;
  /** The cluster's own; undefined while it has none. */
  readonly clusterEndpoint: string | undefined;
  /** What it was before: the same cluster. */
  readonly formerEndpoints: readonly string[];
  /** Its packets get to that endpoint and back. */
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
