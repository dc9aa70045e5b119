// Lifecycle hooks and actions over the API. Ranges come from the service model, messages from the
// service.
import { defined } from '../../../src/api/defined.ts';
import {
  type AwsInput,
  optionalNumber,
  optionalText,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import { refuse, type ServiceHandlers, validationError } from '../scope.ts';
import type { ActionReference } from './actions.ts';
import type { Engine } from './engine.ts';
import { renderHook } from './render.ts';
import {
  type ActionResult,
  globalTimeoutOf,
  type HookRow,
  launching,
  type Transition,
  terminating,
} from './rows.ts';
import type { GroupStore } from './store.ts';

export type HookRequest = AwsInput & { readonly AutoScalingGroupName: string };

export interface HookParts {
  readonly store: GroupStore;
  readonly engine: Engine;
}

const maxHooksPerGroup = 50;
const defaultHeartbeatSeconds = 3600;

export const hookHandlers = (parts: HookParts): ServiceHandlers => ({
  PutLifecycleHook: (input) => {
    putHook(parts, { ...input, AutoScalingGroupName: text(input, 'AutoScalingGroupName') });
    return {};
  },
  DeleteLifecycleHook: (input) => {
    const { store, engine } = parts;
    const group = store.needGroup(text(input, 'AutoScalingGroupName'));
    const name = text(input, 'LifecycleHookName');
    const hook = store.hook(group.name, name);
    if (hook === undefined) {
      throw validationError(`No Lifecycle Hook found with name: ${name}`);
    }
    store.dropHook(hook);
    // Outstanding actions complete first: ABANDON for launching, CONTINUE for terminating
    // (DeleteLifecycleHook, API reference).
    const result = hook.transition === launching ? 'ABANDON' : 'CONTINUE';
    for (const action of store.actions()) {
      if (action.group !== group.name || action.hook !== name) continue;
      const { instanceId, token } = action;
      engine.actions.complete({ group: group.name, hook: name, token, instanceId }, result);
    }
    return {};
  },
  DescribeLifecycleHooks: (input) => {
    const group = parts.store.needGroup(text(input, 'AutoScalingGroupName'));
    const names = texts(input, 'LifecycleHookNames');
    const hooks = parts.store.hooks(group.name);
    return {
      LifecycleHooks: hooks
        .filter((hook) => names.length === 0 || names.includes(hook.name))
        .map(renderHook),
    };
  },
  DescribeLifecycleHookTypes: () => ({ LifecycleHookTypes: [launching, terminating] }),
  CompleteLifecycleAction: (input) => {
    const result = text(input, 'LifecycleActionResult');
    if (!isResult(result)) {
      throw validationError('Valid values for LifecycleActionResult are: [CONTINUE, ABANDON]');
    }
    parts.engine.actions.complete(readReference(input), result);
    return {};
  },
  RecordLifecycleActionHeartbeat: (input) => {
    parts.engine.actions.heartbeat(readReference(input));
    return {};
  },
});

const isResult = (value: string): value is ActionResult =>
  value === 'CONTINUE' || value === 'ABANDON';
const isTransition = (value: string | undefined): value is Transition =>
  value === launching || value === terminating;

const readReference = (input: AwsInput): ActionReference => ({
  group: text(input, 'AutoScalingGroupName'),
  hook: text(input, 'LifecycleHookName'),
  token: optionalText(input, 'LifecycleActionToken'),
  instanceId: optionalText(input, 'InstanceId'),
});

/** Creates or changes a hook; a new target gets a test message. */
export const putHook = ({ store, engine }: HookParts, input: HookRequest): HookRow => {
  const group = store.needGroup(input.AutoScalingGroupName);
  const name = text(input, 'LifecycleHookName');
  const before = store.hook(group.name, name);
  const transition = optionalText(input, 'LifecycleTransition') ?? before?.transition;
  if (!isTransition(transition)) {
    throw validationError(`Lifecycle Transition must be one of [${launching}, ${terminating}]`);
  }
  if (before === undefined && store.hooks(group.name).length >= maxHooksPerGroup) {
    throw refuse('LimitExceeded', `At most ${maxHooksPerGroup} lifecycle hooks per group`);
  }
  const heartbeatSeconds =
    optionalNumber(input, 'HeartbeatTimeout') ??
    before?.heartbeatSeconds ??
    defaultHeartbeatSeconds;
  if (heartbeatSeconds < 30 || heartbeatSeconds > 7200) {
    throw validationError('Heartbeat Timeout must be between 30 and 7200 seconds');
  }
  const defaultResult = optionalText(input, 'DefaultResult') ?? before?.defaultResult ?? 'ABANDON';
  if (!isResult(defaultResult)) {
    throw validationError('Valid values for DefaultResult are: [CONTINUE, ABANDON]');
  }
  const targetArn = optionalText(input, 'NotificationTargetARN') ?? before?.targetArn;
  const roleArn = optionalText(input, 'RoleARN') ?? before?.roleArn;
  const metadata = optionalText(input, 'NotificationMetadata') ?? before?.metadata;
  const hook: HookRow = {
    name,
    group: group.name,
    transition,
    heartbeatSeconds,
    globalSeconds: globalTimeoutOf(heartbeatSeconds),
    defaultResult,
    ...(targetArn === undefined || targetArn === '' ? {} : { targetArn }),
    ...defined({ roleArn, metadata }),
  };
  store.putHook(hook);
  if (hook.targetArn !== undefined && hook.targetArn !== before?.targetArn) {
    engine.actions.sendTest(group, hook);
  }
  return hook;
};
