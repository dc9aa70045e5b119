// Where instances stand and from where an EKS cluster is reached, as far as a node's joining goes
// by it. Types alone, in the words of EC2 and EKS.

/** Where an instance stands; by its primary interface. */
export interface InstanceNetwork {
  readonly subnetId: string;
  readonly vpcId: string;
  readonly securityGroups: readonly string[];
  readonly privateAddress: string;
  readonly publicAddress?: string;
}

/** From where a cluster's API server is reached (DescribeCluster, resourcesVpcConfig). */
export interface ClusterNetwork {
  readonly vpcId: string;
  readonly publicAccess: boolean;
  readonly privateAccess: boolean;
  readonly publicAccessCidrs: readonly string[];
  /** Of its interfaces in the VPC: the cluster security group, then those that the user named. */
  readonly securityGroups: readonly string[];
}

/** One permission of a security group; without ports: all of them. */
export interface SecurityRule {
  /** `tcp`, `udp`, ..., a number, or `-1` for all. */
  readonly protocol: string;
  readonly fromPort?: number;
  readonly toPort?: number;
  readonly cidrs: readonly string[];
  readonly groups: readonly string[];
  /** Their addresses are not known here. */
  readonly hasPrefixLists: boolean;
}

export interface SecurityGroupRules {
  readonly id: string;
  readonly ingress: readonly SecurityRule[];
  readonly egress: readonly SecurityRule[];
}

/** What a look at the network found; undefined: that part was not looked at. */
export interface JoinNetwork {
  readonly cluster: ClusterNetwork | undefined;
  /** Those of the group, and of its instances that have not joined. */
  readonly subnets: readonly { readonly id: string; readonly freeAddresses: number }[] | undefined;
  /** Of those instances, and of the cluster. */
  readonly securityGroups: readonly SecurityGroupRules[] | undefined;
}
