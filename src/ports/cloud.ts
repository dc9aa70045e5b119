// The cloud as the controllers and the command line need it: Auto Scaling, its hooks, one queue,
// instances, stacks. Implementations: adapters/aws (SDK) and sim (the world in process).
// Absence is a value; every other failure is a CloudError with a code of the table below.
import type { Retry } from './kube.ts';

export const cloudErrorTable = {
  Throttled: { retry: 'backoff' },
  /** The hook is no longer open: completed by somebody else, or expired. */
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
}

export interface ScalingInstance {
  readonly instanceId: string;
  readonly autoScalingGroupName: string;
  readonly availabilityZone: string;
  /** EC2 Auto Scaling's own word, e.g. InService, Terminating:Wait. */
  readonly lifecycleState: string;
  readonly instanceType: string;
  readonly protectedFromScaleIn: boolean;
}

export interface ScalingGroup {
  readonly name: string;
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
}

export interface CloudInstance {
  readonly instanceId: string;
  /** EC2's own word: pending, running, shutting-down, terminated, stopping, stopped. */
  readonly state: string;
  readonly privateDnsName: string;
  readonly instanceType: string;
  readonly imageId: string;
  readonly availabilityZone: string;
}

export interface LaunchTemplateFacts {
  readonly instanceType?: string;
  readonly imageId?: string;
}

export interface Stack {
  readonly name: string;
  readonly status: string;
  readonly createdAt: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly autoScalingGroupName?: string;
}

export interface HookCall {
  readonly autoScalingGroupName: string;
  readonly hookName: string;
  readonly instanceId: string;
  readonly token?: string;
}

interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface CloudApi {
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
  /** What a launch template version launches; `$Latest` and `$Default` are allowed. */
  describeLaunchTemplate(
    template: { readonly id: string; readonly version: string },
    options?: CallOptions,
  ): Promise<LaunchTemplateFacts | undefined>;
  /** CloudFormation stacks that hold an Auto Scaling group; for listing self-managed groups. */
  listStacks(options?: CallOptions): Promise<readonly Stack[]>;
}
