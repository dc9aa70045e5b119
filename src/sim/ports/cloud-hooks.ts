// Lifecycle hooks and tags of Auto Scaling groups against the world in process. Only translates.
import {
  type CloudApi,
  putHookRequest,
  tagGroupRequest,
  untagGroupRequest,
} from '../../ports/index.ts';
import type { CloudCalls } from './cloud-calls.ts';
import { hookInput, objects, toHook } from './cloud-values.ts';

const service = 'autoscaling';

export const hookCalls = (
  calls: CloudCalls,
): Pick<
  CloudApi,
  | 'describeHooks'
  | 'installHook'
  | 'removeHook'
  | 'completeHook'
  | 'heartbeatHook'
  | 'tagGroup'
  | 'untagGroup'
> => ({
  describeHooks: async (name, options = {}) => {
    const input = { AutoScalingGroupName: name };
    const output = await calls.send(service, 'DescribeLifecycleHooks', input, options);
    return objects(output.LifecycleHooks).map(toHook);
  },
  installHook: async (name, hook, options = {}) => {
    await calls.send(service, 'PutLifecycleHook', putHookRequest(name, hook), options);
  },
  removeHook: async (name, hookName, options = {}) => {
    const input = { AutoScalingGroupName: name, LifecycleHookName: hookName };
    return (await calls.maybe(service, 'DeleteLifecycleHook', input, options)) !== undefined;
  },
  completeHook: async (call, options = {}) => {
    const input = { ...hookInput(call), LifecycleActionResult: call.result };
    await calls.send(service, 'CompleteLifecycleAction', input, options);
  },
  heartbeatHook: async (call, options = {}) => {
    await calls.send(service, 'RecordLifecycleActionHeartbeat', hookInput(call), options);
  },
  tagGroup: async (name, tags, options = {}) => {
    await calls.send(service, 'CreateOrUpdateTags', tagGroupRequest(name, tags), options);
  },
  untagGroup: async (name, keys, options = {}) => {
    if (keys.length === 0) return;
    await calls.send(service, 'DeleteTags', untagGroupRequest(name, keys), options);
  },
});
