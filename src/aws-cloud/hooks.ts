// Lifecycle hooks of Auto Scaling groups, and lifecycle actions of waiting instances.

import type { HookCall, LifecycleHook } from '../api/cloud.ts';
import { defined } from '../api/defined.ts';
import type { JsonObject } from '../api/json.ts';
import type { CloudApi } from '../ports/index.ts';
import type { AwsCalls } from './calls.ts';
import { putHookRequest } from './requests.ts';
import { maybeNumber, objects, textOf } from './values.ts';

/** Defaults of PutLifecycleHook. */
const defaultHeartbeatSeconds = 3600;
const defaultGlobalSeconds = 172_800;

const hookOf = (hook: JsonObject): LifecycleHook => ({
  name: textOf(hook.LifecycleHookName),
  autoScalingGroupName: textOf(hook.AutoScalingGroupName),
  transition:
    hook.LifecycleTransition === 'autoscaling:EC2_INSTANCE_LAUNCHING'
      ? 'autoscaling:EC2_INSTANCE_LAUNCHING'
      : 'autoscaling:EC2_INSTANCE_TERMINATING',
  heartbeatTimeoutSeconds: maybeNumber(hook.HeartbeatTimeout) ?? defaultHeartbeatSeconds,
  globalTimeoutSeconds: maybeNumber(hook.GlobalTimeout) ?? defaultGlobalSeconds,
  defaultResult: hook.DefaultResult === 'CONTINUE' ? 'CONTINUE' : 'ABANDON',
  ...defined({
    metadata: typeof hook.NotificationMetadata === 'string' ? hook.NotificationMetadata : undefined,
  }),
});

const actionInput = (call: HookCall) => ({
  AutoScalingGroupName: call.autoScalingGroupName,
  LifecycleHookName: call.hookName,
  InstanceId: call.instanceId,
});

const service = 'autoscaling';

export const hookCalls = (
  calls: AwsCalls,
): Pick<
  CloudApi,
  'completeHook' | 'describeHooks' | 'heartbeatHook' | 'installHook' | 'removeHook'
> => ({
  describeHooks: async (name, options = {}) => {
    const input = { AutoScalingGroupName: name };
    const output = await calls.send(service, 'DescribeLifecycleHooks', input, options);
    return objects(output.LifecycleHooks).map(hookOf);
  },
  installHook: async (name, hook, options = {}) => {
    await calls.send(service, 'PutLifecycleHook', putHookRequest(name, hook), options);
  },
  removeHook: async (name, hookName, options = {}) => {
    const input = { AutoScalingGroupName: name, LifecycleHookName: hookName };
    return (await calls.maybe(service, 'DeleteLifecycleHook', input, options)) !== undefined;
  },
  completeHook: async (call, options = {}) => {
    const input = { ...actionInput(call), LifecycleActionResult: call.result };
    await calls.send(service, 'CompleteLifecycleAction', input, options);
  },
  heartbeatHook: async (call, options = {}) => {
    await calls.send(service, 'RecordLifecycleActionHeartbeat', actionInput(call), options);
  },
});
