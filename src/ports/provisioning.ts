// The cloud as whoever creates clusters and groups needs it: clusters, stacks, add-ons, images.
// Used by the command line only; controllers have CloudApi. Absence is undefined; every other
// failure is a CloudError.
import type { JsonObject } from '../api/json.ts';

export interface ClusterFacts {
  readonly name: string;
  readonly arn: string;
  /** EKS' own word: CREATING, ACTIVE, DELETING, FAILED, UPDATING. */
  readonly status: string;
  /** Minor version, e.g. 1.32. */
  readonly version: string;
  readonly endpoint: string;
  readonly certificateAuthority: string;
  readonly serviceCidr: string | undefined;
  readonly vpcId: string;
  readonly subnetIds: readonly string[];
  readonly securityGroupId: string | undefined;
  readonly logTypes: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  /** RFC 3339. */
  readonly createdAt: string;
}

export interface SubnetFacts {
  readonly id: string;
  readonly zone: string;
  readonly vpcId: string;
  /** Instances get public addresses. */
  readonly isPublic: boolean;
}

/** A managed node group as EKS describes it. */
export interface NodegroupFacts {
  readonly name: string;
  readonly cluster: string;
  /** EKS' own word: ACTIVE, UPDATING, ... */
  readonly status: string;
  readonly version: string;
  readonly releaseVersion: string;
  readonly amiType: string;
  readonly capacityType: string;
  readonly instanceTypes: readonly string[];
  readonly subnets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** Effects in EKS' words: NO_SCHEDULE, ... */
  readonly taints: readonly {
    readonly key: string;
    readonly value: string;
    readonly effect: string;
  }[];
  readonly minSize: number;
  readonly maxSize: number;
  readonly desiredSize: number;
  readonly maxUnavailable?: number;
  readonly maxUnavailablePercentage?: number;
  /** DEFAULT or MINIMAL. */
  readonly updateStrategy?: string;
  readonly launchTemplate?: { readonly id: string; readonly version: string };
  readonly autoScalingGroupName?: string;
}

/** What CloudFormation is asked to make. */
export interface StackPlan {
  readonly name: string;
  readonly template: JsonObject;
  readonly tags: Readonly<Record<string, string>>;
}

export interface StackState {
  readonly name: string;
  /** CloudFormation's own word, e.g. CREATE_IN_PROGRESS. */
  readonly status: string;
  readonly statusReason: string | undefined;
  readonly outputs: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

export interface AccessPolicyFacts {
  readonly policyArn: string;
  readonly scope: 'cluster' | 'namespace';
  readonly namespaces: readonly string[];
}

export interface AccessEntryFacts {
  readonly principalArn: string;
  /** EKS' own word. */
  readonly type: string;
  /** Undefined when it is made: EKS makes one of the principal. */
  readonly username: string | undefined;
  readonly groups: readonly string[];
  readonly policies: readonly AccessPolicyFacts[];
}

export interface StackFailure {
  readonly logicalId: string;
  readonly type: string;
  readonly reason: string;
}

/** As Service Quotas tells it. */
export interface ServiceQuota {
  readonly code: string;
  readonly name: string;
  readonly value: number;
}

/** An instance that counts against the account's quota of vCPUs. */
export interface CountedInstance {
  readonly instanceType: string;
  readonly isSpot: boolean;
}

export interface AddonFacts {
  readonly name: string;
  readonly version: string;
  readonly status: string;
  readonly issues: readonly string[];
  /** Empty when it has none. */
  readonly roleArn: string;
  readonly configurationValues: string;
  readonly createdAt: string;
}

interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface ClusterUpdateFacts {
  /** EKS' own word: InProgress, Successful, Failed, Cancelled. */
  readonly status: string;
  readonly errors: readonly { readonly code: string; readonly message: string }[];
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
