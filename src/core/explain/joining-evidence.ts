// The evidence about instances that do not become nodes, and the shape of a cause, for `drover
// explain nodegroup` and the group's health. Decides nothing.
import type { EpochMs } from '../../api/brand.ts';
import type { InstanceNetwork, JoinNetwork } from '../../api/network.ts';
import type { AwsAuthData, Family } from '../../formats/index.ts';

/**
 * shown: an instance reported it. likely: it would keep any node from joining. possible: it could
 * be the cause.
 */
export const certainties = ['shown', 'likely', 'possible'] as const;
export type Certainty = (typeof certainties)[number];

/** Drover's own codes for what EKS covers with one code, NodeCreationFailure. */
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
  /** Empty: the cause concerns the group, not single instances. */
  readonly instances: readonly string[];
}

/** A kubelet's certificate signing request without a certificate. */
export interface UnansweredRequest {
  readonly name: string;
  readonly kind: 'client' | 'serving';
  readonly isDenied: boolean;
  /** RFC 3339. */
  readonly since: string;
}

/** An instance that is not a Ready node of its group. */
export interface JoiningInstance {
  readonly instanceId: string;
  /** The state as EC2 names it. */
  readonly state: string;
  readonly launchTime: string | undefined;
  /** Undefined: not requested, or not readable. */
  readonly console: string | undefined;
  /** Oldest first; absent: not looked up. */
  readonly requests?: readonly UnansweredRequest[];
  /** Absent: unknown. */
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

/** kube-system/aws-auth as the cluster's authenticator uses it. */
export type RoleMap =
  | { readonly kind: 'map'; readonly data: AwsAuthData }
  /** kube-system/aws-auth does not exist. */
  | { readonly kind: 'absent' }
  /**
   * The cluster does not use the map: it has access entries only, or is not an EKS cluster and has
   * no such ConfigMap.
   */
  | { readonly kind: 'unused' }
  | { readonly kind: 'unknown'; readonly why: string };

export interface GroupUserDataInForce {
  /** As the launch template contains it. */
  readonly base64: string;
  /** For display: `lt-1 version 3`. */
  readonly template: string;
  readonly family: Family | undefined;
  readonly hasOwnImage: boolean;
  readonly kubernetesVersion: string | undefined;
  readonly instanceType: string | undefined;
}

/** What Windows groups require of their cluster; undefined: unknown. */
export interface WindowsEvidence {
  /** Data of the ConfigMap kube-system/amazon-vpc-cni; `absent`: it does not exist. */
  readonly vpcCni: Readonly<Record<string, string>> | 'absent' | undefined;
  /** Environment of container aws-node in the DaemonSet of that name; undefined: unknown. */
  readonly vpcAgent: Readonly<Record<string, string>> | undefined;
  /** Nodes with an operating system other than Windows, Ready or not. */
  readonly otherNodes: number | undefined;
  readonly serviceCidr: string | undefined;
  /**
   * Events of pods that got no address, newest last: `namespace/name` and the kubelet's message.
   */
  readonly refused: readonly { readonly pod: string; readonly message: string }[];
}

export interface JoinEvidence {
  readonly now: EpochMs;
  readonly cluster: string;
  /** In the form of STS or of IAM; undefined: unknown. */
  readonly roleArn: string | undefined;
  readonly isWindows: boolean;
  /** For Windows groups, where it was looked up. */
  readonly windows?: WindowsEvidence;
  readonly roles: RoleMap;
  readonly userData: GroupUserDataInForce | undefined;
  /** Launches that failed since the last successful one, with EC2's messages. */
  readonly failedLaunches: readonly { readonly code: string; readonly message: string }[];
  readonly instances: readonly JoiningInstance[];
  /** Absent: not looked up. */
  readonly network?: JoinNetwork;
}
