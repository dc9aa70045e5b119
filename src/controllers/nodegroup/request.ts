// What a node group's sizes ask for, read from its spec and status: the facts for the decision, the
// scale-in under way, the failure that still stands. Asks nobody and writes nothing.
import { type EpochMs, formatTime } from '../../api/brand.ts';
import {
  followedAnnotation,
  type NodeGroup,
  type NodeGroupScaling,
  type NodeGroupStatus,
} from '../../api/nodegroup.ts';
import {
  clamp,
  decideSizes,
  type SizeFacts,
  type Sizes,
  scaleInId,
} from '../../core/scaling/index.ts';
import type { UpdateSurge } from '../../core/update/index.ts';
import type { ScalingGroup } from '../../ports/index.ts';

/** The spec is as a write-back of ours left it. */
const isFollowed = ({ metadata }: NodeGroup): boolean =>
  metadata.annotations?.[followedAnnotation] === String(metadata.generation ?? 0);

export const noSurge: UpdateSurge = { desired: 0, maxSize: 0 };

const sameSurge = (a: UpdateSurge, b: UpdateSurge): boolean =>
  a.desired === b.desired && a.maxSize === b.maxSize;

/**
 * How many people want, without what is an update's: stated, or noted with the surge. It cannot be told
 * from the group, which shows the same before a surge is carried out and after it was taken back.
 */
export const netDesired = ({ spec, status }: NodeGroup, scaling: ScalingGroup): number => {
  const { desired, minSize, maxSize } = spec.scaling;
  if (desired !== undefined) return desired;
  const { surge } = status ?? {};
  if (surge === undefined) return scaling.desiredCapacity;
  // Of a version that did not note it.
  if (surge.base === undefined) {
    return (status?.desired ?? scaling.desiredCapacity) - surge.desired;
  }
  return clamp(surge.base, minSize, maxSize);
};

/**
 * Nothing of a noted surge was carried out when the group was last seen, and somebody has made it smaller
 * since: that is meant without the surge, which would else be taken out of what people have.
 */
const isPending = (asked: number, surge: UpdateSurge, before: number, now: number): boolean =>
  surge.desired > 0 && before <= asked - surge.desired && now < before;

/**
 * The group as it is and as it was last seen, both without the instances that an update was retiring then: each of
 * them takes its place in the group along when it goes, which is nobody's wish to have fewer.
 */
const withoutRetiring = (
  { status }: NodeGroup,
  { minSize, maxSize, desiredCapacity }: ScalingGroup,
  retiring: number,
): Pick<SizeFacts, 'actual' | 'last'> => {
  const before = status?.surge?.retiring ?? 0;
  const actual = { minSize, maxSize, desired: desiredCapacity - retiring };
  if (status === undefined) return { actual, last: undefined };
  return { actual, last: { ...status, desired: status.desired - before } };
};

/**
 * Fewer are being retired, and the group's size does not show it: not yet, or as they were given back, or as it was
 * set, with them, at the moment in which they left. So many more than asked for are nobody's wish.
 */
const isOvertaken = ({ status }: NodeGroup, retiring: number, over: number): boolean =>
  over > 0 && over <= (status?.surge?.retiring ?? 0) - retiring;

/** What people want and the noted surge together, beside the group as it is and as it was last seen. */
const sizeFacts = (group: NodeGroup, scaling: ScalingGroup, retiring: number): SizeFacts => {
  const { status, spec } = group;
  const { actual: found, last } = withoutRetiring(group, scaling, retiring);
  const { desired, maxSize } = found;
  const { surge, requested } = status ?? {};
  const followed = isFollowed(group);
  if (surge === undefined) {
    return { spec: spec.scaling, actual: found, last, noted: requested, followed };
  }
  const plus = (sizes: NodeGroupScaling): NodeGroupScaling => ({
    ...sizes,
    maxSize: sizes.maxSize + surge.maxSize,
    desired: (sizes.desired ?? netDesired(group, scaling)) + surge.desired,
  });
  const asked = plus(spec.scaling);
  const noted = requested && plus(requested);
  const wanted = asked.desired ?? 0;
  // Set with those that were being retired, for which there was no room.
  const isRoom = maxSize > asked.maxSize && maxSize === wanted + (surge.retiring ?? 0);
  const actual = isRoom ? { ...found, maxSize: asked.maxSize } : found;
  const plain = { spec: asked, actual, last, noted, followed };
  if (isOvertaken(group, retiring, desired - wanted)) {
    return { ...plain, actual: { ...actual, desired: wanted } };
  }
  if (last === undefined || !isPending(wanted, surge, last.desired, desired)) return plain;
  const withSurge = (sizes: Sizes): Sizes => ({ ...sizes, desired: sizes.desired + surge.desired });
  return { ...plain, actual: withSurge(actual), last: withSurge(last) };
};

export interface SizesNow {
  /** The spec's sizes from now on. */
  readonly followed: NodeGroupScaling;
  /** How many instances there are to be, the surge and those that are being retired among them. */
  readonly target: number;
  readonly surge: NonNullable<NodeGroupStatus['surge']>;
}

/**
 * What somebody changed from outside is followed beside the surge that was noted; a surge that changes
 * comes on top of that.
 */
export const sizesNow = (
  group: NodeGroup,
  scaling: ScalingGroup,
  around: {
    readonly surge: UpdateSurge;
    readonly isUpdating: boolean;
    /** How many instances of the group, as `scaling` has them, the update ends with decrement. */
    readonly retiring: number;
  },
): SizesNow => {
  const noted = group.status?.surge ?? noSurge;
  const { spec } = group;
  const facts = sizeFacts(group, scaling, around.retiring);
  const decided = decideSizes(facts);
  const base = decided.target - noted.desired;
  const { isUpdating, retiring } = around;
  const { desired, maxSize } = around.surge;
  const isOurs = isUpdating || retiring > 0 || !sameSurge(around.surge, noSurge);
  const isNoted = spec.scaling.desired === undefined && isOurs;
  const followed =
    decided.scaling === facts.spec
      ? spec.scaling
      : withoutSurge(decided.scaling, noted, spec.scaling);
  return {
    followed,
    // Those that leave keep their places until then.
    target: base + desired + retiring,
    surge: {
      desired,
      maxSize,
      ...(isNoted ? { base: Math.max(0, base) } : {}),
      ...(retiring > 0 ? { retiring } : {}),
    },
  };
};

/** What is written back to the spec: without the surge, and without a desired that nobody stated. */
const withoutSurge = (
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
