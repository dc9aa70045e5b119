// The cloud as the controllers and the command line need it: Auto Scaling, its hooks, one queue,
// instances, stacks. Implementations: adapters/aws (SDK) and sim (the world in process).
// Absence is a value; every other failure is a CloudError with a code of the table below.
import type { EpochMs } from '../api/brand.ts';
import type { JsonObject } from '../api/json.ts';
import type { ClusterNetwork, InstanceNetwork } from '../api/network.ts';
import type { CloudAccess } from './cloud-access.ts';
import type { Retry } from './kube.ts';

export const cloudErrorTable = {
  Throttled: { retry: 'backoff' },
  /** The hook is no longer open: completed by somebody else, expired, or gone with its group. */
  NoActiveLifecycleAction: { retry: 'never' },
  AccessDenied: { retry: 'never' },
  InvalidRequest: { retry: 'never' },
  ServerError: { retry: 'backoff' },
  /** No answer; the call may or may not have happened. */
  Unreachable: { retry: 'backoff' },
  Unsupported: { retry: 'never' },
} as const satisfies Readonly<Record<string, { retry: Retry }>>;
export type CloudErrorCode = keyof typeof cloudErrorTable;

export class CloudError extends Error {
  override readonly name = 'CloudError';
  readonly code: CloudErrorCode;
  readonly retry: Retry;
  constructor(code: CloudErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.retry = cloudErrorTable[code].retry;
  }
}

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
  /** The version of the launch template that it was started from. */
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

/** Names of the outputs of a stack that hold its nodes' role. */
export const nodeRoleOutputs: readonly string[] = ['InstanceRoleARN', 'NodeInstanceRole'];

/**
 * The lifecycle action of one instance. An instance waits once in a hook at most, so its id names
 * the action; a token would be that of a message, and a forged one is refused.
 */
export interface HookCall {
  readonly autoScalingGroupName: string;
  readonly hookName: string;
  readonly instanceId: string;
}

interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface CloudApi extends CloudAccess {
  /** Long poll of at most `waitSeconds` (0 to 20); up to 10 messages. */
  receiveMessages(
    queueUrl: string,
    options: CallOptions & { readonly waitSeconds: number; readonly visibilitySeconds: number },
  ): Promise<readonly QueueMessage[]>;
  deleteMessage(queueUrl: string, receiptHandle: string, options?: CallOptions): Promise<void>;
  changeVisibility(
    queueUrl: string,
    receiptHandle: string,
    seconds: number,
    options?: CallOptions,
  ): Promise<void>;
  /** All groups, or those named; unknown names are simply missing from the answer. */
  describeGroups(
    names?: readonly string[],
    options?: CallOptions,
  ): Promise<readonly ScalingGroup[]>;
  describeHooks(
    autoScalingGroupName: string,
    options?: CallOptions,
  ): Promise<readonly LifecycleHook[]>;
  /** Creates the hook, or changes the one of that name. */
  installHook(autoScalingGroupName: string, hook: NewHook, options?: CallOptions): Promise<void>;
  /**
   * Ends what waits in the hook, as Auto Scaling does it: instances that start are terminated,
   * instances that terminate go on. `false` when there was none.
   */
  removeHook(
    autoScalingGroupName: string,
    hookName: string,
    options?: CallOptions,
  ): Promise<boolean>;
  /** Throws NoActiveLifecycleAction when there is nothing (any more) to complete. */
  completeHook(
    call: HookCall & { readonly result: 'CONTINUE' | 'ABANDON' },
    options?: CallOptions,
  ): Promise<void>;
  heartbeatHook(call: HookCall, options?: CallOptions): Promise<void>;
  terminateInGroup(
    instanceId: string,
    options: CallOptions & { readonly decrementDesired: boolean },
  ): Promise<void>;
  /** Instances that EC2 still knows (terminated ones for about an hour). */
  describeInstances(
    instanceIds: readonly string[],
    options?: CallOptions,
  ): Promise<readonly CloudInstance[]>;
  /**
   * The cloud's own time, to the second, as the Date header of an answer has it. Costs one call
   * that changes nothing. Throws CloudError.
   */
  time(options?: CallOptions): Promise<EpochMs>;
  /** Of all running instances of the account; EC2 keeps those that are over for about a week. */
  describeScheduledEvents(options?: CallOptions): Promise<readonly ScheduledEvent[]>;
  /** What a launch template version launches; `$Latest` and `$Default` are allowed. */
  describeLaunchTemplate(
    template: { readonly id: string; readonly version: string },
    options?: CallOptions,
  ): Promise<LaunchTemplateFacts | undefined>;
  /** By name or id; `version` may be `$Latest` or `$Default`. Undefined when there is none. */
  findLaunchTemplate(
    template: { readonly name?: string; readonly id?: string; readonly version: string },
    options?: CallOptions,
  ): Promise<LaunchTemplate | undefined>;
  /** Throws InvalidRequest when the name is taken. */
  createLaunchTemplate(
    template: Pick<LaunchTemplate, 'name' | 'tags' | 'data'>,
    options?: CallOptions,
  ): Promise<void>;
  /**
   * A further version: `data`, laid over that of `source` where there is one. Returns its number.
   */
  addLaunchTemplateVersion(
    template: { readonly id: string; readonly source?: string; readonly data: JsonObject },
    options?: CallOptions,
  ): Promise<string>;
  /** `false` when there was none. */
  deleteLaunchTemplate(name: string, options?: CallOptions): Promise<boolean>;
  findInstanceProfile(name: string, options?: CallOptions): Promise<InstanceProfile | undefined>;
  /**
   * There afterwards, with this role: made and filled as far as it is missing. Throws
   * InvalidRequest when it has another role, or when there is no such role.
   */
  ensureInstanceProfile(
    profile: {
      readonly name: string;
      readonly roleName: string;
      readonly tags: Readonly<Record<string, string>>;
    },
    options?: CallOptions,
  ): Promise<void>;
  /** Taken from its role first. `false` when there was none. */
  deleteInstanceProfile(name: string, options?: CallOptions): Promise<boolean>;
  /** Throws InvalidRequest when the name is taken. */
  createGroup(group: NewGroup, options?: CallOptions): Promise<void>;
  updateGroup(
    change: {
      readonly name: string;
      readonly minSize?: number;
      readonly maxSize?: number;
      readonly desiredCapacity?: number;
      readonly launchTemplate?: { readonly id: string; readonly version: string };
      /** Of a group with a mixed instances policy: they go with its template. */
      readonly overrides?: ScalingGroup['overrides'];
    },
    options?: CallOptions,
  ): Promise<void>;
  /**
   * Tags of the group alone, not carried over to instances; a key that is there gets the new value.
   */
  tagGroup(
    name: string,
    tags: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<void>;
  /** Removes tags by their keys; a key that the group does not have is skipped. */
  untagGroup(name: string, keys: readonly string[], options?: CallOptions): Promise<void>;
  /** Of processes that are suspended, or not, already: nothing. */
  setProcesses(
    change: {
      readonly name: string;
      readonly processes: readonly string[];
      readonly suspended: boolean;
    },
    options?: CallOptions,
  ): Promise<void>;
  /**
   * Throws InvalidRequest while instances are in it; its warm pool, which counts as such and has no
   * pods, is told to go then. `false` when there was none.
   */
  deleteGroup(name: string, options?: CallOptions): Promise<boolean>;
  /** The newest activities, newest first. */
  describeActivities(
    autoScalingGroupName: string,
    options?: CallOptions,
  ): Promise<readonly ScalingActivity[]>;
  /** Unknown ones are missing from the answer, as in the next four. */
  describeSubnets(ids: readonly string[], options?: CallOptions): Promise<readonly Subnet[]>;
  describeInstanceTypes(
    names: readonly string[],
    options?: CallOptions,
  ): Promise<readonly InstanceTypeFacts[]>;
  /** Amazon's images of this name; `*` stands for anything. */
  describeImages(name: string, options?: CallOptions): Promise<readonly Image[]>;
  /** An image by its id, whoever owns it; undefined where EC2 knows none. */
  findImage(id: string, options?: CallOptions): Promise<Image | undefined>;
  /** What new nodes are told about their EKS cluster; undefined where EKS knows none. */
  describeCluster(name: string, options?: CallOptions): Promise<ClusterAccess | undefined>;
  consoleOutput(instanceId: string, options?: CallOptions): Promise<string>;
  /** CloudFormation stacks that hold an Auto Scaling group; for listing self-managed groups. */
  listStacks(options?: CallOptions): Promise<readonly Stack[]>;
}
