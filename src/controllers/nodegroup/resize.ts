// The call that sets an Auto Scaling group's sizes. Decides nothing.
import type { SizeChange, Sizes } from '../../core/scaling/index.ts';
import type { ScalingGroup } from '../../ports/index.ts';
import { mustLead, type NodeGroupDeps } from './deps.ts';

export const sizesOf = ({ minSize, maxSize, desiredCapacity }: ScalingGroup): Sizes => ({
  minSize,
  maxSize,
  desired: desiredCapacity,
});

const same = (a: Sizes, b: Sizes): boolean =>
  a.desired === b.desired && a.minSize === b.minSize && a.maxSize === b.maxSize;

/**
 * How many there are to be is set as a number, and Auto Scaling takes no condition with it: what somebody set since the
 * group was looked at would be lost. So it is looked at right before, and where it differs nothing is done: the next pass
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
  }
  mustLead(deps);
  await deps.cloud.updateGroup({ name, ...change }, { signal });
};
