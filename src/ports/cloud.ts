// The cloud API of the controllers and the command line: Auto Scaling, its hooks, one queue,
// instances, stacks. Implementation: aws-cloud, over the SDK or the world in process. Absence is a
// value; every other failure is a CloudError with a code of the table below.

import type { EpochMs } from '../api/brand.ts';
import type {
  CloudInstance,
  ClusterAccess,
  HookCall,
  Image,
  ImpairedInstance,
  InstanceProfile,
  InstanceTypeFacts,
  LaunchTemplate,
  LaunchTemplateFacts,
  LifecycleHook,
  NewGroup,
  NewHook,
  QueueMessage,
  ScalingActivity,
  ScalingGroup,
  ScheduledEvent,
  Stack,
  Subnet,
} from '../api/cloud.ts';
import type { JsonObject } from '../api/json.ts';
import type { CloudAccess } from './cloud-access.ts';
import type { CloudLoadBalancers } from './cloud-load-balancers.ts';
import type { Retry } from './kube.ts';

export const cloudErrorTable = {
  Throttled: { retry: 'backoff' },
  /** The hook is not open: completed by another system, expired, or deleted with its group. */
  NoActiveLifecycleAction: { retry: 'never' },
  AccessDenied: { retry: 'never' },
  InvalidRequest: { retry: 'never' },
  ServerError: { retry: 'backoff' },
  /** No answer: the call may or may not have happened. */
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

interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface CloudApi extends CloudAccess, CloudLoadBalancers {
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
  /** All groups, or the named ones; unknown names are missing from the answer. */
  describeGroups(
    names?: readonly string[],
    options?: CallOptions,
  ): Promise<readonly ScalingGroup[]>;
  describeHooks(
    autoScalingGroupName: string,
    options?: CallOptions,
  ): Promise<readonly LifecycleHook[]>;
  /** Creates the hook, or updates the one of that name. */
  installHook(autoScalingGroupName: string, hook: NewHook, options?: CallOptions): Promise<void>;
  /**
   * Deletes the hook. Auto Scaling then terminates the launching instances that wait in it, and
   * continues the termination of the others. `false` when the hook did not exist.
   */
  removeHook(
    autoScalingGroupName: string,
    hookName: string,
    options?: CallOptions,
  ): Promise<boolean>;
  /** Throws NoActiveLifecycleAction when the instance does not wait in the hook. */
  completeHook(
    call: HookCall & { readonly result: 'CONTINUE' | 'ABANDON' },
    options?: CallOptions,
  ): Promise<void>;
  heartbeatHook(call: HookCall, options?: CallOptions): Promise<void>;
  terminateInGroup(
    instanceId: string,
    options: CallOptions & { readonly decrementDesired: boolean },
  ): Promise<void>;
  /** Detaches the instance. The group keeps its desired capacity, so it launches another one. */
  detachFromGroup(
    instanceId: string,
    options: CallOptions & { readonly autoScalingGroupName: string },
  ): Promise<void>;
  /** Terminates an instance that is in no Auto Scaling group. A repeated call changes nothing. */
  terminateInstance(instanceId: string, options?: CallOptions): Promise<void>;
  /** Instances that EC2 still lists (terminated ones for about an hour). */
  describeInstances(
    instanceIds: readonly string[],
    options?: CallOptions,
  ): Promise<readonly CloudInstance[]>;
  /**
   * The cloud's own time, to the second, from the Date header of an answer. Costs one call that
   * changes nothing. Throws CloudError.
   */
  time(options?: CallOptions): Promise<EpochMs>;
  /**
   * The events of all running instances in the account; EC2 lists completed ones for about a week.
   */
  describeScheduledEvents(options?: CallOptions): Promise<readonly ScheduledEvent[]>;
  /** Running instances of the account with a failing status check. */
  describeImpairedInstances(options?: CallOptions): Promise<readonly ImpairedInstance[]>;
  /** Requests a reboot. Throws InvalidRequest for an instance that is not running. */
  rebootInstance(instanceId: string, options?: CallOptions): Promise<void>;
  /** What a launch template version launches; `$Latest` and `$Default` are allowed. */
  describeLaunchTemplate(
    template: { readonly id: string; readonly version: string },
    options?: CallOptions,
  ): Promise<LaunchTemplateFacts | undefined>;
  /** By name or id; `version` may be `$Latest` or `$Default`. Undefined when it does not exist. */
  findLaunchTemplate(
    template: { readonly name?: string; readonly id?: string; readonly version: string },
    options?: CallOptions,
  ): Promise<LaunchTemplate | undefined>;
  /** Throws InvalidRequest when the name is taken. */
  createLaunchTemplate(
    template: Pick<LaunchTemplate, 'name' | 'tags' | 'data'>,
    options?: CallOptions,
  ): Promise<void>;
  /** Adds a version: `data`, merged over the data of `source` if given. Returns its number. */
  addLaunchTemplateVersion(
    template: { readonly id: string; readonly source?: string; readonly data: JsonObject },
    options?: CallOptions,
  ): Promise<string>;
  /** `false` when it did not exist. */
  deleteLaunchTemplate(name: string, options?: CallOptions): Promise<boolean>;
  findInstanceProfile(name: string, options?: CallOptions): Promise<InstanceProfile | undefined>;
  /**
   * Creates the profile and adds the role where missing. Throws InvalidRequest when it has another
   * role, or when the role does not exist.
   */
  ensureInstanceProfile(
    profile: {
      readonly name: string;
      readonly roleName: string;
      readonly tags: Readonly<Record<string, string>>;
    },
    options?: CallOptions,
  ): Promise<void>;
  /** Removes its role first. `false` when it did not exist. */
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
      /** For a group with a mixed instances policy; sent together with the launch template. */
      readonly overrides?: ScalingGroup['overrides'];
    },
    options?: CallOptions,
  ): Promise<void>;
  /** Tags of the group only, not propagated to instances; an existing key gets the new value. */
  tagGroup(
    name: string,
    tags: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<void>;
  /** Removes tags by their keys; skips keys that the group does not have. */
  untagGroup(name: string, keys: readonly string[], options?: CallOptions): Promise<void>;
  /** No-op for processes that are already in the requested state. */
  setProcesses(
    change: {
      readonly name: string;
      readonly processes: readonly string[];
      readonly suspended: boolean;
    },
    options?: CallOptions,
  ): Promise<void>;
  /**
   * Throws InvalidRequest while the group has instances. Before it throws, it requests the deletion
   * of the warm pool, whose instances count but run no pods. `false` when the group did not exist.
   */
  deleteGroup(name: string, options?: CallOptions): Promise<boolean>;
  /** The latest activities, newest first. */
  describeActivities(
    autoScalingGroupName: string,
    options?: CallOptions,
  ): Promise<readonly ScalingActivity[]>;
  /** Unknown ids are missing from the answer; likewise unknown names of instance types. */
  describeSubnets(ids: readonly string[], options?: CallOptions): Promise<readonly Subnet[]>;
  describeInstanceTypes(
    names: readonly string[],
    options?: CallOptions,
  ): Promise<readonly InstanceTypeFacts[]>;
  /** Amazon's images of this name; `*` is a wildcard. */
  describeImages(name: string, options?: CallOptions): Promise<readonly Image[]>;
  /** Returns an image of any owner by its id; undefined if EC2 does not know it. */
  findImage(id: string, options?: CallOptions): Promise<Image | undefined>;
  /** What new nodes need to know about their EKS cluster; undefined if EKS does not know it. */
  describeCluster(name: string, options?: CallOptions): Promise<ClusterAccess | undefined>;
  consoleOutput(instanceId: string, options?: CallOptions): Promise<string>;
  /** CloudFormation stacks that contain an Auto Scaling group; for listing self-managed groups. */
  listStacks(options?: CallOptions): Promise<readonly Stack[]>;
}
