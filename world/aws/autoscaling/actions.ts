// Lifecycle actions: the waits that hooks impose. Opens one action per hook, notifies the hook's
// target, and ends the action by a result, a missed heartbeat or the global timeout. The engine
// decides what follows.
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import { microsPerMs } from '../../kernel/index.ts';
import type { Delivery } from '../messaging/delivery.ts';
import type { EventBus } from '../messaging/event-bus.ts';
import type { Queues } from '../messaging/queues.ts';
import type { Topics } from '../messaging/topics.ts';
import { isoMillis, type Scope, sentence, validationError } from '../scope.ts';
import {
  type ActionResult,
  type ActionRow,
  type GroupRow,
  globalTimeoutOf,
  type HookRow,
  launching,
  type Transition,
} from './rows.ts';
import { component, type GroupStore } from './store.ts';

export interface NoticeTargets {
  readonly queues: Queues;
  readonly topics: Topics;
  readonly delivery: Delivery;
  readonly events: EventBus;
}

export interface ActionOutcome {
  readonly action: ActionRow;
  readonly result: ActionResult;
  /** As in the activity's message. */
  readonly reason: string;
}

export interface ActionReference {
  readonly group: string;
  readonly hook: string;
  readonly token: string | undefined;
  readonly instanceId: string | undefined;
}

/** SenderId of messages that Auto Scaling sends to a queue. */
const autoScalingSenderId = 'AIDAJ4OYXH3SOGHFNQQ2E';

export class Actions {
  readonly #scope: Scope;
  readonly #store: GroupStore;
  readonly #targets: NoticeTargets;
  readonly #onEnd: (outcome: ActionOutcome) => void;

  constructor(store: GroupStore, targets: NoticeTargets, onEnd: (outcome: ActionOutcome) => void) {
    this.#scope = store.scope;
    this.#store = store;
    this.#targets = targets;
    this.#onEnd = onEnd;
  }

  /** Opens an action for each hook of the transition; returns false if it has none. */
  open(group: GroupRow, instanceId: string, transition: Transition): boolean {
    const hooks = this.#store.hooks(group.name, transition);
    for (const hook of hooks) this.#openOne(group, instanceId, hook);
    return hooks.length > 0;
  }

  /** Removes the instance's open actions without a result. */
  cancel(instanceId: string): void {
    for (const action of this.#store.actionsOf(instanceId)) this.#close(action);
  }

  complete(reference: ActionReference, result: ActionResult): void {
    const action = this.#find(reference);
    this.#end(action, result, `Lifecycle Action Completed with ${result} Result`);
  }

  /** Restarts the heartbeat timeout; the global timeout stays. */
  heartbeat(reference: ActionReference): void {
    const action = this.#find(reference);
    this.#scope.kernel.cancel(action.expiry);
    this.#store.putAction(this.#withDeadline(action));
  }

  /** The event at an action's deadline. */
  expire(token: string): void {
    const action = this.#store.action(token);
    if (action === undefined) return;
    const isGlobal = action.deadlineAt >= action.globalDeadlineAt;
    this.#end(action, action.defaultResult, isGlobal ? 'Global Timeout' : 'Heartbeat Timeout');
  }

  /** Sends the test message that Auto Scaling sends to a new hook's target. */
  sendTest(group: GroupRow, hook: HookRow): void {
    this.#tellTarget(group, hook, {
      subject: `Auto Scaling: test notification for group "${group.name}"`,
      body: {
        AccountId: this.#scope.account,
        RequestId: this.#scope.uuid(component),
        AutoScalingGroupARN: group.arn,
        AutoScalingGroupName: group.name,
        Service: 'AWS Auto Scaling',
        Event: 'autoscaling:TEST_NOTIFICATION',
        Time: isoMillis(this.#scope.now()),
      },
    });
  }

  #openOne(group: GroupRow, instanceId: string, hook: HookRow): void {
    const now = this.#scope.now();
    const action = this.#withDeadline({
      token: this.#scope.uuid(component),
      group: group.name,
      hook: hook.name,
      instanceId,
      transition: hook.transition,
      defaultResult: hook.defaultResult,
      heartbeatSeconds: hook.heartbeatSeconds,
      startedAt: now,
      globalDeadlineAt: now + globalTimeoutOf(hook.heartbeatSeconds) * 1000,
      deadlineAt: now,
      expiry: 0,
    });
    this.#store.putAction(action);
    this.#notify(group, hook, action);
  }

  #withDeadline(action: ActionRow): ActionRow {
    const now = this.#scope.now();
    const deadlineAt = Math.min(now + action.heartbeatSeconds * 1000, action.globalDeadlineAt);
    const expiry = this.#scope.kernel.schedule({
      afterMicros: (deadlineAt - now) * microsPerMs,
      actor: component,
      kind: 'expire',
      args: { token: action.token },
    });
    return { ...action, deadlineAt, expiry };
  }

  #find({ group, hook, token, instanceId }: ActionReference): ActionRow {
    this.#store.needGroup(group);
    const found = this.#store
      .actions()
      .find(
        (action) =>
          action.group === group &&
          action.hook === hook &&
          (token === undefined || action.token === token) &&
          (instanceId === undefined || action.instanceId === instanceId),
      );
    if (found !== undefined && (token !== undefined || instanceId !== undefined)) return found;
    if (token !== undefined) {
      throw validationError(`No active Lifecycle Action found with token ${token}`);
    }
    if (instanceId === undefined) {
      throw validationError('Either a LifecycleActionToken or an InstanceId must be specified');
    }
    throw validationError(`No active Lifecycle Action found with instance ID ${instanceId}`);
  }

  #close(action: ActionRow): void {
    this.#scope.kernel.cancel(action.expiry);
    this.#store.dropAction(action.token);
  }

  #end(action: ActionRow, result: ActionResult, reason: string): void {
    this.#close(action);
    this.#onEnd({ action, result, reason });
  }

  #notify(group: GroupRow, hook: HookRow, action: ActionRow): void {
    const isLaunch = hook.transition === launching;
    const ends = isLaunch
      ? { Origin: 'EC2', Destination: 'AutoScalingGroup' }
      : { Origin: 'AutoScalingGroup', Destination: 'EC2' };
    const facts = {
      LifecycleHookName: hook.name,
      LifecycleTransition: hook.transition,
      AutoScalingGroupName: group.name,
      EC2InstanceId: action.instanceId,
      LifecycleActionToken: action.token,
      ...defined({ NotificationMetadata: hook.metadata }),
    };
    const verb = isLaunch ? 'LAUNCHING' : 'TERMINATING';
    this.#tellTarget(group, hook, {
      subject: sentence(
        `Auto Scaling:  Lifecycle action '${verb}' for instance ${action.instanceId} in`,
        'progress.',
      ),
      body: {
        ...ends,
        ...facts,
        AccountId: this.#scope.account,
        RequestId: this.#scope.uuid(component),
        Service: 'AWS Auto Scaling',
        Time: isoMillis(this.#scope.now()),
      },
    });
    this.#targets.events.put({
      source: 'aws.autoscaling',
      detailType: `EC2 Instance-${isLaunch ? 'launch' : 'terminate'} Lifecycle Action`,
      resources: [group.arn],
      detail: { ...facts, ...ends },
      group: group.name,
    });
  }

  #tellTarget(
    group: GroupRow,
    hook: HookRow,
    notice: { readonly subject: string; readonly body: JsonObject },
  ): void {
    if (hook.targetArn === undefined) return;
    const message = JSON.stringify(notice.body);
    const { topics, queues, delivery } = this.#targets;
    const { subject } = notice;
    if (topics.publish(hook.targetArn, { message, subject, group: group.name }) !== undefined) {
      return;
    }
    const queue = queues.byArn(hook.targetArn);
    if (queue === undefined) return;
    const parcel = { queue: queue.name, body: message, senderId: autoScalingSenderId };
    delivery.post(parcel, group.name);
  }
}
