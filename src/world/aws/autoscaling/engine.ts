// The state machine of Auto Scaling: brings actual to desired capacity, moves each member through
// its life, replaces what died. All waiting is durable kernel events. Handlers only start it.
import { microsPerMs, type WorldEvent } from '../../kernel/index.ts';
import type { StateChange } from '../ec2/instances.ts';
import { refuse, type Scope, type Span, sentence, validationError } from '../scope.ts';
import { type ActionOutcome, Actions, type NoticeTargets } from './actions.ts';
import { type Candidate, scaleInChoice } from './choose.ts';
import { Launcher, type LaunchParts } from './launcher.ts';
import {
  type ActivityRow,
  type GroupRow,
  isLeaving,
  launching,
  type MemberRow,
  terminating,
} from './rows.ts';
import { component, type GroupStore } from './store.ts';

const maxBackoffSteps = 4;

export class Engine {
  readonly actions: Actions;
  readonly #scope: Scope;
  readonly #store: GroupStore;
  readonly #parts: LaunchParts;
  readonly #launcher: Launcher;

  constructor(store: GroupStore, parts: LaunchParts, targets: NoticeTargets) {
    this.#scope = store.scope;
    this.#store = store;
    this.#parts = parts;
    this.#launcher = new Launcher(store, parts);
    this.actions = new Actions(store, targets, (outcome) => this.#actionEnded(outcome));
    this.#scope.kernel.register({ name: component, handle: (event) => this.#handle(event) });
    parts.instances.onStateChange((change) => this.#instanceChanged(change));
  }

  // ---- capacity ----

  /** Stores new sizes with the user's words for it and answers them after a moment. */
  changeCapacity(name: string, sizes: Partial<GroupRow>, cause: string): void {
    const before = this.#store.needGroup(name);
    const after = this.#store.patchGroup(name, sizes);
    if (after.desired !== before.desired) {
      const told = sentence(
        `${cause} changing the desired capacity from ${before.desired} to`,
        `${after.desired}.`,
      );
      this.#store.patchGroup(name, { cause: told });
    }
    this.queueScaling(name);
  }

  queueScaling(name: string): void {
    const group = this.#store.group(name);
    if (group === undefined || group.isScalingQueued) return;
    this.#store.patchGroup(name, { isScalingQueued: true });
    this.#later('scale', { group: name }, this.#scope.timings.scalingMs);
  }

  /** Puts a running instance in service at once: how a world begins with members. */
  settle(name: string, zone: string): MemberRow {
    const group = this.#store.needGroup(name);
    const attempt = this.#launcher.launch(group, this.#startCause(group, 1), zone);
    if (attempt.kind === 'launched') return attempt.member;
    throw new Error(`group ${name} has no place for an instance in ${zone}`);
  }

  #scale(name: string): void {
    const group = this.#store.group(name);
    if (group === undefined) return;
    this.#store.patchGroup(name, { isScalingQueued: false });
    const missing = group.desired - this.#store.counted(name).length;
    if (missing > 0 && !group.isDeleting && !group.suspended.includes('Launch')) {
      this.#scaleOut(group, missing);
    } else if (missing < 0 && !group.suspended.includes('Terminate')) {
      this.#scaleIn(group, -missing);
    }
    this.#store.patchGroup(name, { cause: '' });
  }

  #scaleOut(group: GroupRow, count: number): void {
    const cause = this.#startCause(group, count);
    let { replacing } = group;
    for (let i = 0; i < count; i++) {
      const why = replacing > 0 ? replacementCause(this.#store.at()) : cause;
      if (this.#launcher.launch(group, why).kind === 'failed') {
        this.#store.patchGroup(group.name, { replacing });
        this.#retryLater(group.name);
        return;
      }
      replacing = Math.max(0, replacing - 1);
    }
    this.#scope.kernel.cancel(group.retry);
    this.#store.patchGroup(group.name, { replacing, failures: 0, retry: 0 });
  }

  #startCause(group: GroupRow, count: number): string {
    const actual = this.#store.counted(group.name).length;
    const started = sentence(
      `${this.#store.at()} an instance was started in response to a difference between`,
      `desired and actual capacity, increasing the capacity from ${actual} to`,
      `${actual + count}.`,
    );
    return group.cause === '' ? started : `${group.cause}  ${started}`;
  }

  #retryLater(name: string): void {
    const group = this.#store.needGroup(name);
    this.#scope.kernel.cancel(group.retry);
    const [from, to] = this.#scope.timings.launchRetryMs;
    const factor = 2 ** Math.min(group.failures, maxBackoffSteps);
    const retry = this.#later('scale', { group: name }, [from * factor, to * factor]);
    this.#store.patchGroup(name, { retry, failures: group.failures + 1 });
  }

  #scaleIn(group: GroupRow, count: number): void {
    let left = this.#store.counted(group.name);
    const victims: MemberRow[] = [];
    for (let i = 0; i < count; i++) {
      const choice = scaleInChoice(left.map(candidateOf));
      if (choice === undefined) break;
      victims.push(...left.filter((member) => member.instanceId === choice.instanceId));
      left = left.filter((member) => member.instanceId !== choice.instanceId);
    }
    const at = this.#store.at();
    const cause = [
      ...(group.cause === '' ? [] : [group.cause]),
      sentence(
        `${at} an instance was taken out of service in response to a difference between`,
        'desired and actual capacity, shrinking the capacity from',
        `${left.length + victims.length} to ${left.length}.`,
      ),
      ...victims.map((one) => `${at} instance ${one.instanceId} was selected for termination.`),
    ].join('  ');
    for (const victim of victims) this.terminate(victim, cause);
  }

  // ---- the end of a member ----

  /** What TerminateInstanceInAutoScalingGroup does; returns the activity. */
  terminateByUser(instanceId: string, decrement: boolean): ActivityRow {
    const member = this.#store.needMember(instanceId);
    const group = this.#store.needGroup(member.group);
    if (isLeaving(member.state)) {
      // Inferred: the running termination answers, and capacity is not lowered a second time.
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
    if (!decrement) {
      const activity = this.terminate(member, `${request}.`);
      this.queueScaling(group.name);
      return activity;
    }
    this.#store.patchGroup(group.name, { desired: group.desired - 1 });
    const shrink = `, shrinking the capacity from ${group.desired} to ${group.desired - 1}.`;
    return this.terminate(member, request + shrink);
  }

  /** Takes a member out; with its hooks unless told otherwise. */
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
    this.#store.moveMember(instanceId, 'Terminating');
    this.#store.patchMember(instanceId, { activityId: activity.id });
    this.#later('terminating', { instanceId, runsHooks }, this.#scope.timings.transitionMs);
    return activity;
  }

  /** Ends every member without asking its hooks. */
  terminateAll(name: string, cause: string): void {
    for (const member of this.#store.members(name)) {
      if (!isLeaving(member.state)) this.terminate(member, cause, false);
      else if (member.state === 'Terminating:Wait') {
        this.actions.cancel(member.instanceId);
        this.#toProceed(member.instanceId, 'Terminating:Proceed');
      }
    }
  }

  /** Marks a member unhealthy and, unless suspended, has it replaced. */
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
    // Inferred: hooks for termination are for instances that were in service.
    this.terminate(member, cause, wasInService);
    this.#store.patchGroup(group.name, { replacing: group.replacing + 1 });
    this.queueScaling(group.name);
  }

  /** Looks at the members that EC2 ended while health checks were suspended. */
  recheck(name: string): void {
    for (const member of this.#store.counted(name)) this.#checkLater(member);
  }

  // ---- what happens ----

  #handle(event: WorldEvent): void {
    const text = (name: string): string => String(event.args[name]);
    switch (event.kind) {
      case 'scale':
        this.#scale(text('group'));
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
    if (instance.state === 'running' && member.state === 'Pending') {
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
      this.#store.moveMember(instanceId, 'InService');
      this.#store.endActivity(member.activityId, 'Successful');
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
    if (member.state === 'Terminating:Wait') {
      // Abandoning a termination only cuts the other hooks short (lifecycle hooks, considerations).
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
    this.#later('proceed', { instanceId }, this.#scope.timings.transitionMs);
  }

  #proceed(instanceId: string): void {
    const member = this.#store.member(instanceId);
    if (member?.state === 'Pending:Proceed') {
      this.#store.moveMember(instanceId, 'InService');
      this.#store.endActivity(member.activityId, 'Successful');
    } else if (member?.state === 'Terminating:Proceed') {
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
      this.#store.dropGroup(group.name);
    }
  }

  /** The grace period covers failing checks, not an instance that is gone. */
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

const replacementCause = (at: string): string =>
  `${at} an instance was launched in response to an unhealthy instance needing to be replaced.`;

const candidateOf = (member: MemberRow): Candidate => ({
  instanceId: member.instanceId,
  zone: member.zone,
  isProtected: member.isProtected,
  joinedAt: member.joinedAt,
  templateVersion: Number(member.template.version),
  health: member.health,
});
