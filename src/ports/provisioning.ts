// The cloud as whoever creates clusters and groups needs it: clusters, stacks, add-ons, images.
// Used by the command line only; controllers have CloudApi. Absence is undefined; every other
// failure is a CloudError.
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
  listClusters(options?: CallOptions): Promise<readonly string[]>;
  describeCluster(name: string, options?: CallOptions): Promise<ClusterFacts | undefined>;
  /** EKS starts at once and goes on by itself; returns the update's id. */
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
  /** Node groups that EKS knows, by name; those of self-managed groups are not among them. */
  listNodegroups(cluster: string, options?: CallOptions): Promise<readonly string[]>;
  describeNodegroup(
    cluster: string,
    name: string,
    options?: CallOptions,
  ): Promise<NodegroupFacts | undefined>;
  /** Those of `ids`, or all of a VPC; unknown ids are simply missing from the answer. */
  describeSubnets(
    which: { readonly ids: readonly string[] } | { readonly vpcId: string },
    options?: CallOptions,
  ): Promise<readonly SubnetFacts[]>;
  /** Names of the region's zones that are available. */
  availabilityZones(options?: CallOptions): Promise<readonly string[]>;
  /**
   * The quota that applies to the account in this region; undefined where the service has none of
   * this code.
   */
  serviceQuota(
    quota: { readonly service: string; readonly code: string },
    options?: CallOptions,
  ): Promise<ServiceQuota | undefined>;
  /**
   * All of the account in this region that are pending or running, whosever they are; none on a
   * host of its own.
   */
  countedInstances(options?: CallOptions): Promise<readonly CountedInstance[]>;
  /** The value of a public SSM parameter that names an image. */
  imageParameter(name: string, options?: CallOptions): Promise<string | undefined>;
  /** The private key is thrown away: for embedded worlds, where nobody logs in. */
  createKeyPair(name: string, options?: CallOptions): Promise<void>;
  keyPairExists(name: string, options?: CallOptions): Promise<boolean>;
  /**
   * CloudFormation starts at once and goes on by itself; throws InvalidRequest when it is there.
   */
  createStack(plan: StackPlan, options?: CallOptions): Promise<void>;
  describeStack(name: string, options?: CallOptions): Promise<StackState | undefined>;
  /** Why resources of the stack could not be made, the first cause first. */
  stackFailures(name: string, options?: CallOptions): Promise<readonly StackFailure[]>;
  deleteStack(name: string, options?: CallOptions): Promise<void>;
  /** Undefined where the cluster's authentication mode knows none. */
  listAccessEntries(
    cluster: string,
    options?: CallOptions,
  ): Promise<readonly AccessEntryFacts[] | undefined>;
  /** Its policies with it. Throws InvalidRequest when the principal has one. */
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
  /** False when it was not there. */
  deleteAddon(cluster: string, name: string, options?: CallOptions): Promise<boolean>;
}
