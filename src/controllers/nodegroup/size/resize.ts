// An Auto Scaling group's sizes as they are, and the call that sets them. Decides nothing.

import type { ScalingGroup, ScalingInstance } from '../../../api/cloud.ts';
import type { SizeChange, Sizes } from '../../../core/nodegroup/index.ts';
import type { NodeGroupDeps } from '../deps.ts';

export const sizesOf = ({ minSize, maxSize, desiredCapacity }: ScalingGroup): Sizes => ({
  minSize,
  maxSize,
  desired: desiredCapacity,
});

/** Instances that count towards desired capacity. */
export const countedOf = ({ instances }: ScalingGroup): readonly ScalingInstance[] =>
  instances.filter(({ lifecycleState }) => !/^(?:Terminat|Detach)/.test(lifecycleState));

const same = (a: Sizes, b: Sizes): boolean =>
  a.desired === b.desired && a.minSize === b.minSize && a.maxSize === b.maxSize;

/** Of fewer than there are Auto Scaling would end one of its own choice, with its pods. */
const endsWhatCame = (
  desired: number | undefined,
  now: ScalingGroup,
  seen: ScalingGroup,
): boolean => {
  const count = countedOf(now).length;
  return desired !== undefined && desired < count && count > countedOf(seen).length;
};

/**
 * How many there are to be is set as a number, and Auto Scaling takes no condition with it: what
 * somebody set since the group was looked at would be lost, and so would an instance that has come
 * since. So it is looked at right before, and where it differs nothing is done: the next pass
 * decides on what is there then.
 */
export const setSizes = async (
  deps: NodeGroupDeps,
  scaling: ScalingGroup,
  change: SizeChange,
  signal: AbortSignal,
): Promise<void> => {
  const { name } = scaling;
  if (change.desiredCapacity !== undefined) {
    const [now] = await deps.cloud.describeGroups([name], { signal });
    if (now === undefined || !same(sizesOf(now), sizesOf(scaling))) return;
    if (endsWhatCame(change.desiredCapacity, now, scaling)) return;
  }
  await deps.cloud.updateGroup({ name, ...change }, { signal });
};
