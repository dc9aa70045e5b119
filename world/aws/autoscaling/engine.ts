// The state machine of Auto Scaling: brings actual to desired capacity, moves each member through
// its lifecycle, replaces failed members. All waiting is durable kernel events. Handlers only start
// it.
import { microsPerMs, type WorldEvent } from '../../kernel/index.ts';
import type { StateChange } from '../ec2/instances.ts';
import type { ClassicBalancers } from '../elb/classic-balancers.ts';
import type { TargetGroups } from '../elb/target-groups.ts';
import { refuse, type Scope, type Span, sentence, validationError } from '../scope.ts';
import { type ActionOutcome, Actions, type NoticeTargets } from './actions.ts';
import { Balancer } from './balancer.ts';
import { Capacity } from './capacity.ts';
import { Launcher, type LaunchParts } from './launcher.ts';
import {
  type ActivityRow,
  type GroupRow,
  isLeaving,
  isWarm,
  launching,
  type MemberRow,
  terminating,
} from './rows.ts';
import { SpotRebalancer } from './spot-rebalancer.ts';
import { component, type GroupStore } from './store.ts';
import { WarmPools } from './warm-pool.ts';

export interface EngineParts extends LaunchParts {
  readonly targets: TargetGroups;
  readonly classic: ClassicBalancers;
}

export class Engine {
  readonly actions: Actions;
  readonly #scope: Scope;
  readonly #store: GroupStore;
  readonly warmPools: WarmPools;
  readonly balancer: Balancer;
  readonly rebalancer: SpotRebalancer;
  readonly #parts: EngineParts;
  readonly #launcher: Launcher;
  readonly #capacity: Capacity;

  constructor(store: GroupStore, parts: EngineParts, targets: NoticeTargets) {
    this.#scope = store.scope;
    this.#store = store;
    this.#parts = parts;
    this.#launcher = new Launcher(store, parts);
    this.actions = new Actions(store, targets, (outcome) => this.#actionEnded(outcome));
    const launcher = this.#launcher;
    this.balancer = new Balancer({ store, network: parts.network, launcher });
    this.warmPools = new WarmPools({
      store,
      launcher,
      instances: parts.instances,
      actions: this.actions,
      proceedLater: (instanceId) => this.#proceedLater(instanceId),
    });
    const terminate = (member: MemberRow, cause: string): void => {
      this.terminate(member, cause);
    };
    this.rebalancer = new SpotRebalancer({
      store,
      launcher,
      instances: parts.instances,
      terminate,
    });
    this.#capacity = new Capacity({
      store,
      launcher,
      warmPools: this.warmPools,
      balancer: this.balancer,
      rebalancer: this.rebalancer,
      terminate,
      later: (kind, args, span) => this.#later(kind, args, span),
    });
    this.#scope.kernel.register({ name: component, handle: (event) => this.#handle(event) });
    parts.instances.onStateChange((change) => this.#instanceChanged(change));
  }

  // ---- capacity ----

  /** Stores new sizes with the cause of the request, and schedules the scaling. */
  changeCapacity(name: string, sizes: Partial<GroupRow>, cause: string): void {
    this.#capacity.change(name, sizes, cause);
  }

  queueScaling(name: string): void {
    this.#capacity.queue(name);
  }

  /** Puts a running instance in service immediately, for a world that starts with members. */
  settle(name: string, zone: string): MemberRow {
    const group = this.#store.needGroup(name);
    const how = { kind: 'settled', zone } as const;
    const attempt = this.#launcher.launch(group, this.#capacity.startCause(group, 1), how);
    if (attempt.kind === 'launched') return attempt.member;
    throw new Error(`group ${name} has no place for an instance in ${zone}`);
  }

  // ---- the end of a member ----

  /** Implements TerminateInstanceInAutoScalingGroup; returns the activity. */
  terminateByUser(instanceId: string, decrement: boolean): ActivityRow {
    const member = this.#store.needMember(instanceId);
    const group = this.#store.needGroup(member.group);
    if (member.state === 'Terminating:Retained') this.#toProceed(instanceId, 'Terminating:Proceed');
    if (isLeaving(member.state)) {
      // Inferred: returns the running termination; capacity is not lowered a second time.
      const running = this.#store.activity(member.activityId);
      if (running !== undefined) return running;
      throw refuse('ScalingActivityInProgress', `Instance ${instanceId} is terminating already.`);
    }
    if (decrement && group.desired <= group.min) {
      throw validationError(
        sentence(
          `Currently, desiredSize equals minSize (${group.min}). Terminating instance`,
          "without replacement will violate group's min size constraint. Either set",
          "shouldDecrementDesiredCapacity flag to false or lower group's min size.",
        ),
      );
    }
    const request = sentence(
      `${this.#store.at()} instance ${instanceId} was taken out of service in response`,
      'to a user request',
    );
    if (decrement) this.#store.patchGroup(group.name, { desired: group.desired - 1 });
    const shrink = `, shrinking the capacity from ${group.desired} to ${group.desired - 1}.`;
    const activity = this.terminate(member, request + (decrement ? shrink : '.'));
    // Also with decrement: zone balancing may leave the group above desired capacity.
    this.queueScaling(group.name);
    return activity;
  }

  /** Terminates a member, with its hooks unless `runsHooks` is false. */
  terminate(member: MemberRow, cause: string, runsHooks = true): ActivityRow {
    const { instanceId, subnetId, zone } = member;
    const group = this.#store.needGroup(member.group);
    this.actions.cancel(instanceId);
    this.#store.endActivity(member.activityId, 'Cancelled');
    const activity = this.#store.beginActivity(group, {
      description: `Terminating EC2 instance: ${instanceId}`,
      cause,
      status: 'InProgress',
      subnetId,
      zone,
    });
    this.#outOfService(member);
    this.#store.moveMember(instanceId, 'Terminating');
    this.#store.patchMember(instanceId, { activityId: activity.id });
    this.#later('terminating', { instanceId, runsHooks }, this.#scope.timings.transitionMs);
    return activity;
  }

  /** Enters Standby: the member leaves its target groups and does not count as capacity. */
  putAside(member: MemberRow, activityId: string): void {
    this.#outOfService(member);
    this.#store.moveMember(member.instanceId, 'EnteringStandby');
    this.#store.patchMember(member.instanceId, { activityId });
    this.#proceedLater(member.instanceId);
  }

  /** Exits Standby, through the launch hooks. */
  takeBack(member: MemberRow, activityId: string): void {
    this.#store.moveMember(member.instanceId, 'Pending');
    this.#store.patchMember(member.instanceId, { activityId });
    if (this.#parts.instances.get(member.instanceId)?.state === 'running') {
      this.#proceedLater(member.instanceId);
    }
  }

  #outOfService({ instanceId, group }: MemberRow): void {
    const { targetGroups = [], loadBalancers = [] } = this.#store.needGroup(group);
    for (const arn of targetGroups) this.#parts.targets.deregister(arn, instanceId);
    for (const name of loadBalancers) this.#parts.classic.deregister(name, instanceId);
  }

  #inService(member: MemberRow): void {
    const { instanceId, group, activityId } = member;
    this.#store.moveMember(instanceId, 'InService');
    this.#store.endActivity(activityId, 'Successful');
    const { targetGroups = [], loadBalancers = [] } = this.#store.needGroup(group);
    for (const arn of targetGroups) this.#parts.targets.register(arn, instanceId, undefined);
    for (const name of loadBalancers) this.#parts.classic.register(name, instanceId);
    if (this.balancer.surplusCause(group) !== '') this.queueScaling(group);
    this.rebalancer.inService(member);
  }

  /** Terminates every member without its hooks. */
  terminateAll(name: string, cause: string): void {
    for (const member of this.#store.members(name)) {
      if (!isLeaving(member.state)) this.terminate(member, cause, false);
      else if (member.state === 'Terminating:Wait') {
        this.actions.cancel(member.instanceId);
        this.#toProceed(member.instanceId, 'Terminating:Proceed');
      }
    }
  }

  /** Marks a member unhealthy and, unless suspended, replaces it. */
  becameUnhealthy(member: MemberRow, cause: string): void {
    this.#store.patchMember(member.instanceId, { health: 'Unhealthy' });
    const group = this.#store.needGroup(member.group);
    if (isLeaving(member.state) || group.suspended.includes('ReplaceUnhealthy')) return;
    const wasInService = member.state === 'InService';
    if (!wasInService) {
      const reason = this.#parts.instances.get(member.instanceId)?.stateReason?.message;
      const told = sentence(
        'Instance became unhealthy while waiting for instance to be in InService state.',
        'Termination Reason:',
        `${reason ?? 'Client.UserInitiatedShutdown: User initiated shutdown'}`,
      );
      this.#store.endActivity(member.activityId, 'Cancelled', told);
    }
    // Inferred: termination hooks run only for instances that were in service.
    this.terminate(member, cause, wasInService);
    this.#store.patchGroup(group.name, { replacing: group.replacing + 1 });
    this.queueScaling(group.name);
  }

  /** Checks members that EC2 terminated while health checks were suspended. */
  recheck(name: string): void {
    for (const member of this.#store.counted(name)) this.#checkLater(member);
  }

  // ---- events ----

  #handle(event: WorldEvent): void {
    const text = (name: string): string => String(event.args[name]);
    switch (event.kind) {
      case 'scale':
        this.#capacity.scale(text('group'));
        break;
      case 'expire':
        this.actions.expire(text('token'));
        break;
      case 'terminating':
        this.#enterTermination(text('instanceId'), event.args.runsHooks === true);
        break;
      case 'proceed':
        this.#proceed(text('instanceId'));
        break;
      case 'health':
        this.#checkHealth(text('instanceId'));
        break;
      default:
        throw new Error(`${component}: unknown event ${event.kind}`);
    }
  }

  #instanceChanged({ instance }: StateChange): void {
    const member = this.#store.member(instance.instanceId);
    if (member === undefined) return;
    if (isWarm(member.state)) {
      this.warmPools.instanceChanged(member, instance);
    } else if (instance.state === 'running' && member.state === 'Pending') {
      this.#started(member);
    } else if (instance.state === 'terminated' && member.state === 'Terminating:Proceed') {
      this.#finish(member);
    } else if (instance.state !== 'running' && instance.state !== 'pending') {
      if (!isLeaving(member.state)) this.#checkLater(member);
    }
  }

  #started(member: MemberRow): void {
    const group = this.#store.needGroup(member.group);
    const { instanceId } = member;
    if (this.#store.hooks(group.name, launching).length === 0) {
      this.#inService(member);
      return;
    }
    this.#store.moveMember(instanceId, 'Pending:Wait');
    this.#store.patchActivity(member.activityId, { status: 'MidLifecycleAction', progress: 50 });
    this.actions.open(group, instanceId, launching);
  }

  #enterTermination(instanceId: string, runsHooks: boolean): void {
    const member = this.#store.member(instanceId);
    if (member?.state !== 'Terminating') return;
    const group = this.#store.needGroup(member.group);
    if (!runsHooks || this.#store.hooks(group.name, terminating).length === 0) {
      this.#toProceed(instanceId, 'Terminating:Proceed');
      return;
    }
    this.#store.moveMember(instanceId, 'Terminating:Wait');
    this.#store.patchActivity(member.activityId, { status: 'MidLifecycleAction', progress: 50 });
    this.actions.open(group, instanceId, terminating);
  }

  #actionEnded({ action, result, reason }: ActionOutcome): void {
    const member = this.#store.member(action.instanceId);
    if (member === undefined) return;
    const { instanceId } = member;
    if (result === 'ABANDON') this.actions.cancel(instanceId);
    if (this.#store.actionsOf(instanceId).length > 0) return;
    if (isWarm(member.state)) {
      this.warmPools.actionEnded(member, result);
      return;
    }
    if (member.state === 'Terminating:Wait') {
      const { retainsAbandoned } = this.#store.needGroup(member.group);
      if (result === 'ABANDON' && retainsAbandoned === true) {
        this.#store.moveMember(instanceId, 'Terminating:Retained');
        return;
      }
      // Abandoning a termination only skips the remaining hooks (lifecycle hooks, considerations).
      this.#toProceed(instanceId, 'Terminating:Proceed');
      return;
    }
    if (member.state !== 'Pending:Wait') return;
    if (result === 'CONTINUE') {
      this.#toProceed(instanceId, 'Pending:Proceed');
      return;
    }
    const told = sentence(
      "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token",
      `${action.token} was abandoned: ${reason}`,
    );
    this.#store.endActivity(member.activityId, 'Cancelled', told);
    const cause = sentence(
      `${this.#store.at()} instance ${instanceId} was taken out of service in response`,
      'to an abandoned launch lifecycle action.',
    );
    this.terminate(member, cause, false);
    this.queueScaling(member.group);
  }

  #toProceed(instanceId: string, state: 'Pending:Proceed' | 'Terminating:Proceed'): void {
    this.#store.moveMember(instanceId, state);
    this.#proceedLater(instanceId);
  }

  #proceedLater(instanceId: string): void {
    this.#later('proceed', { instanceId }, this.#scope.timings.transitionMs);
  }

  #proceed(instanceId: string): void {
    const member = this.#store.member(instanceId);
    if (member === undefined) return;
    if (isWarm(member.state)) {
      this.warmPools.proceed(member);
    } else if (member.state === 'Pending') {
      this.#started(member);
    } else if (member.state === 'EnteringStandby') {
      this.#store.moveMember(instanceId, 'Standby');
      this.#store.endActivity(member.activityId, 'Successful');
    } else if (member.state === 'Pending:Proceed') {
      this.#inService(member);
    } else if (member.state === 'Terminating:Proceed') {
      const state = this.#parts.instances.get(instanceId)?.state;
      if (state === undefined || state === 'terminated') this.#finish(member);
      else this.#parts.instances.terminate(instanceId);
    }
  }

  #finish(member: MemberRow): void {
    this.#store.moveMember(member.instanceId, 'Terminated');
    this.#store.endActivity(member.activityId, 'Successful');
    this.#store.dropMember(member.instanceId);
    const group = this.#store.needGroup(member.group);
    if (group.isDeleting && this.#store.members(group.name).length === 0) {
      this.balancer.forget(group.name);
      this.#store.dropGroup(group.name);
    } else {
      this.balancer.watch(group);
    }
  }

  /** The grace period applies to failing checks, not to an instance that EC2 has terminated. */
  #checkLater({ instanceId }: MemberRow): void {
    this.#later('health', { instanceId }, this.#scope.timings.healthCheckMs);
  }

  #checkHealth(instanceId: string): void {
    const member = this.#store.member(instanceId);
    if (member === undefined || isLeaving(member.state)) return;
    const state = this.#parts.instances.get(instanceId)?.state;
    if (state === 'running' || state === 'pending') return;
    if (this.#store.needGroup(member.group).suspended.includes('HealthCheck')) return;
    this.becameUnhealthy(
      member,
      sentence(
        `${this.#store.at()} an instance was taken out of service in response to an EC2`,
        'health check indicating it has been terminated or stopped.',
      ),
    );
  }

  #later(kind: string, args: Readonly<Record<string, string | boolean>>, span: Span): number {
    const afterMicros = Math.max(this.#scope.delay(component, span), microsPerMs);
    return this.#scope.kernel.schedule({ afterMicros, actor: component, kind, args });
  }
}
