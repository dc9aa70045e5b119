// Splits the Auto Scaling group's size during an update into the update's part and the user's
// desired size. Decided from what was recorded before each of Drover's calls, never from the size
// alone. Pure.
import type { NodeGroupStatus } from '../../api/nodegroup.ts';
import type { Sizes } from '../../api/plan.ts';

type NotedSurge = NonNullable<NodeGroupStatus['surge']>;

/**
 * Instances that left the group because an update terminated them with decrement. `sure`: certainly
 * by Drover's call. `most`: at most this many.
 */
export interface Left {
  readonly sure: number;
  readonly most: number;
  /**
   * Instances that other actors terminated with decrement since `surge.takenUntil`; absent: none,
   * or not read.
   */
  readonly taken?: {
    readonly count: number;
    /** Start time of the newest of these terminations, by Auto Scaling's clock. */
    readonly until: string;
  };
}

const nobodyLeft: Left = { sure: 0, most: 0 };

export interface Settled {
  /** The group's size without the update's part. */
  readonly people: number;
  /**
   * The group as last recorded, including Drover's calls since; `desired` is without the update's
   * part, like `people`.
   */
  readonly before: Pick<Sizes, 'desired' | 'maxSize'> | undefined;
  /** The update's part of the group's size. */
  readonly carried: number;
  /** How much the update raises the maximum. */
  readonly room: number;
  readonly left: number;
  /** How many instances of the update's part other actors terminated with decrement. */
  readonly taken: number;
  readonly takenUntil: string | undefined;
}

const carriedOf = ({ carried, desired, retiring = 0 }: NotedSurge): number =>
  carried ?? desired + retiring;

/**
 * For an update that has ended: the instances that it added beyond the surplus that stays are
 * removed by a normal scale-in, with decrement.
 */
export const leftSince = (surge: NotedSurge | undefined): Left => {
  if (surge === undefined) return nobodyLeft;
  const { desired, retiring = 0, left = 0 } = surge;
  const over = carriedOf(surge) - desired - retiring;
  return over > 0 ? { sure: 0, most: left + over } : nobodyLeft;
};

/** How many instances Drover's calls terminated with decrement since the last record. */
export const leftAnew = (surge: NotedSurge | undefined, left: Left): number =>
  Math.max(0, left.sure - Math.min(surge?.left ?? left.most, left.most));

/**
 * By how much to raise the maximum. During an update by the update's whole part of the size, since
 * the maximum shows whether its calls were made; afterwards by what exceeds the user's maximum.
 */
export const roomOf = (surge: NotedSurge, isUpdating: boolean): number =>
  isUpdating ? Math.max(surge.maxSize, carriedOf(surge)) : surge.maxSize;

type RecordedSizes = Pick<
  NodeGroupStatus,
  'desired' | 'maxSize' | 'surge' | 'requested' | 'updating'
>;

/**
 * Whether Auto Scaling received the recorded call, which sets desired size and maximum together. If
 * the call changes the maximum, the maximum decides, since autoscalers do not change it. Otherwise
 * the call counts as received if the desired size is nearer to the requested value than to the
 * recorded one.
 */
const isCarriedOut = (
  next: NonNullable<NotedSurge['next']>,
  recorded: Pick<Sizes, 'desired' | 'maxSize'>,
  actual: Sizes,
): boolean => {
  if (next.maxSize !== recorded.maxSize) {
    if (actual.maxSize === next.maxSize) return true;
    if (actual.maxSize === recorded.maxSize) return false;
  }
  return Math.abs(actual.desired - next.desired) < Math.abs(actual.desired - recorded.desired);
};

/** The group as last recorded, or as the recorded call left it. */
const lastOf = (status: RecordedSizes, surge: NotedSurge, actual: Sizes) => {
  const { next } = surge;
  if (next !== undefined && isCarriedOut(next, status, actual)) {
    return { ...next, room: Math.max(surge.maxSize, next.carried) };
  }
  const { desired, maxSize, requested } = status;
  const had = Math.max(0, maxSize - (requested?.maxSize ?? maxSize));
  return {
    desired,
    maxSize,
    carried: carriedOf(surge),
    room: next === undefined ? roomOf(surge, status.updating !== undefined) : had,
  };
};

/**
 * Terminations with decrement by other actors, such as the cluster autoscaler, reduce the update's
 * part first: they remove empty nodes, which are the update's surplus. A desired size set as a
 * number is a user's request.
 */
export const settle = (status: RecordedSizes | undefined, actual: Sizes, left: Left): Settled => {
  const surge = status?.surge;
  const takenUntil = left.taken?.until ?? surge?.takenUntil;
  if (status === undefined || surge === undefined) {
    const none = { carried: 0, room: 0, left: left.sure, taken: 0 };
    return { people: actual.desired, before: status, ...none, takenUntil };
  }
  // Fewer than recorded: another update has begun, or the records were deleted.
  const known = Math.min(surge.left ?? 0, left.most);
  const least = Math.max(0, left.sure - known);
  const most = Math.max(least, left.most - known);
  // A termination with decrement is not a request for a smaller group.
  const others = left.taken?.count ?? 0;
  const last = lastOf(status, surge, { ...actual, desired: actual.desired + least + others });
  const gone = Math.max(least, Math.min(most, last.desired - actual.desired - others));
  // Drover's terminations beyond the update's part bring the group to the requested size.
  const stays = Math.max(0, last.carried - gone);
  const taken = Math.min(others, stays);
  const carried = stays - taken;
  const { maxSize, room } = last;
  const before = { desired: last.desired - gone - stays, maxSize };
  const people = actual.desired - carried;
  return { people, before, carried, room, left: known + gone, taken, takenUntil };
};
