// Renders the steps that create, delete or release a node group as plain lines.
import type { LifecycleStep } from '../../api/lifecycle-steps.ts';

export const explainLifecycleStep = (step: LifecycleStep): string => {
  switch (step.kind) {
    case 'ResumeProcesses':
      return `resume ${step.processes.join(', ')} of ${step.autoScalingGroupName}`;
    case 'RemoveHook':
      return `remove lifecycle hook ${step.hook.name} of ${step.autoScalingGroupName}`;
    case 'UntagGroup':
      return `remove tags of ${step.autoScalingGroupName}: ${step.keys.join(', ')}`;
    case 'DeleteGroup':
      return `delete Auto Scaling group ${step.autoScalingGroupName}`;
    case 'DeleteTemplate':
      return `delete launch template ${step.name}`;
    case 'DeleteProfile':
      return `delete instance profile ${step.name}`;
    case 'DeleteSecurityGroup':
      return `delete security group ${step.id} (${step.name})`;
    case 'DisownRole':
      return `leave the authorization of role ${step.role} as it is`;
    case 'EndGroup':
      return `remove role ${step.role} unless another group uses it, then the finalizer`;
    case 'EndRelease':
      return `remove the finalizer. ${step.message}`;
  }
};
