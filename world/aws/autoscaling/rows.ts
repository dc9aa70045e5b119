// Rows of Auto Scaling: groups, instances, hooks, open lifecycle actions and activities; and the
// table of allowed transitions. Types and tables only.
import type { Tags } from '../filters.ts';

export type LifecycleState =
  | 'Pending'
  | 'Pending:Wait'
  | 'Pending:Proceed'
  | 'InService'
  | 'Terminating'
  | 'Terminating:Wait'
  | 'Terminating:Proceed'
  | 'Terminating:Retained'
  | 'Terminated'
  | 'Detached'
  | 'EnteringStandby'
  | 'Standby'
  | 'Warmed:Pending'
  | 'Warmed:Pending:Wait'
  | 'Warmed:Pending:Proceed'
  | 'Warmed:Running'
  | 'Warmed:Stopped'
  | 'Warmed:Terminating';

/** Amazon EC2 Auto Scaling user guide, "instance lifecycle". */
export const transitions: Readonly<Record<LifecycleState, readonly LifecycleState[]>> = {
  Pending: ['Pending:Wait', 'InService', 'Terminating'],
  'Pending:Wait': ['Pending:Proceed', 'Terminating'],
  'Pending:Proceed': ['InService', 'Terminating'],
  InService: ['Terminating', 'Detached', 'EnteringStandby'],
  EnteringStandby: ['Standby', 'Terminating'],
  Standby: ['Pending', 'Detached', 'Terminating'],
  'Warmed:Pending': ['Warmed:Pending:Wait', 'Warmed:Pending:Proceed', 'Warmed:Terminating'],
  'Warmed:Pending:Wait': ['Warmed:Pending:Proceed', 'Warmed:Terminating'],
  'Warmed:Pending:Proceed': ['Warmed:Running', 'Warmed:Stopped', 'Warmed:Terminating'],
  'Warmed:Running': ['Pending', 'Warmed:Terminating'],
  'Warmed:Stopped': ['Pending', 'Warmed:Terminating'],
  'Warmed:Terminating': ['Terminated'],
  Terminating: ['Terminating:Wait', 'Terminating:Proceed'],
  'Terminating:Wait': ['Terminating:Proceed', 'Terminating:Retained'],
  'Terminating:Retained': ['Terminating:Proceed'],
  'Terminating:Proceed': ['Terminated'],
  Terminated: [],
  Detached: [],
};

export const isLeaving = (state: LifecycleState): boolean =>
  state.startsWith('Terminat') || state === 'Detached';

/** In the group's warm pool, so not a member of the group. */
export const isWarm = (state: LifecycleState): boolean => state.startsWith('Warmed:');

/** Counts towards desired capacity; instances in standby or terminating do not. */
export const isCounted = (state: LifecycleState): boolean =>
  !isLeaving(state) && !isWarm(state) && !state.endsWith('Standby');

export type Transition =
  | 'autoscaling:EC2_INSTANCE_LAUNCHING'
  | 'autoscaling:EC2_INSTANCE_TERMINATING';
export const launching: Transition = 'autoscaling:EC2_INSTANCE_LAUNCHING';
export const terminating: Transition = 'autoscaling:EC2_INSTANCE_TERMINATING';
export type ActionResult = 'CONTINUE' | 'ABANDON';

export type GroupTag = {
  readonly key: string;
  readonly value: string;
  readonly propagate: boolean;
};

export type TemplateUse = {
  readonly id: string;
  readonly name: string;
  /** As given: a number, `$Latest` or `$Default`; absent if omitted, which means `$Default`. */
  readonly version?: string;
};

export type MixedPolicy = {
  /** In order of priority; empty: the template's type. */
  readonly instanceTypes: readonly string[];
  /** Capacity units by instance type, if the policy has weights; 1 for others. */
  readonly weights?: Readonly<Record<string, number>>;
  /** On-demand instances before any spot instance. */
  readonly onDemandBase: number;
  /** Share of On-Demand Instances above the base, in percent. */
  readonly onDemandAbove: number;
  readonly onDemandStrategy: string;
  readonly spotStrategy: string;
  /** Reported only: the world has one pool of each type in a zone. */
  readonly spotPools?: number;
  /** Reported only: the world's spot price is below every on-demand price. */
  readonly spotMaxPrice?: string;
};

export type GroupRow = {
  readonly name: string;
  readonly arn: string;
  readonly min: number;
  readonly max: number;
  readonly desired: number;
  readonly createdAt: number;
  readonly template: TemplateUse;
  /** Set if the template came in a mixed instances policy. */
  readonly mixed?: MixedPolicy;
  readonly subnetIds: readonly string[];
  /** If not empty, the request named zones; `subnetIds` are their default subnets. */
  readonly zones?: readonly string[];
  readonly tags: readonly GroupTag[];
  readonly suspended: readonly string[];
  readonly healthCheckType: string;
  readonly gracePeriodSeconds: number;
  readonly cooldownSeconds: number;
  readonly protectsNew: boolean;
  readonly capacityRebalance: boolean;
  /** Keeps an instance whose termination hook is abandoned (instance lifecycle policy). */
  readonly retainsAbandoned?: boolean;
  readonly terminationPolicies: readonly string[];
  readonly isDeleting: boolean;
  /** ARNs of ELBv2 target groups that its instances are registered with. */
  readonly targetGroups?: readonly string[];
  /** Names of Classic Load Balancers with the same use. */
  readonly loadBalancers?: readonly string[];
  /** Reason of the last change of capacity; becomes the cause of the activities that follow. */
  readonly cause: string;
  /** True while an event to compare desired and actual capacity is scheduled. */
  readonly isScalingQueued: boolean;
  /** Number of consecutive failed launches, and the kernel handle of the next attempt. */
  readonly failures: number;
  readonly retry: number;
  /** Number of launches whose cause will be an unhealthy instance. */
  readonly replacing: number;
};

export type MemberRow = {
  readonly instanceId: string;
  readonly group: string;
  readonly state: LifecycleState;
  readonly health: 'Healthy' | 'Unhealthy';
  readonly zone: string;
  readonly subnetId: string;
  readonly instanceType: string;
  readonly imageId: string;
  readonly template: TemplateUse;
  readonly isProtected: boolean;
  readonly joinedAt: number;
  /** Its current or last launch or termination activity. */
  readonly activityId: string;
};

export type HookRow = {
  readonly name: string;
  readonly group: string;
  readonly transition: Transition;
  readonly targetArn?: string;
  readonly roleArn?: string;
  readonly metadata?: string;
  readonly heartbeatSeconds: number;
  readonly globalSeconds: number;
  readonly defaultResult: ActionResult;
};

/** The wait of one instance in one hook. Exists only while it is open. */
export type ActionRow = {
  readonly token: string;
  readonly group: string;
  readonly hook: string;
  readonly instanceId: string;
  readonly transition: Transition;
  readonly defaultResult: ActionResult;
  readonly heartbeatSeconds: number;
  readonly startedAt: number;
  readonly globalDeadlineAt: number;
  readonly deadlineAt: number;
  /** Kernel handle of the event at `deadlineAt`. */
  readonly expiry: number;
};

export type ActivityRow = {
  readonly id: string;
  readonly group: string;
  readonly groupArn: string;
  readonly description: string;
  readonly cause: string;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly status: 'PreInService' | 'InProgress' | 'MidLifecycleAction' | ActivityEnd;
  readonly message?: string;
  readonly progress: number;
  readonly details: string;
};
export type ActivityEnd = 'Successful' | 'Failed' | 'Cancelled';

/** Capacity of the members, in the units of desired capacity. */
export const capacityOf = ({ mixed }: GroupRow, members: readonly MemberRow[]): number =>
  members.reduce((sum, member) => sum + (mixed?.weights?.[member.instanceType] ?? 1), 0);

export const tagsOfGroup = (group: GroupRow): Tags =>
  Object.fromEntries(group.tags.map(({ key, value }) => [key, value]));

/** min(48 h, 100 heartbeats): the longest wait of an instance in a hook. */
export const globalTimeoutOf = (heartbeatSeconds: number): number =>
  Math.min(172_800, 100 * heartbeatSeconds);
