// The nouns of the cloud as Drover uses them: Auto Scaling groups, instances, hooks, templates,
// stacks. Words of EC2, EC2 Auto Scaling, EKS and CloudFormation stay as these services spell them.
// No behaviour.
import type { EpochMs } from './brand.ts';
import type { JsonObject } from './json.ts';
import type { ClusterNetwork, InstanceNetwork } from './network.ts';

export interface QueueMessage {
  readonly id: string;
  readonly receiptHandle: string;
  readonly body: string;
  /** How often the queue has handed it out, this time included. */
  readonly receiveCount: number;
  /** When the queue took it in, by the queue's clock; absent where the queue does not say. */
  readonly sentAt?: EpochMs;
}

export interface ScalingInstance {
  readonly instanceId: string;
  readonly autoScalingGroupName: string;
  readonly availabilityZone: string;
  /** EC2 Auto Scaling's own word, e.g. InService, Terminating:Wait. */
  readonly lifecycleState: string;
  readonly instanceType: string;
  readonly protectedFromScaleIn: boolean;
  /** Auto Scaling's own word: Healthy, Unhealthy. */
  readonly healthStatus?: string;
  /** The version that it was started from; absent where that is not of the group's template. */
  readonly launchTemplateVersion?: string;
}

export interface ScalingGroup {
  readonly name: string;
  /** Names its account and region; absent where Auto Scaling does not say. */
  readonly arn?: string;
  readonly minSize: number;
  readonly maxSize: number;
  readonly desiredCapacity: number;
  readonly createdAt: string;
  readonly instances: readonly ScalingInstance[];
  readonly tags: Readonly<Record<string, string>>;
  readonly launchTemplate?: {
    readonly id: string;
    readonly name: string;
    readonly version: string;
  };
  /**
   * Set where the group has a mixed instances policy: its overrides in EC2 Auto Scaling's own
   * words, weights and all, as they go back to it with another version of the template.
   */
  readonly overrides?: readonly JsonObject[];
  /** Its mixed instances policy starts Spot Instances alone; absent: it does not. */
  readonly isSpot?: boolean;
  /** Where it starts instances; none where it names zones alone. */
  readonly subnets?: readonly string[];
  /**
   * Whether spot instances that EC2 recommends to rebalance are replaced; absent where not said.
   */
  readonly capacityRebalance?: boolean;
  /** Absent: none, or one that is being deleted. */
  readonly warmPool?: { readonly instances: number; readonly state: string };
  /** EC2 Auto Scaling's own words, e.g. AZRebalance. */
  readonly suspendedProcesses?: readonly string[];
}

export interface LifecycleHook {
  readonly name: string;
  readonly autoScalingGroupName: string;
  readonly transition:
    | 'autoscaling:EC2_INSTANCE_LAUNCHING'
    | 'autoscaling:EC2_INSTANCE_TERMINATING';
  readonly heartbeatTimeoutSeconds: number;
  readonly globalTimeoutSeconds: number;
  readonly defaultResult: 'CONTINUE' | 'ABANDON';
  /**
   * NotificationMetadata: text that Auto Scaling keeps with the hook and sends with its messages.
   */
  readonly metadata?: string;
}

export interface CloudInstance {
  readonly instanceId: string;
  /** EC2's own word: pending, running, shutting-down, terminated, stopping, stopped. */
  readonly state: string;
  readonly privateDnsName: string;
  readonly instanceType: string;
  /** True of a spot instance; absent where EC2 was not understood to say. */
  readonly isSpot?: boolean;
  readonly imageId: string;
  readonly availabilityZone: string;
  /** RFC 3339. */
  readonly launchTime?: string;
  /** Its own, private and public, IPv6 too; never those of pods. Absent: none are known. */
  readonly addresses?: readonly string[];
  readonly publicDnsName?: string;
  /** Absent of one that has ended. */
  readonly network?: InstanceNetwork;
}

/** What EC2 has scheduled for an instance: maintenance of its host, a reboot, its retirement. */
export interface ScheduledEvent {
  /** EC2's own: instance-event-... */
  readonly id: string;
  readonly instanceId: string;
  /** EC2's own word: system-reboot, instance-retirement, ... */
  readonly code: string;
  /** RFC 3339: EC2 does nothing to the instance before. Absent where EC2 names no time. */
  readonly notBefore?: string;
  /** It was carried out, or called off; EC2 shows it for about a week more. */
  readonly isOver: boolean;
}

/** One of EC2's two status checks that fails for an instance. */
export interface ImpairedInstance {
  readonly instanceId: string;
  readonly check: 'instance' | 'system';
  /** RFC 3339; absent where EC2 does not say. */
  readonly since?: string;
}

export interface LaunchTemplateFacts {
  readonly instanceType?: string;
  readonly imageId?: string;
}

/** A launch template with the data of one of its versions, in EC2's own member names. */
export interface LaunchTemplate {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly data: JsonObject;
}

export interface InstanceProfile {
  readonly name: string;
  /** At most one: IAM's own limit. */
  readonly roles: readonly string[];
  /** Of that role. */
  readonly roleArn?: string;
  readonly tags: Readonly<Record<string, string>>;
}

export interface NewGroup {
  readonly name: string;
  readonly minSize: number;
  readonly maxSize: number;
  readonly desiredCapacity: number;
  readonly subnets: readonly string[];
  readonly launchTemplate: { readonly id: string; readonly version: string };
  /** Set = a mixed instances policy over these types, first choice first. */
  readonly instanceTypes?: readonly string[];
  readonly spot: boolean;
  /** Carried over to the instances. */
  readonly tags: Readonly<Record<string, string>>;
  /** On the group alone. */
  readonly ownTags: Readonly<Record<string, string>>;
  readonly hooks: readonly NewHook[];
}

export interface NewHook
  extends Pick<
    LifecycleHook,
    'name' | 'transition' | 'heartbeatTimeoutSeconds' | 'defaultResult' | 'metadata'
  > {
  readonly notificationTarget?: string;
}

/** One attempt of Auto Scaling to start or end an instance. */
export interface ScalingActivity {
  readonly id: string;
  /** Auto Scaling's own words: "Launching a new EC2 instance: i-...", "Terminating EC2 ...". */
  readonly description: string;
  readonly startedAt: string;
  /** Absent while it goes on. */
  readonly endedAt?: string;
  /** Auto Scaling's own word: Successful, Failed, InProgress, ... */
  readonly status: string;
  readonly message: string;
  /** Why, in Auto Scaling's own words; absent where it does not say. */
  readonly cause?: string;
  /** Of its Details; absent where Auto Scaling names none. */
  readonly zone?: string;
}

export interface InstanceTypeFacts {
  readonly name: string;
  readonly interfaces: number;
  readonly addressesPerInterface: number;
  readonly vcpus: number;
  readonly architectures: readonly string[];
}

export interface Subnet {
  readonly id: string;
  readonly availabilityZone: string;
  readonly vpcId: string;
  readonly freeAddresses: number;
}

export interface ClusterAccess {
  /** Kubernetes' minor version, e.g. 1.32. */
  readonly version?: string;
  readonly endpoint: string;
  /** PEM in base64. */
  readonly certificateAuthority: string;
  readonly serviceCidr?: string;
  readonly securityGroupId?: string;
  /** EKS' own word: CONFIG_MAP, API_AND_CONFIG_MAP or API. */
  readonly authenticationMode?: string;
  readonly network?: ClusterNetwork;
}

export interface Image {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

export interface Stack {
  readonly name: string;
  readonly status: string;
  readonly createdAt: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly autoScalingGroupName?: string;
  /**
   * ARN: as eksctl's stacks give it out (InstanceRoleARN), or EKS' own template (NodeInstanceRole).
   */
  readonly nodeRole?: string;
}

/**
 * The lifecycle action of one instance. An instance waits once in a hook at most, so its id names
 * the action; a token would be that of a message, and a forged one is refused.
 */
export interface HookCall {
  readonly autoScalingGroupName: string;
  readonly hookName: string;
  readonly instanceId: string;
}

export interface SecurityGroup {
  readonly id: string;
  readonly name: string;
  readonly vpcId: string;
  readonly tags: Readonly<Record<string, string>>;
}

export type NewSecurityGroup = Omit<SecurityGroup, 'id'> & { readonly description: string };

/** TCP to one port, from members of other groups or from addresses. */
export interface IngressRule {
  readonly port: number;
  readonly groups: readonly string[];
  readonly cidrs: readonly string[];
}

/** Of one IAM role, which then is a node to its cluster without aws-auth. */
export interface AccessEntry {
  readonly clusterName: string;
  /** With its path. */
  readonly principalArn: string;
  /** EKS' own word: EC2_LINUX, EC2_WINDOWS, STANDARD, ... */
  readonly type: string;
  readonly tags: Readonly<Record<string, string>>;
}
