// An Auto Scaling group's sizes and the instances that count towards them. Decides nothing.
import type { ScalingGroup, ScalingInstance } from '../../api/cloud.ts';
import { forceAnnotation, type NodeGroup } from '../../api/nodegroup.ts';
import type { Sizes } from '../../api/plan.ts';

export const sizesOf = ({ minSize, maxSize, desiredCapacity }: ScalingGroup): Sizes => ({
  minSize,
  maxSize,
  desired: desiredCapacity,
});

/** Instances that count towards the desired capacity. */
export const countedOf = ({ instances }: ScalingGroup): readonly ScalingInstance[] =>
  instances.filter(({ lifecycleState }) => !/^(?:Terminat|Detach)/.test(lifecycleState));

/** The number of instances above the target; instances not launched yet need no drain. */
export const surplusOf = (scaling: ScalingGroup, target: number): number =>
  Math.max(0, Math.min(countedOf(scaling).length, scaling.desiredCapacity) - target);

export const suspendedOf = ({ suspendedProcesses = [] }: ScalingGroup): readonly string[] =>
  suspendedProcesses;

/**
 * The group's owner requests EKS' behaviour: Drover lowers the size at once, and the lifecycle hook
 * drains.
 */
export const isForced = ({ metadata }: NodeGroup): boolean =>
  metadata.annotations?.[forceAnnotation] === 'true';
