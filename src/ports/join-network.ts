// Reads the network between instances and their cluster: DescribeSubnets, DescribeSecurityGroups
// and the result of DescribeCluster. What cannot be read is left out and reported; decides nothing.

import type { ClusterAccess } from '../api/cloud.ts';
import type { InstanceNetwork, JoinNetwork } from '../api/network.ts';
import { type CloudApi, CloudError } from './cloud.ts';

export interface JoinNetworkLook {
  readonly network: JoinNetwork;
  /** Sentences about what could not be read. */
  readonly unseen: readonly string[];
}

export interface JoinPlaces {
  /** Undefined: EKS did not return it. */
  readonly cluster: ClusterAccess | undefined;
  /** Subnets of the Auto Scaling group. */
  readonly subnets: readonly string[];
  /** Networks of instances that have not joined. */
  readonly instances: readonly (InstanceNetwork | undefined)[];
}

/** Three calls at most; reads only the subnets if no instance is waiting to join. */
export const lookAtJoinNetwork = async (
  cloud: Pick<CloudApi, 'describeSubnets' | 'findSecurityGroups'>,
  { cluster, subnets, instances }: JoinPlaces,
  options: { readonly signal?: AbortSignal } = {},
): Promise<JoinNetworkLook> => {
  const unseen: string[] = [];
  const look = async <T>(what: string, ask: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      unseen.push(`${what}: ${error.message}`);
      return undefined;
    }
  };
  const places = instances.filter((one) => one !== undefined);
  const subnetIds = [...new Set([...subnets, ...places.map(({ subnetId }) => subnetId)])];
  const found =
    subnetIds.length === 0
      ? []
      : await look('addresses left in the subnets (ec2:DescribeSubnets)', () =>
          cloud.describeSubnets(subnetIds, options),
        );
  const network = cluster?.network;
  if (network === undefined) unseen.push('the cluster’s endpoint access (eks:DescribeCluster)');
  const groupIds = [
    ...new Set([
      ...places.flatMap((one) => one.securityGroups),
      ...(network?.securityGroups ?? []),
    ]),
  ];
  const groups =
    places.length === 0 || groupIds.length === 0
      ? []
      : await look('security groups (ec2:DescribeSecurityGroups)', () =>
          cloud.findSecurityGroups({ ids: groupIds }, options),
        );
  return {
    network: {
      cluster: network,
      subnets: found?.map(({ id, freeAddresses }) => ({ id, freeAddresses })),
      securityGroups: groups?.map(({ id, ingress, egress }) => ({ id, ingress, egress })),
    },
    unseen,
  };
};
