// What a node group's sizes ask for, read from its spec and status: the facts for the decision, the
// scale-in under way, the failure that still stands. Asks nobody and writes nothing.
import { type EpochMs, formatTime } from '../../api/brand.ts';
import {
  followedAnnotation,
  type NodeGroup,
  type NodeGroupScaling,
  type NodeGroupStatus,
} from '../../api/nodegroup.ts';
import { type SizeFacts, type Sizes, scaleInId } from '../../core/scaling/index.ts';
import type { UpdateSurge } from '../../core/update/index.ts';
import type { ScalingGroup } from '../../ports/index.ts';

/** The spec is as a write-back of ours left it. */
const isFollowed = ({ metadata }: NodeGroup): boolean =>
  metadata.annotations?.[followedAnnotation] === String(metadata.generation ?? 0);

export const noSurge: UpdateSurge = { desired: 0, maxSize: 0 };

const sameSurge = (a: UpdateSurge, b: UpdateSurge): boolean =>
  a.desired === b.desired && a.maxSize === b.maxSize;

/** How many people want, without what is an update's: stated, or what the group last had. */
export const netDesired = ({ spec, status }: NodeGroup, scaling: ScalingGroup): number =>
  spec.scaling.desired ??
  (status?.desired ?? scaling.desiredCapacity) - (status?.surge?.desired ?? 0);

/**
 * A surge is a request like any other: what people want and the update's part together are compared
 * with the group, now and as last noted.
 */
export const sizeFacts = (
  group: NodeGroup,
  scaling: ScalingGroup,
  surge: UpdateSurge = noSurge,
): SizeFacts => {
  const { status, spec } = group;
  const { minSize, maxSize, desiredCapacity: desired } = scaling;
  const last: Sizes | undefined = status;
  const noted = status?.surge ?? noSurge;
  const actual = { minSize, maxSize, desired };
  if (sameSurge(surge, noSurge) && sameSurge(noted, noSurge)) {
    return {
      spec: spec.scaling,
      actual,
      last,
      noted: status?.requested,
      followed: isFollowed(group),
    };
  }
  const plus = (sizes: NodeGroupScaling, more: UpdateSurge): NodeGroupScaling => ({
    ...sizes,
    maxSize: sizes.maxSize + more.maxSize,
    desired: (sizes.desired ?? netDesired(group, scaling)) + more.desired,
  });
  return {
    spec: plus(spec.scaling, surge),
    actual,
    last,
    noted: status?.requested && plus(status.requested, noted),
    // A surge that has changed is a request, whoever wrote the spec.
    followed: isFollowed(group) && sameSurge(surge, noted),
  };
};

/** What is written back to the spec: without the surge, and without a desired that nobody stated. */
export const withoutSurge = (
  scaling: NodeGroupScaling,
  surge: UpdateSurge,
  before: NodeGroupScaling,
): NodeGroupScaling => {
  if (sameSurge(surge, noSurge)) return scaling;
  const { minSize, maxSize, desired = 0 } = scaling;
  const most = Math.max(minSize, maxSize - surge.maxSize);
  return {
    minSize,
    maxSize: most,
    ...(before.desired === undefined
      ? {}
      : { desired: Math.max(minSize, Math.min(most, desired - surge.desired)) }),
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
