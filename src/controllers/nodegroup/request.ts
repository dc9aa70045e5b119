// What a node group's sizes ask for, read from its spec and status: the facts for the decision, the
// scale-in under way, the failure that still stands. Asks nobody and writes nothing.
import { type EpochMs, formatTime } from '../../api/brand.ts';
import { followedAnnotation, type NodeGroup, type NodeGroupStatus } from '../../api/nodegroup.ts';
import { type Sizes, scaleInId } from '../../core/scaling/index.ts';
import type { ScalingGroup } from '../../ports/index.ts';

/** The spec is as a write-back of ours left it. */
const isFollowed = ({ metadata }: NodeGroup): boolean =>
  metadata.annotations?.[followedAnnotation] === String(metadata.generation ?? 0);

export const sizeFacts = (group: NodeGroup, scaling: ScalingGroup) => {
  const { status, spec } = group;
  const { minSize, maxSize, desiredCapacity: desired } = scaling;
  const last: Sizes | undefined = status;
  return {
    spec: spec.scaling,
    actual: { minSize, maxSize, desired },
    last,
    noted: status?.requested,
    followed: isFollowed(group),
  };
};

/**
 * A failure is told until the sizes are changed again. Beside a scale-in it means that this one is
 * being given up, of which setting the spec back is a part and no new request.
 */
export const lastFailure = (group: NodeGroup): NodeGroupStatus['failure'] => {
  const { status, spec } = group;
  const { requested, failure, scaleIn } = status ?? {};
  if (failure === undefined || requested === undefined) return undefined;
  const { minSize, maxSize, desired } = spec.scaling;
  const same =
    requested.minSize === minSize && requested.maxSize === maxSize && requested.desired === desired;
  return same || (scaleIn !== undefined && isFollowed(group)) ? failure : undefined;
};

/** The scale-in that is needed now: the one under way, or a new one; undefined when none. */
export const scaleInNow = (
  group: NodeGroup,
  scaling: ScalingGroup,
  target: number,
  now: EpochMs,
): NodeGroupStatus['scaleIn'] => {
  if (scaling.desiredCapacity <= target) return undefined;
  const { scaleIn: known, failure } = group.status ?? {};
  // Asked for anew while the last one was being given up: its drains are not this one's.
  const isSpent = failure !== undefined && lastFailure(group) === undefined;
  if (known !== undefined && !isSpent)
    return known.target === target ? known : { ...known, target };
  const since = formatTime(now);
  return { id: scaleInId(group.metadata.name, since), target, since };
};
