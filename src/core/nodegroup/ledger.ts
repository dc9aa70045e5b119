// Whose the Auto Scaling group's size is while an update changes it too: how much of what is there
// is the update's, how much is what people want. Told apart by what was noted before each change of
// ours, never by the size alone. Pure.
import type { NodeGroupStatus } from '../../api/nodegroup.ts';
import type { Sizes } from '../../api/plan.ts';

type NotedSurge = NonNullable<NodeGroupStatus['surge']>;

/**
 * Of the instances that an update ends with decrement, those that have left: `sure` by our call,
 * `most` by it or otherwise.
 */
export interface Left {
  readonly sure: number;
  readonly most: number;
  /**
   * What others terminated with its place since `surge.takenUntil`; absent: nothing, or nobody
   * looked.
   */
  readonly taken?: {
    readonly count: number;
    /** When the newest of these terminations began, in Auto Scaling's time. */
    readonly until: string;
  };
}

const nobodyLeft: Left = { sure: 0, most: 0 };

export interface Settled {
  /** The group's size without what is the update's. */
  readonly people: number;
  /**
   * The group as it was when it was last told of, what we have set since then included, and
   * `desired` as `people`.
   */
  readonly before: Pick<Sizes, 'desired' | 'maxSize'> | undefined;
  /** What of the group's size is the update's now. */
  readonly carried: number;
  /** By how much the maximum is larger for it. */
  readonly room: number;
  readonly left: number;
  /** How many instances of what was the update's others have terminated with their places. */
  readonly taken: number;
  readonly takenUntil: string | undefined;
}

const carriedOf = ({ carried, desired, retiring = 0 }: NotedSurge): number =>
  carried ?? desired + retiring;

/**
 * Of an update that has ended: what it carried beyond the surplus that stays is scaled in as any
 * other, and takes its place along when it goes.
 */
export const leftSince = (surge: NotedSurge | undefined): Left => {
  if (surge === undefined) return nobodyLeft;
  const { desired, retiring = 0, left = 0 } = surge;
  const over = carriedOf(surge) - desired - retiring;
  return over > 0 ? { sure: 0, most: left + over } : nobodyLeft;
};

/**
 * A version before wrote no `left`, and noted a surge before it was asked for: how many are the
 * update's shows in what was told beside what people want, and who has left was taken note of then.
 */
const withLeft = (
  surge: NotedSurge,
  { desired }: { readonly desired: number },
  left: Left,
): NotedSurge => {
  if (surge.left !== undefined) return surge;
  const { base } = surge;
  return {
    ...surge,
    left: left.most,
    ...(base === undefined ? {} : { carried: Math.max(0, desired - base) }),
  };
};

/** How many have left by our calls since they were taken note of. */
export const leftAnew = (surge: NotedSurge | undefined, left: Left): number =>
  Math.max(0, left.sure - Math.min(surge?.left ?? left.most, left.most));

/**
 * By how much the maximum is to be larger. While an update runs, by all that is the update's: the
 * maximum is the witness of its calls. After that by what does not fit into the user's.
 */
export const roomOf = (surge: NotedSurge, isUpdating: boolean): number =>
  isUpdating ? Math.max(surge.maxSize, carriedOf(surge)) : surge.maxSize;

type Told = Pick<NodeGroupStatus, 'desired' | 'maxSize' | 'surge' | 'requested' | 'updating'>;

/**
 * Whether the call that was noted has been made. It sets desired and maximum at once, and where an
 * update's part changes it changes both: then the maximum tells, which an autoscaler leaves alone;
 * else what needs the smaller change by others.
 */
const isCarriedOut = (
  next: NonNullable<NotedSurge['next']>,
  told: Pick<Sizes, 'desired' | 'maxSize'>,
  actual: Sizes,
): boolean => {
  if (next.maxSize !== told.maxSize) {
    if (actual.maxSize === next.maxSize) return true;
    if (actual.maxSize === told.maxSize) return false;
  }
  return Math.abs(actual.desired - next.desired) < Math.abs(actual.desired - told.desired);
};

/**
 * The group with what was noted of it when it was last told of, or as the call that was noted has
 * left it.
 */
const lastOf = (status: Told, surge: NotedSurge, actual: Sizes) => {
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
 * What others terminate with its place, as the cluster autoscaler does, comes off what is the
 * update's as long as there is any of that: a node that runs nothing is what the update has too
 * many of. A size that is set as a number is a wish.
 */
export const settle = (status: Told | undefined, actual: Sizes, left: Left): Settled => {
  const noted = status?.surge;
  const takenUntil = left.taken?.until ?? noted?.takenUntil;
  if (status === undefined || noted === undefined) {
    const none = { carried: 0, room: 0, left: left.sure, taken: 0 };
    return { people: actual.desired, before: status, ...none, takenUntil };
  }
  const surge = withLeft(noted, status, left);
  // Fewer than noted: another update began, or their records have had their day.
  const known = Math.min(surge.left ?? 0, left.most);
  const least = Math.max(0, left.sure - known);
  const most = Math.max(least, left.most - known);
  // Each takes its place along when it goes, which is nobody's wish to have fewer.
  const others = left.taken?.count ?? 0;
  const last = lastOf(status, surge, { ...actual, desired: actual.desired + least + others });
  const gone = Math.max(least, Math.min(most, last.desired - actual.desired - others));
  // Those beyond what was the update's make the group as small as it is asked to be.
  const stays = Math.max(0, last.carried - gone);
  const taken = Math.min(others, stays);
  const carried = stays - taken;
  const { maxSize, room } = last;
  const before = { desired: last.desired - gone - stays, maxSize };
  const people = actual.desired - carried;
  return { people, before, carried, room, left: known + gone, taken, takenUntil };
};
