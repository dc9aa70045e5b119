// DeleteAutoScalingGroup against the world in process, as the port has it: what is in a warm pool
// keeps nobody.
import { type CloudApi, isGroupInUse, throwIfDenied } from '../../ports/index.ts';
import type { CloudCalls } from './cloud-calls.ts';

export const deleteGroupBy =
  (calls: CloudCalls): CloudApi['deleteGroup'] =>
  async (name, options = {}) => {
    const input = { AutoScalingGroupName: name };
    try {
      const answer = await calls.maybe('autoscaling', 'DeleteAutoScalingGroup', input, options);
      return answer !== undefined;
    } catch (error) {
      if (!isGroupInUse(error)) throw error;
      const whole = { ...input, ForceDelete: true };
      await calls.send('autoscaling', 'DeleteWarmPool', whole, options).catch(throwIfDenied);
      throw error;
    }
  };
