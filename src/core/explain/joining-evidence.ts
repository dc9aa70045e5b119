// What is known of instances that do not become nodes, and what a cause looks like: the words of
// `drover explain nodegroup` and of the group's health. Decides nothing.
import type { EpochMs } from '../../api/brand.ts';
import type { InstanceNetwork, JoinNetwork } from '../../api/network.ts';
import type { AwsAuthData, Family } from '../../formats/index.ts';

/** How sure: an instance said it itself; it would keep any node out; it may be it. */
export const certainties = ['shown', 'likely', 'possible'] as const;
export type Certainty = (typeof certainties)[number];

/** Words of ours for what EKS has one code for, NodeCreationFailure. */
export type JoinCauseCode =
  | 'LaunchFailed'
  | 'UserData'
  | 'ClusterNotFound'
  | 'WrongEndpoint'
  | 'NoRouteToEndpoint'
  | 'EndpointAccess'
  | 'SecurityGroups'
  | 'NoAddresses'
  | 'WrongCertificateAuthority'
  | 'NoCredentials'
  | 'RoleNotMapped'
  | 'RoleMappedWrongly'
  | 'NotAuthorized'
  | 'NodeNotReady'
  | 'NodeWithoutLabels'
  | 'CertificatePending'
  | 'CertificateDenied'
  | 'InstanceStopped'
  | 'WindowsAddresses'
  | 'WindowsNeedsLinux'
  | 'WindowsNeedsIPv4'
  | 'WindowsCustomNetworking'
  | 'WindowsPodSecurityGroups'
  | 'Unknown';

export interface JoinCause {
  readonly code: JoinCauseCode;
  readonly certainty: Certainty;
  /** A sentence without a full stop. */
  readonly what: string;
  readonly evidence: readonly string[];
  /** What to do: a sentence, or a command after `$ `. */
  readonly remedy: readonly string[];
  /** Empty: of the group, whatever its instances say. */
  readonly instances: readonly string[];
}

/** A kubelet's certificate request that has no certificate. */
export interface UnansweredRequest {
  readonly name: string;
  readonly kind: 'client' | 'serving';
  readonly isDenied: boolean;
  /** RFC 3339. */
  readonly since: string;
}

/** An instance that is no Ready node of its group. */
export interface JoiningInstance {
  readonly instanceId: string;
  /** EC2's own word. */
  readonly state: string;
  readonly launchTime: string | undefined;
  /** Undefined: not asked for, or not readable. */
  readonly console: string | undefined;
  /** Oldest first; absent: not looked at. */
  readonly requests?: readonly UnansweredRequest[];
  /** Absent: not known. */
  readonly network?: InstanceNetwork | undefined;
  readonly node:
    | {
        readonly name: string;
        /** The Ready condition's reason and message. */
        readonly notReady: string | undefined;
        readonly hasGroupLabel: boolean;
      }
    | undefined;
}

/** What the authenticator goes by. */
export type RoleMap =
  | { readonly kind: 'map'; readonly data: AwsAuthData }
  /** There is no kube-system/aws-auth. */
  | { readonly kind: 'absent' }
  /**
   * The cluster reads none: it has access entries alone, or is not EKS' and has no such ConfigMap.
   */
  | { readonly kind: 'unused' }
  | { readonly kind: 'unknown'; readonly why: string };

export interface GroupUserDataInForce {
  /** As the launch template has it. */
  readonly base64: string;
  /** For people: `lt-1 version 3`. */
  readonly template: string;
  readonly family: Family | undefined;
  readonly hasOwnImage: boolean;
  readonly kubernetesVersion: string | undefined;
  readonly instanceType: string | undefined;
}

/** What Windows groups need of their cluster; undefined: not known. */
export interface WindowsEvidence {
  /** Data of the ConfigMap kube-system/amazon-vpc-cni; `absent`: there is none. */
  readonly vpcCni: Readonly<Record<string, string>> | 'absent' | undefined;
  /** Environment of the container aws-node of the DaemonSet of that name; undefined: not known. */
  readonly vpcAgent: Readonly<Record<string, string>> | undefined;
  /** Nodes with another system than Windows, Ready or not. */
  readonly otherNodes: number | undefined;
  readonly serviceCidr: string | undefined;
  /** Events of pods that got no address, newest last: `namespace/name` and the kubelet's words. */
  readonly refused: readonly { readonly pod: string; readonly message: string }[];
}

export interface JoinEvidence {
  readonly now: EpochMs;
  readonly cluster: string;
  /** As STS names it or as IAM does; undefined: not known. */
  readonly roleArn: string | undefined;
  readonly isWindows: boolean;
  /** Of Windows groups, where it was looked at. */
  readonly windows?: WindowsEvidence;
  readonly roles: RoleMap;
  readonly userData: GroupUserDataInForce | undefined;
  /** Launches that failed since the last one that succeeded: EC2's words. */
  readonly failedLaunches: readonly { readonly code: string; readonly message: string }[];
  readonly instances: readonly JoiningInstance[];
  /** Absent: not looked at. */
  readonly network?: JoinNetwork;
}
