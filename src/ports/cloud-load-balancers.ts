// Target groups of Elastic Load Balancing and the health of their targets. Reads only.
import type { TargetGroup, TargetHealth } from '../api/cloud.ts';

interface Options {
  readonly signal?: AbortSignal;
}

export interface CloudLoadBalancers {
  /** Target groups whose tags name the cluster: those of its Services and Ingresses. */
  describeTargetGroups(clusterName: string, options?: Options): Promise<readonly TargetGroup[]>;
  /** All targets of one group; none where it does not exist any more. */
  describeTargets(targetGroupArn: string, options?: Options): Promise<readonly TargetHealth[]>;
}
