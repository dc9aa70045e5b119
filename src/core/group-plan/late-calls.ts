// Calls that set a group's size, with several processes as leader in turn. Each pass records its
// calls first, so that a late call of an earlier leader is not taken for a user's change. Makes no
// call itself.

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

/** The time and the leader's term of a decision. */
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
 * The group and its Auto Scaling group without the effects of late calls. `late`: the sizes that a
 * late call changed, as they were before it.
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
  // The status still counts instances that have been terminated since.
  const told = late.desired === undefined ? late : { ...late, desired: late.desired + seen.gone };
  return {
    group: { ...group, status: { ...status, ...told } },
    scaling: { ...scaling, ...bounds, desiredCapacity },
    late,
  };
};

/** The size change of this pass, and the calls to record in the status before they are made. */
export const planCalls = (
  moment: Moment,
  group: NodeGroup,
  scaling: ScalingGroup,
  asked: {
    /** `lower`: the lower desired size that an update requests itself. */
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
  // A late call that had the requested effect is irrelevant.
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
