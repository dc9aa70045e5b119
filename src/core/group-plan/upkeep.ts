// What Drover maintains on an Auto Scaling group that it holds: its lifecycle hooks. Hooks of other
// names stay as they are. Pure.
import type { LifecycleHook } from '../../api/cloud.ts';
import type { LifecycleStep } from '../../api/lifecycle-steps.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { missingHooks } from '../nodegroup/index.ts';

/** If one step is refused, the hooks that earlier steps installed stay. */
export const decideUpkeep = (
  group: NodeGroup,
  autoScalingGroupName: string,
  hooks: readonly Pick<LifecycleHook, 'name' | 'transition'>[],
): readonly Extract<LifecycleStep, { kind: 'InstallHook' }>[] =>
  missingHooks(group, hooks).map((hook) => ({ kind: 'InstallHook', autoScalingGroupName, hook }));
