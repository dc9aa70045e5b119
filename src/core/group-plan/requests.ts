// The sizes that a node group requests, from its spec and status: input for the size decision, the
// current scale-in, the failure that still applies. Pure: reads and writes no API.

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

/** The spec is unchanged since Drover's own write-back. */
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
 * The desired size without the update's part: from the spec, or recorded with the surge. The Auto
 * Scaling group cannot show it: before the surge is launched it looks the same as after its
 * removal.
 */
export const netDesired = ({ spec, status }: NodeGroup, scaling: ScalingGroup): number => {
  const { desired, minSize, maxSize } = spec.scaling;
  if (desired !== undefined) return desired;
  const { surge } = status ?? {};
  if (surge === undefined) return scaling.desiredCapacity;
  // The spec still stated a desired size when the surge was recorded.
  if (surge.base === undefined) {
    return (status?.desired ?? scaling.desiredCapacity) - surge.desired;
  }
  return clamp(surge.base, minSize, maxSize);
};

/**
 * What a decision about sizes compares: the spec's sizes with the recorded increase of the maximum
 * for the surge, the Auto Scaling group's sizes now, and those of the last observation.
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
  /** The spec's sizes after this pass. */
  readonly followed: NodeGroupScaling;
  /** The group's desired size without the update's surge. */
  readonly wanted: number;
}

/**
 * Compares the group with its last observation, follows changes by others, and adds the recorded
 * surge.
 */
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
  /**
   * The number of instances to reach. It includes the surge and the instances that are being
   * terminated with decrement.
   */
  readonly target: number;
  readonly surge: NonNullable<NodeGroupStatus['surge']>;
}

/** The sizes to reach, and the records to store before that. */
export const sizesNow = (
  group: NodeGroup,
  { settled, wanted }: SizesSeen,
  part: {
    readonly surge: UpdateSurge;
    readonly isUpdating: boolean;
    /** The number of observed instances that the update terminates with decrement. */
    readonly retiring: number;
  },
): SizesNow => {
  const { isUpdating, retiring } = part;
  const { desired, maxSize } = part.surge;
  const { people, carried, left, takenUntil } = settled;
  const isNoted = group.spec.scaling.desired === undefined;
  const isOurs = isUpdating || retiring > 0 || !sameSurge(part.surge, noSurge);
  const target = wanted + desired + retiring;
  // The group already has the target size: the user's larger request is met by the update's
  // instances without a call.
  const isThere = people + carried === target;
  const noted = {
    ...(isNoted ? { base: wanted } : {}),
    ...(retiring > 0 ? { retiring } : {}),
    ...(isThere || carried === desired + retiring ? {} : { carried }),
    left,
    ...defined({ takenUntil }),
  };
  return {
    // Instances that are being terminated count until they are gone.
    target,
    surge: { desired, maxSize, ...(isOurs ? noted : {}) },
  };
};

/** Adds the next size call to the record, if it changes the number of instances. */
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

/**
 * The sizes to write back to the spec: without the update's surge, and without a desired size
 * unless the user set one.
 */
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
 * The failure to report: it stays until other sizes are requested. If a scale-in is recorded too,
 * it is being given up; setting the spec back is part of that, not a new request.
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

/** The scale-in that is needed: the current one or a new one; undefined if none. */
export const scaleInNow = (
  group: NodeGroup,
  scaling: ScalingGroup,
  target: number,
  now: EpochMs,
): NodeGroupStatus['scaleIn'] => {
  if (scaling.desiredCapacity <= target) return undefined;
  const { scaleIn: known, failure } = group.status ?? {};
  // The same size was requested again while the last scale-in was being given up. The drains of
  // that scale-in do not count for the new one.
  const isSpent = failure !== undefined && lastFailure(group) === undefined;
  if (known !== undefined && !isSpent)
    return known.target === target ? known : { ...known, target };
  const since = formatTime(now);
  return { id: scaleInId(group.metadata.name, since), target, since };
};

/**
 * The sizes with a maximum that includes the update's part: after the next call if there is one,
 * else as of this pass.
 */
export const withRoom = (
  surge: SizesNow['surge'],
  wanted: WantedSizes,
  isUpdating: boolean,
): WantedSizes => ({
  ...wanted,
  maxSize: surge.next?.maxSize ?? wanted.maxSize + roomOf(surge, isUpdating),
});
