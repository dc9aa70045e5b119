// EC2 Auto Scaling groups as they are made, changed and ended; and what Auto Scaling tells of its
// attempts. Absence is a value where the port says so.
import {
  activityZone,
  type CloudApi,
  createGroupRequest,
  isGroupInUse,
  newestActivities,
  putHookRequest,
  tagGroupRequest,
  throwIfDenied,
  untagGroupRequest,
  updateGroupRequest,
} from '../../ports/index.ts';
import { type Clients, call } from './clients.ts';
import { orAbsent } from './errors.ts';

export const groupChanges = (
  clients: Clients,
): Pick<
  CloudApi,
  | 'createGroup'
  | 'updateGroup'
  | 'setProcesses'
  | 'tagGroup'
  | 'untagGroup'
  | 'installHook'
  | 'removeHook'
  | 'deleteGroup'
  | 'describeActivities'
> => ({
  createGroup: async (group, options = {}) => {
    const { sdk, client } = await clients.autoScaling();
    const command = new sdk.CreateAutoScalingGroupCommand(createGroupRequest(group));
    await call('CreateAutoScalingGroup', options, (http) => client.send(command, http));
  },
  updateGroup: async (change, options = {}) => {
    const { sdk, client } = await clients.autoScaling();
    const command = new sdk.UpdateAutoScalingGroupCommand(updateGroupRequest(change));
    await call('UpdateAutoScalingGroup', options, (http) => client.send(command, http));
  },
  setProcesses: async ({ name, processes, suspended }, options = {}) => {
    const { sdk, client } = await clients.autoScaling();
    const input = { AutoScalingGroupName: name, ScalingProcesses: [...processes] };
    if (suspended) {
      const command = new sdk.SuspendProcessesCommand(input);
      await call('SuspendProcesses', options, (http) => client.send(command, http));
      return;
    }
    const command = new sdk.ResumeProcessesCommand(input);
    await call('ResumeProcesses', options, (http) => client.send(command, http));
  },
  tagGroup: async (name, tags, options = {}) => {
    const { sdk, client } = await clients.autoScaling();
    const command = new sdk.CreateOrUpdateTagsCommand(tagGroupRequest(name, tags));
    await call('CreateOrUpdateTags', options, (http) => client.send(command, http));
  },
  untagGroup: async (name, keys, options = {}) => {
    if (keys.length === 0) return;
    const { sdk, client } = await clients.autoScaling();
    const command = new sdk.DeleteTagsCommand(untagGroupRequest(name, keys));
    await call('DeleteTags', options, (http) => client.send(command, http));
  },
  installHook: async (name, hook, options = {}) => {
    const { sdk, client } = await clients.autoScaling();
    const command = new sdk.PutLifecycleHookCommand(putHookRequest(name, hook));
    await call('PutLifecycleHook', options, (http) => client.send(command, http));
  },
  removeHook: async (name, hookName, options = {}) => {
    const { sdk, client } = await clients.autoScaling();
    const input = { AutoScalingGroupName: name, LifecycleHookName: hookName };
    const command = new sdk.DeleteLifecycleHookCommand(input);
    const done = await orAbsent(
      call('DeleteLifecycleHook', options, (http) => client.send(command, http)),
    );
    return done !== undefined;
  },
  deleteGroup: async (name, options = {}) => {
    const { sdk, client } = await clients.autoScaling();
    const command = new sdk.DeleteAutoScalingGroupCommand({ AutoScalingGroupName: name });
    try {
      const done = await orAbsent(
        call('DeleteAutoScalingGroup', options, (http) => client.send(command, http)),
      );
      return done !== undefined;
    } catch (error) {
      if (!isGroupInUse(error)) throw error;
      const input = { AutoScalingGroupName: name, ForceDelete: true };
      const drop = new sdk.DeleteWarmPoolCommand(input);
      await call('DeleteWarmPool', options, (http) => client.send(drop, http)).catch(throwIfDenied);
      throw error;
    }
  },
  describeActivities: async (name, options = {}) => {
    const { sdk, client } = await clients.autoScaling();
    const command = new sdk.DescribeScalingActivitiesCommand({
      AutoScalingGroupName: name,
      MaxRecords: newestActivities,
    });
    const answer = await call('DescribeScalingActivities', options, (http) =>
      client.send(command, http),
    );
    return (answer.Activities ?? []).map((activity) => ({
      id: activity.ActivityId ?? '',
      description: activity.Description ?? '',
      startedAt: activity.StartTime?.toISOString() ?? '',
      ...(activity.EndTime === undefined ? {} : { endedAt: activity.EndTime.toISOString() }),
      status: activity.StatusCode ?? '',
      message: activity.StatusMessage ?? '',
      cause: activity.Cause ?? '',
      ...activityZone(activity.Details),
    }));
  },
});
