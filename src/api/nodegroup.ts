// NodeGroup (drover.dev/v1alpha1): what EKS calls a nodegroup. Read-only mirror of its Auto Scaling
// group for now: nothing reconciles its spec into the cloud.
import type { Condition, KubeObject, Taint } from './kube.ts';

export interface NodeGroupSpec {
  readonly clusterName: string;
  readonly autoScalingGroupName: string;
  readonly amiType: string;
  readonly capacityType: 'ON_DEMAND' | 'SPOT';
  readonly instanceTypes: readonly string[];
  readonly version: string;
  readonly releaseVersion: string;
  readonly nodeRole: string;
  readonly subnets: readonly string[];
  readonly scaling: {
    readonly minSize: number;
    readonly maxSize: number;
    readonly desired?: number;
  };
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly launchTemplate?: {
    readonly id: string;
    readonly name?: string;
    readonly version: string;
  };
  readonly remoteAccess?: { readonly ec2SshKey?: string };
  readonly diskSizeGiB?: number;
  readonly tags?: Readonly<Record<string, string>>;
  readonly drain?: {
    /** Pods are forced this long after the notice; default: 15 minutes, as EKS. */
    readonly timeoutSeconds?: number;
    readonly onDeadline?: 'force' | 'fail';
  };
}

export interface NodeGroupStatus {
  readonly observedGeneration?: number;
  /** EKS' status word: ACTIVE, CREATING, DEGRADED, ... */
  readonly state: string;
  readonly desired: number;
  readonly minSize: number;
  readonly maxSize: number;
  readonly instances: number;
  readonly ready: number;
  readonly perZone?: Readonly<Record<string, number>>;
  readonly health?: readonly {
    readonly code: string;
    readonly message: string;
    readonly resourceIds: readonly string[];
  }[];
  readonly conditions?: readonly Condition[];
}

export interface NodeGroup extends KubeObject {
  readonly spec: NodeGroupSpec;
  readonly status?: NodeGroupStatus;
}
