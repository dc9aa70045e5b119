// The cloud's objects as Drover uses them: Auto Scaling groups, instances, hooks, templates,
// stacks. Terms of EC2, EC2 Auto Scaling, EKS and CloudFormation keep the services' spelling. No
// behaviour.
import type { EpochMs } from './brand.ts';
import type { JsonObject } from './json.ts';
import type { ClusterNetwork, InstanceNetwork } from './network.ts';

export interface QueueMessage {
  readonly id: string;
  readonly receiptHandle: string;
  readonly body: string;
  /** How often the queue has delivered the message, including this time. */
  readonly receiveCount: number;
  /**
   * When the queue received it, by the queue's clock; absent where the queue does not report it.
   */
  readonly sentAt?: EpochMs;
}

export interface ScalingInstance {
  readonly instanceId: string;
  readonly autoScalingGroupName: string;
  readonly availabilityZone: string;
  /** As EC2 Auto Scaling spells it, e.g. InService, Terminating:Wait. */
  readonly lifecycleState: string;
  readonly instanceType: string;
  readonly protectedFromScaleIn: boolean;
  /** As Auto Scaling spells it: Healthy, Unhealthy. */
  readonly healthStatus?: string;
  /** The template version it was launched from; absent if that is not of the group's template. */
  readonly launchTemplateVersion?: string;
}

export interface ScalingGroup {
  readonly name: string;
  /** Contains its account and region; absent where Auto Scaling does not report it. */
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
   * Set for a group with a mixed instances policy: its overrides in EC2 Auto Scaling's member
   * names, including weights, ready to be sent back with another template version.
   */
  readonly overrides?: readonly JsonObject[];
  /** True if its mixed instances policy launches only Spot Instances; otherwise absent. */
  readonly isSpot?: boolean;
  /** The subnets in which it launches instances; absent where it names zones only. */
  readonly subnets?: readonly string[];
  /**
   * Whether it replaces Spot Instances after a rebalance recommendation; absent where not reported.
   */
  readonly capacityRebalance?: boolean;
  /** Absent: no warm pool, or one that is being deleted. */
  readonly warmPool?: { readonly instances: number; readonly state: string };
  /** Names of the Classic Load Balancers that it registers instances with; absent: none. */
  readonly classicLoadBalancers?: readonly string[];
  /** As EC2 Auto Scaling spells them, e.g. AZRebalance. */
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
   * NotificationMetadata: text that Auto Scaling stores with the hook and sends with its messages.
   */
  readonly metadata?: string;
}

export interface TargetGroup {
  readonly arn: string;
  readonly name: string;
  /** As Elastic Load Balancing spells it: instance, ip, lambda, alb. */
  readonly targetType: string;
}

/** A target of one target group. */
export interface TargetHealth {
  /** An instance id, or an address. */
  readonly id: string;
  /** As Elastic Load Balancing spells it: initial, healthy, unhealthy, unused, draining, ... */
  readonly state: string;
}

/** The state of one instance in a target group, by the group's name. */
export interface TargetState {
  readonly group: string;
  readonly state: string;
}

export interface CloudInstance {
  readonly instanceId: string;
  /** As EC2 spells it: pending, running, shutting-down, terminated, stopping, stopped. */
  readonly state: string;
  readonly privateDnsName: string;
  readonly instanceType: string;
  /** True for a Spot Instance; absent where EC2's answer does not say. */
  readonly isSpot?: boolean;
  readonly imageId: string;
  readonly availabilityZone: string;
  /** RFC 3339. */
  readonly launchTime?: string;
  /**
   * The instance's own addresses: private, public and IPv6, never those of pods. Absent: unknown.
   */
  readonly addresses?: readonly string[];
  readonly publicDnsName?: string;
  /** Absent for a terminated instance. */
  readonly network?: InstanceNetwork;
}

/** An event that EC2 has scheduled for an instance: host maintenance, a reboot, its retirement. */
export interface ScheduledEvent {
  /** EC2's id: instance-event-... */
  readonly id: string;
  readonly instanceId: string;
  /** As EC2 spells it: system-reboot, instance-retirement, ... */
  readonly code: string;
  /** RFC 3339: EC2 does not act on the instance earlier. Absent where EC2 names no time. */
  readonly notBefore?: string;
  /** EC2 has completed or cancelled the event; it stays in the list for about another week. */
  readonly isOver: boolean;
}

/** A failing status check of an instance, one of EC2's two. */
export interface ImpairedInstance {
  readonly instanceId: string;
  readonly check: 'instance' | 'system';
  /** RFC 3339; absent where EC2 does not report it. */
  readonly since?: string;
}

export interface LaunchTemplateFacts {
  readonly instanceType?: string;
  readonly imageId?: string;
}

/** A launch template with the data of one of its versions, in EC2's member names. */
export interface LaunchTemplate {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly data: JsonObject;
}

export interface InstanceProfile {
  readonly name: string;
  /** At most one: a limit of IAM. */
  readonly roles: readonly string[];
  /** The ARN of that role. */
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
  /** Propagated to the instances. */
  readonly tags: Readonly<Record<string, string>>;
  /** On the group only. */
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

/** One attempt of Auto Scaling to launch or terminate an instance. */
export interface ScalingActivity {
  readonly id: string;
  /** Auto Scaling's text: "Launching a new EC2 instance: i-...", "Terminating EC2 ...". */
  readonly description: string;
  readonly startedAt: string;
  /** Absent while it is in progress. */
  readonly endedAt?: string;
  /** As Auto Scaling spells it: Successful, Failed, InProgress, ... */
  readonly status: string;
  readonly message: string;
  /** Auto Scaling's text about the reason; absent where there is none. */
  readonly cause?: string;
  /** From its Details; absent where Auto Scaling names none. */
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
  /** As EKS spells it: CONFIG_MAP, API_AND_CONFIG_MAP or API. */
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
   * ARN, from the output of eksctl's stacks (InstanceRoleARN) or EKS' own template
   * (NodeInstanceRole).
   */
  readonly nodeRole?: string;
}

/**
 * The lifecycle action of one instance. The instance id identifies it, since an instance waits at
 * most once in a hook. Tokens are not used: they come from messages, which may be forged.
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

/** The access entry of one IAM role, which authorizes it as a node without aws-auth. */
export interface AccessEntry {
  readonly clusterName: string;
  /** Including its path. */
  readonly principalArn: string;
  /** As EKS spells it: EC2_LINUX, EC2_WINDOWS, STANDARD, ... */
  readonly type: string;
  readonly tags: Readonly<Record<string, string>>;
}
