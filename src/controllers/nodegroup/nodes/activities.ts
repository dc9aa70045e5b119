// Reads Auto Scaling's activities only if they can have changed since the last read: an instance
// appeared, disappeared or changed, or a launch is pending. Decides nothing.
import type { EpochMs } from '../../../api/brand.ts';
import type { ScalingActivity, ScalingGroup } from '../../../api/cloud.ts';
import { countedOf } from '../../../core/group-plan/index.ts';
import type { NodeGroupDeps } from '../deps.ts';

export interface ActivityMemory {
  /** The state of the group at that time. */
  readonly of: string;
  readonly at: EpochMs;
  readonly activities: readonly ScalingActivity[];
}

/** Auto Scaling retries failed launches at growing intervals. */
const triesEveryMs = 10_000;

const pictureOf = ({ desiredCapacity, instances }: ScalingGroup): string => {
  const each = instances.map(({ instanceId, lifecycleState }) => `${instanceId} ${lifecycleState}`);
  return [desiredCapacity, ...each.toSorted()].join();
};

export const lookAtActivities = async (
  { cloud, clock }: Pick<NodeGroupDeps, 'cloud' | 'clock'>,
  {
    scaling,
    memory,
  }: { readonly scaling: ScalingGroup; readonly memory: { activities?: ActivityMemory } },
  signal: AbortSignal,
): Promise<readonly ScalingActivity[]> => {
  const { activities: known } = memory;
  const at = clock.now();
  const of = pictureOf(scaling);
  const isShort = countedOf(scaling).length < scaling.desiredCapacity;
  if (known?.of === of && (!isShort || at - known.at < triesEveryMs)) return known.activities;
  const activities = await cloud.describeActivities(scaling.name, { signal });
  memory.activities = { of, at, activities };
  return activities;
};
