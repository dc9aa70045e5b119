// The cloud API for creating clusters and groups: clusters, stacks, add-ons, images. Used by the
// command line only; controllers have CloudApi. Absence is undefined; every other failure is a
// CloudError.
import type {
  AccessEntryFacts,
  AddonFacts,
  ClusterFacts,
  ClusterUpdateFacts,
  CountedInstance,
  NodegroupFacts,
  ServiceQuota,
  StackFailure,
  StackPlan,
  StackState,
  SubnetFacts,
} from '../api/cloud-provisioning.ts';

interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface ProvisioningApi {
  /** The account of the credentials; undefined where the service does not name it. */
  callerAccount(options?: CallOptions): Promise<string | undefined>;
  listClusters(options?: CallOptions): Promise<readonly string[]>;
  describeCluster(name: string, options?: CallOptions): Promise<ClusterFacts | undefined>;
  /** EKS starts the update and continues on its own; returns the update's id. */
  updateClusterVersion(
    cluster: string,
    request: { readonly version: string; readonly force: boolean },
    options?: CallOptions,
  ): Promise<string>;
  describeClusterUpdate(
    cluster: string,
    updateId: string,
    options?: CallOptions,
  ): Promise<ClusterUpdateFacts>;
  /** Names of the node groups that EKS manages; self-managed groups are not among them. */
  listNodegroups(cluster: string, options?: CallOptions): Promise<readonly string[]>;
  describeNodegroup(
    cluster: string,
    name: string,
    options?: CallOptions,
  ): Promise<NodegroupFacts | undefined>;
  /** The subnets in `ids`, or all of a VPC; unknown ids are missing from the answer. */
  describeSubnets(
    which: { readonly ids: readonly string[] } | { readonly vpcId: string },
    options?: CallOptions,
  ): Promise<readonly SubnetFacts[]>;
  /** Names of the region's available zones. */
  availabilityZones(options?: CallOptions): Promise<readonly string[]>;
  /**
   * The quota of the account in this region; undefined where the service has no quota of this code.
   */
  serviceQuota(
    quota: { readonly service: string; readonly code: string },
    options?: CallOptions,
  ): Promise<ServiceQuota | undefined>;
  /**
   * All pending or running instances of the account in this region, including those not of Drover;
   * without instances on dedicated hosts.
   */
  countedInstances(options?: CallOptions): Promise<readonly CountedInstance[]>;
  /** The instance refresh of an Auto Scaling group that is under way. */
  activeRefresh(
    autoScalingGroupName: string,
    options?: CallOptions,
  ): Promise<{ readonly status: string; readonly percentage: number } | undefined>;
  /** The value of a public SSM parameter that names an image. */
  imageParameter(name: string, options?: CallOptions): Promise<string | undefined>;
  /** The private key is discarded: for embedded worlds, where logging in is impossible. */
  createKeyPair(name: string, options?: CallOptions): Promise<void>;
  keyPairExists(name: string, options?: CallOptions): Promise<boolean>;
  /**
   * CloudFormation starts the stack and continues on its own; throws InvalidRequest if it exists.
   */
  createStack(plan: StackPlan, options?: CallOptions): Promise<void>;
  describeStack(name: string, options?: CallOptions): Promise<StackState | undefined>;
  /** Why resources of the stack could not be created, the first cause first. */
  stackFailures(name: string, options?: CallOptions): Promise<readonly StackFailure[]>;
  deleteStack(name: string, options?: CallOptions): Promise<void>;
  /** Undefined where the cluster's authentication mode has no access entries. */
  listAccessEntries(
    cluster: string,
    options?: CallOptions,
  ): Promise<readonly AccessEntryFacts[] | undefined>;
  /** Includes its policies. Throws InvalidRequest when the principal has one. */
  createAccessEntry(cluster: string, entry: AccessEntryFacts, options?: CallOptions): Promise<void>;
  listAddons(cluster: string, options?: CallOptions): Promise<readonly AddonFacts[]>;
  createAddon(
    cluster: string,
    addon: {
      readonly name: string;
      readonly version?: string;
      readonly configurationValues?: string;
      readonly overwrite?: boolean;
    },
    options?: CallOptions,
  ): Promise<void>;
  /** False when it did not exist. */
  deleteAddon(cluster: string, name: string, options?: CallOptions): Promise<boolean>;
}
