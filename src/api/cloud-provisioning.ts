// Types for creating clusters and groups: clusters, stacks, add-ons, quotas, access. No behaviour.
import type { JsonObject } from './json.ts';

export interface ClusterFacts {
  readonly name: string;
  readonly arn: string;
  /** As EKS spells it: CREATING, ACTIVE, DELETING, FAILED, UPDATING. */
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
  /** As EKS spells it: ACTIVE, UPDATING, ... */
  readonly status: string;
  readonly version: string;
  readonly releaseVersion: string;
  readonly amiType: string;
  readonly capacityType: string;
  readonly instanceTypes: readonly string[];
  readonly subnets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** Effects as EKS spells them: NO_SCHEDULE, ... */
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

/** What CloudFormation is asked to create. */
export interface StackPlan {
  readonly name: string;
  readonly template: JsonObject;
  readonly tags: Readonly<Record<string, string>>;
}

export interface StackState {
  readonly name: string;
  /** As CloudFormation spells it, e.g. CREATE_IN_PROGRESS. */
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
  /** As EKS spells it. */
  readonly type: string;
  /** Undefined in a create call: EKS derives one from the principal. */
  readonly username: string | undefined;
  readonly groups: readonly string[];
  readonly policies: readonly AccessPolicyFacts[];
}

export interface StackFailure {
  readonly logicalId: string;
  readonly type: string;
  readonly reason: string;
}

/** As Service Quotas reports it. */
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

export interface ClusterUpdateFacts {
  /** As EKS spells it: InProgress, Successful, Failed, Cancelled. */
  readonly status: string;
  readonly errors: readonly { readonly code: string; readonly message: string }[];
}
