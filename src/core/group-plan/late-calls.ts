// Calls that set a group's size, where several processes take turns to lead: what a pass is about
// to ask for is noted, and what an earlier leader's call did, sent late, is not read as a wish.
// Makes no call itself.

import type { EpochMs } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import type { NodeGroup, NodeGroupStatus } from '../../api/nodegroup.ts';
import type { SizeChange, Sizes } from '../../api/plan.ts';
import {
  type GroupSizes,
  type Left,
  leftAnew,
  notedCalls,
  sizeChange,
  sizesWithoutLateCall,
  type WantedSizes,
} from '../nodegroup/index.ts';
import { sizesOf } from './members.ts';
import { type SizesNow, withRoom } from './requests.ts';
import { loweredBy, type ScaleIn } from './scale-in.ts';

/** When it is decided, and in whose term. */
export interface Moment {
  readonly now: EpochMs;
  /** Absent: no other process ever leads. */
  readonly epoch?: number | undefined;
}

const seenNow = (
  { now, epoch }: Moment,
  { status }: NodeGroup,
  scaling: ScalingGroup,
  left: Left,
): GroupSizes => ({
  epoch,
  actual: sizesOf(scaling),
  told: status,
  isShrinking:
    status?.scaleIn !== undefined ||
    left.most > (status?.surge?.left ?? 0) ||
    (left.taken?.count ?? 0) > 0,
  gone: leftAnew(status?.surge, left) + (left.taken?.count ?? 0),
  now,
});

/**
 * Both as what people want is read from them. `late`: what an earlier leader's call had changed of
 * that.
 */
export const readSizes = (
  moment: Moment,
  group: NodeGroup,
  scaling: ScalingGroup,
  left: Left,
): {
  readonly group: NodeGroup;
  readonly scaling: ScalingGroup;
  readonly late: Partial<Sizes>;
} => {
  const { status } = group;
  const seen = seenNow(moment, group, scaling, left);
  const late = sizesWithoutLateCall(status?.sizeCalls, seen);
  if (status === undefined || Object.keys(late).length === 0) return { group, scaling, late: {} };
  const { desired: desiredCapacity = scaling.desiredCapacity, ...bounds } = late;
  // As it was told then: those that have left since had their places.
  const told = late.desired === undefined ? late : { ...late, desired: late.desired + seen.gone };
  return {
    group: { ...group, status: { ...status, ...told } },
    scaling: { ...scaling, ...bounds, desiredCapacity },
    late,
  };
};

/**
 * The change that the pass makes of the group's sizes, and what is to stand in the status before
 * its calls.
 */
export const planCalls = (
  moment: Moment,
  group: NodeGroup,
  scaling: ScalingGroup,
  asked: {
    /** `lower`: what an update asks for itself. */
    readonly sums: WantedSizes & { readonly lower: number | undefined };
    readonly surge: SizesNow['surge'];
    readonly isUpdating: boolean;
    readonly scaleIn: ScaleIn | undefined;
    readonly late: Partial<Sizes>;
    readonly left: Left;
  },
): {
  readonly change: SizeChange | undefined;
  readonly sizeCalls: NonNullable<NodeGroupStatus['sizeCalls']>;
} => {
  const { sums, surge, scaleIn } = asked;
  const actual = sizesOf(scaling);
  const wanted = withRoom(surge, sums, asked.isUpdating);
  const change = sizeChange(wanted, actual);
  const { desiredCapacity, ...bounds } = change ?? {};
  const lower = sums.lower ?? (scaleIn && loweredBy(group, scaling, scaleIn));
  const desired = desiredCapacity ?? lower;
  const asks = { ...bounds, ...defined({ desired }) };
  // What did what is wanted anyway is no matter.
  const then: Sizes = { ...wanted, desired: wanted.target };
  const late: Partial<Sizes> = Object.fromEntries(
    Object.entries(asked.late).filter(([field]) => {
      const name = field as keyof Sizes;
      return then[name] !== actual[name];
    }),
  );
  const { sizeCalls } = group.status ?? {};
  const noted = notedCalls(sizeCalls, seenNow(moment, group, scaling, asked.left), { asks, late });
  return { change, sizeCalls: noted };
};
