// Renders the steps that adopt, create, delete or release a node group as plain lines.
import type { LifecycleStep } from '../../api/lifecycle-steps.ts';

export const explainLifecycleStep = (step: LifecycleStep): string => {
  switch (step.kind) {
    case 'TagGroup':
      return `tag ${step.autoScalingGroupName}: ${Object.keys(step.tags).join(', ')}`;
    case 'AuthorizeRole':
      return `authorize nodes with role ${step.role}`;
    case 'EnsureProfile':
      return `create instance profile ${step.profile.name} with role ${step.profile.roleName}`;
    case 'CreateSecurityGroup':
      return `create security group ${step.securityGroup.name}`;
    case 'AllowIngress': {
      const { port, groups, cidrs } = step.rule;
      return `allow port ${port} of ${step.id} from ${[...groups, ...cidrs].join(', ')}`;
    }
    case 'CreateTemplate':
      return `create launch template ${step.name} with image ${String(step.data.ImageId)}`;
    case 'CreateGroup': {
      const { name, minSize, maxSize, desiredCapacity } = step.group;
      const sizes = `min/max/desired ${minSize}/${maxSize}/${desiredCapacity}`;
      return `create Auto Scaling group ${name}: ${sizes}, launch template ${step.launchTemplate}`;
    }
    case 'InstallHook':
      return `install lifecycle hook ${step.hook.name} on ${step.autoScalingGroupName}`;
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
