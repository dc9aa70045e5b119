// What a node group's sizes ask for, read from its spec and status: the facts for the decision, the
// scale-in under way, the failure that still stands. Asks nobody and writes nothing.

import { type EpochMs, formatTime } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import {
  followedAnnotation,
  type NodeGroup,
  type NodeGroupScaling,
  type NodeGroupStatus,
} from '../../api/nodegroup.ts';
import {
  clamp,
  decideSizes,
  type Left,
  roomOf,
  type Settled,
  type SizeFacts,
  scaleInId,
  settle,
  type WantedSizes,
} from '../nodegroup/index.ts';
import type { UpdateSurge } from '../update/index.ts';

/** The spec is as a write-back of ours left it. */
const isFollowed = ({ metadata }: Pick<NodeGroup, 'metadata'>): boolean =>
  metadata.annotations?.[followedAnnotation] === String(metadata.generation ?? 0);

const asksAnew = ({ metadata, status }: Pick<NodeGroup, 'metadata' | 'status'>): boolean => {
  const writtenAt = Number(metadata.annotations?.[followedAnnotation] ?? 0);
  return writtenAt > (status?.observedGeneration ?? 0) && (metadata.generation ?? 0) > writtenAt;
};

export const noSurge: UpdateSurge = { desired: 0, maxSize: 0 };

const sameSurge = (a: UpdateSurge, b: UpdateSurge): boolean =>
  a.desired === b.desired && a.maxSize === b.maxSize;

/**
 * How many people want, without what is an update's: stated, or noted with the surge. It cannot be
 * told from the group, which shows the same before a surge is carried out and after it was taken
 * back.
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
 * What people want and the noted room beside it, against the group as it is and as it was last
 * seen.
 */
const sizeFacts = (
  { metadata, spec, status }: NodeGroup,
  { minSize, maxSize }: ScalingGroup,
  { people, before, room }: Settled,
): SizeFacts => {
  const { requested } = status ?? {};
  const plus = (sizes: NodeGroupScaling): NodeGroupScaling => ({
    ...sizes,
    maxSize: sizes.maxSize + room,
  });
  return {
    spec: plus(spec.scaling),
    actual: { minSize, maxSize, desired: people },
    last: status && { ...status, ...before },
    noted: requested && plus(requested),
    followed: isFollowed({ metadata }),
    asksAnew: asksAnew({ metadata, ...defined({ status }) }),
  };
};

export interface SizesSeen {
  readonly settled: Settled;
  /** The spec's sizes from now on. */
  readonly followed: NodeGroupScaling;
  /** How many people want, without what is an update's. */
  readonly wanted: number;
}

/** What somebody changed from outside is followed beside the surge that was noted. */
export const seeSizes = (group: NodeGroup, scaling: ScalingGroup, left: Left): SizesSeen => {
  const { minSize, maxSize, desiredCapacity: desired } = scaling;
  const settled = settle(group.status, { minSize, maxSize, desired }, left);
  const facts = sizeFacts(group, scaling, settled);
  const decided = decideSizes(facts);
  const { spec } = group;
  const followed =
    decided.scaling === facts.spec
      ? spec.scaling
      : withoutRoom(decided.scaling, settled.room, spec.scaling);
  const wanted = followed.desired ?? clamp(decided.target, followed.minSize, followed.maxSize);
  return { settled, followed, wanted };
};

export interface SizesNow {
  /** How many instances there are to be, the surge and those that are being retired among them. */
  readonly target: number;
  readonly surge: NonNullable<NodeGroupStatus['surge']>;
}

/** What there is to be, and what is noted of it before. */
export const sizesNow = (
  group: NodeGroup,
  { settled, wanted }: SizesSeen,
  part: {
    readonly surge: UpdateSurge;
    readonly isUpdating: boolean;
    /** How many instances of the group, as it was seen, the update ends with decrement. */
    readonly retiring: number;
  },
): SizesNow => {
  const { isUpdating, retiring } = part;
  const { desired, maxSize } = part.surge;
  const { people, carried, left, takenUntil } = settled;
  const isNoted = group.spec.scaling.desired === undefined;
  const isOurs = isUpdating || retiring > 0 || !sameSurge(part.surge, noSurge);
  const target = wanted + desired + retiring;
  // As many as there are to be are there: what people ask for besides takes up what was the
  // update's, without a call.
  const isThere = people + carried === target;
  const noted = {
    ...(isNoted ? { base: wanted } : {}),
    ...(retiring > 0 ? { retiring } : {}),
    ...(isThere || carried === desired + retiring ? {} : { carried }),
    left,
    ...defined({ takenUntil }),
  };
  return {
    // Those that leave keep their places until then.
    target,
    surge: { desired, maxSize, ...(isOurs ? noted : {}) },
  };
};

/** The same with the call of ours that follows, where it changes how many there are. */
export const withCall = (
  surge: SizesNow['surge'],
  { carried }: Settled,
  scaling: ScalingGroup,
  {
    maxSize,
    target,
    lower,
  }: { readonly maxSize: number; readonly target: number; readonly lower: number | undefined },
): SizesNow['surge'] => {
  const { retiring = 0 } = surge;
  const now = scaling.desiredCapacity;
  const desired = lower ?? target;
  if (lower === undefined && target <= now) return surge;
  const ours = Math.max(
    0,
    lower === undefined ? surge.desired + retiring : carried - (now - lower),
  );
  const most = Math.max(desired, maxSize + Math.max(surge.maxSize, ours));
  return { ...surge, next: { desired, maxSize: most, carried: ours } };
};

/** What is written back to the spec: without the room, and without a desired that nobody stated. */
const withoutRoom = (
  { minSize, maxSize, desired = 0 }: NodeGroupScaling,
  room: number,
  before: NodeGroupScaling,
): NodeGroupScaling => {
  const most = Math.max(minSize, maxSize - room);
  return {
    minSize,
    maxSize: most,
    ...(before.desired === undefined ? {} : { desired: clamp(desired, minSize, most) }),
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

/**
 * The maximum with room for what is an update's: with the call that follows it is what it will be
 * then.
 */
export const withRoom = (
  surge: SizesNow['surge'],
  wanted: WantedSizes,
  isUpdating: boolean,
): WantedSizes => ({
  ...wanted,
  maxSize: surge.next?.maxSize ?? wanted.maxSize + roomOf(surge, isUpdating),
});
