// Rows of Auto Scaling: groups, their instances, hooks, open lifecycle actions and activities; and
// the table of allowed transitions. Types and tables only.
import type { Tags } from '../filters.ts';

export type LifecycleState =
  | 'Pending'
  | 'Pending:Wait'
  | 'Pending:Proceed'
  | 'InService'
  | 'Terminating'
  | 'Terminating:Wait'
  | 'Terminating:Proceed'
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
  'Terminating:Wait': ['Terminating:Proceed'],
  'Terminating:Proceed': ['Terminated'],
  Terminated: [],
  Detached: [],
};

export const isLeaving = (state: LifecycleState): boolean =>
  state.startsWith('Terminat') || state === 'Detached';

/** In the group's warm pool: no member of the group proper. */
export const isWarm = (state: LifecycleState): boolean => state.startsWith('Warmed:');

/** Towards desired capacity; what is aside or leaving does not count. */
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
  /**
   * As given: a number, `$Latest` or `$Default`; left out where none was given, `$Default` then.
   */
  readonly version?: string;
};

export type MixedPolicy = {
  /** In order of priority; empty: the template's own type. */
  readonly instanceTypes: readonly string[];
  /** Units of capacity by instance type, where the policy weighs its types; 1 for others. */
  readonly weights?: Readonly<Record<string, number>>;
  /** On-demand instances before any spot instance. */
  readonly onDemandBase: number;
  /** Share of On-Demand Instances above the base, in percent. */
  readonly onDemandAbove: number;
  readonly onDemandStrategy: string;
  readonly spotStrategy: string;
  /** Shown only: the world has one pool of each type in a zone. */
  readonly spotPools?: number;
  /** Shown only: the world's spot price is below each on-demand price. */
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
  /** Set when the template came in a mixed instances policy. */
  readonly mixed?: MixedPolicy;
  readonly subnetIds: readonly string[];
  /** Unless empty, named instead of subnets: `subnetIds` are the default subnets there. */
  readonly zones?: readonly string[];
  readonly tags: readonly GroupTag[];
  readonly suspended: readonly string[];
  readonly healthCheckType: string;
  readonly gracePeriodSeconds: number;
  readonly cooldownSeconds: number;
  readonly protectsNew: boolean;
  readonly capacityRebalance: boolean;
  readonly terminationPolicies: readonly string[];
  readonly isDeleting: boolean;
  /** ARNs of ELBv2 target groups that its instances are registered with. */
  readonly targetGroups?: readonly string[];
  /** Names of Classic Load Balancers, likewise. */
  readonly loadBalancers?: readonly string[];
  /** Why capacity was last changed; goes into the activities that follow. */
  readonly cause: string;
  /** True while an event to compare desired and actual capacity is on its way. */
  readonly isScalingQueued: boolean;
  /** Launches that failed in a row, and the kernel handle of the next attempt. */
  readonly failures: number;
  readonly retry: number;
  /** Launches still to be explained by an unhealthy instance. */
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
  /** Its launch or termination activity, whichever is going on or was last. */
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

/** One hook's wait for one instance. Exists only while it is open. */
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

/** Capacity of members in the units that desired capacity counts in. */
export const capacityOf = ({ mixed }: GroupRow, members: readonly MemberRow[]): number =>
  members.reduce((sum, member) => sum + (mixed?.weights?.[member.instanceType] ?? 1), 0);

export const tagsOfGroup = (group: GroupRow): Tags =>
  Object.fromEntries(group.tags.map(({ key, value }) => [key, value]));

/** min(48 h, 100 heartbeats): the longest an instance may wait in a hook. */
export const globalTimeoutOf = (heartbeatSeconds: number): number =>
  Math.min(172_800, 100 * heartbeatSeconds);
