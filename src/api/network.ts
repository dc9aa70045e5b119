// The network of instances and of an EKS cluster's endpoint, as far as a node needs it to join.
// Types only, in the terms of EC2 and EKS.

/** The network of an instance, by its primary interface. */
export interface InstanceNetwork {
  readonly subnetId: string;
  readonly vpcId: string;
  readonly securityGroups: readonly string[];
  readonly privateAddress: string;
  readonly publicAddress?: string;
}

/** Access to a cluster's API server (DescribeCluster, resourcesVpcConfig). */
export interface ClusterNetwork {
  readonly vpcId: string;
  readonly publicAccess: boolean;
  readonly privateAccess: boolean;
  readonly publicAccessCidrs: readonly string[];
  /**
   * Security groups of its interfaces in the VPC: the cluster security group, then those that the
   * user specified.
   */
  readonly securityGroups: readonly string[];
}

/** One permission of a security group; without ports: all ports. */
export interface SecurityRule {
  /** `tcp`, `udp`, ..., a number, or `-1` for all. */
  readonly protocol: string;
  readonly fromPort?: number;
  readonly toPort?: number;
  readonly cidrs: readonly string[];
  readonly groups: readonly string[];
  /** True if it refers to prefix lists, whose addresses are unknown here. */
  readonly hasPrefixLists: boolean;
}

export interface SecurityGroupRules {
  readonly id: string;
  readonly ingress: readonly SecurityRule[];
  readonly egress: readonly SecurityRule[];
}

/** The result of a look at the network; undefined: that part was not read. */
export interface JoinNetwork {
  readonly cluster: ClusterNetwork | undefined;
  /** Subnets of the group, and of its instances that have not joined. */
  readonly subnets: readonly { readonly id: string; readonly freeAddresses: number }[] | undefined;
  /** Security groups of those instances, and of the cluster. */
  readonly securityGroups: readonly SecurityGroupRules[] | undefined;
}
