// Sizes that a leader is about to request from Auto Scaling, recorded before the call. A call to
// AWS cannot be fenced: the late call of a stalled leader takes effect and would look like a user's
// change. Pure.
import { type EpochMs, formatTime, parseTime } from '../../api/brand.ts';
import type { SizeCall } from '../../api/nodegroup.ts';
import type { Sizes } from '../../api/plan.ts';
import { isBetween } from './sizes.ts';

/** Longer than a process can stall and continue; after a longer stall it counts as dead. */
const remembersMs = 5 * 60_000;
/** A repeated call is recorded again, since its last try may be the one that arrives late. */
const renewsMs = 2 * 60_000;
/**
 * A call that took effect late is remembered until the group has its size back, which takes a
 * drain.
 */
const remembersArrivedMs = 60 * 60_000;
/** Each change of leader leaves at most one. */
const maxCalls = 5;

const fields = ['minSize', 'maxSize', 'desired'] as const;

export interface GroupSizes {
  /** The current leader's term; undefined where no other process can ever lead. */
  readonly epoch: number | undefined;
  /** The Auto Scaling group's sizes, and those in the status. */
  readonly actual: Sizes;
  readonly told: Sizes | undefined;
  /** Instances are being terminated with decrement, or just were. */
  readonly isShrinking: boolean;
  /** Instances that Drover's calls terminated with decrement since the status was written. */
  readonly gone: number;
  readonly now: EpochMs;
}

const isRemembered = ({ at, instead }: SizeCall, now: EpochMs): boolean => {
  const since = parseTime(at);
  const forMs = instead === undefined ? remembersMs : remembersArrivedMs;
  return since !== undefined && now - since < forMs;
};

const isNothing = (sizes: Partial<Sizes>): boolean => Object.keys(sizes).length === 0;

/** The sizes reduced by the instances terminated since. */
const withoutGone = ({ desired, ...bounds }: Partial<Sizes>, gone: number): Partial<Sizes> =>
  desired === undefined ? bounds : { ...bounds, desired: Math.max(0, desired - gone) };

/** The sizes from before this call, for the fields that the call visibly changed. */
const sizesBefore = (call: SizeCall, seen: GroupSizes): Partial<Sizes> => {
  const { actual, told, isShrinking, gone } = seen;
  const before: { -readonly [field in keyof Sizes]?: Sizes[field] } = {};
  const stood = withoutGone(call.instead ?? told ?? {}, gone);
  const arrives = fields.every((field) => (call[field] ?? actual[field]) === actual[field]);
  for (const field of fields) {
    const asked = call[field];
    const was = stood[field];
    if (asked === undefined || was === undefined || was === actual[field]) continue;
    // A lower desired size may result from instances terminated with decrement.
    if (field === 'desired' && asked < was && isShrinking) continue;
    // After a late call, drains lower the size one by one, so values in between show the call, too.
    const shows = call.instead ? isBetween(actual[field], was, asked) : arrives;
    if (shows) before[field] = was;
  }
  return before;
};

/**
 * The sizes without the effect of a call that an earlier leader sent and that arrived after the
 * change of leader. The user's request is derived from these. Empty if no such call took effect.
 */
export const sizesWithoutLateCall = (
  calls: readonly SizeCall[] | undefined,
  seen: GroupSizes,
): Partial<Sizes> => {
  const { epoch, actual, now, gone } = seen;
  if (calls === undefined || epoch === undefined) return {};
  const since = { ...actual, desired: actual.desired + gone };
  const isOwn = (call: SizeCall): boolean =>
    call.epoch === epoch && fields.every((field) => (call[field] ?? since[field]) === since[field]);
  if (calls.some(isOwn)) return {};
  const explanations = calls
    .filter((call) => call.epoch !== epoch && isRemembered(call, now))
    .map((call) => sizesBefore(call, seen));
  // An older call may have set one of the fields that a newer call set together; the call that
  // explains the most fields applies.
  return explanations.reduce(
    (best, one) => (Object.keys(one).length > Object.keys(best).length ? one : best),
    {},
  );
};

/**
 * The calls to record before this pass acts: the sizes that it requests (`asks`), and the calls of
 * earlier leaders. `late`: the result of `sizesWithoutLateCall`, without fields whose value is the
 * requested one.
 */
export const notedCalls = (
  calls: readonly SizeCall[] | undefined,
  seen: GroupSizes,
  { asks, late }: { readonly asks: Partial<Sizes>; readonly late: Partial<Sizes> },
): readonly SizeCall[] => {
  const { epoch, now } = seen;
  if (epoch === undefined) return [];
  // Expired records are removed with the next write.
  const kept = (calls ?? []).filter(
    (call) => call.epoch !== epoch && (isNothing(asks) || isRemembered(call, now)),
  );
  const earlier = kept.flatMap((call): readonly SizeCall[] => {
    const before = sizesBefore(call, seen);
    if (call.instead !== undefined) {
      const stood = withoutGone(call.instead, seen.gone);
      return isNothing(before) ? [] : [{ ...call, instead: { ...stood, ...before } }];
    }
    if (isNothing(before) || isNothing(late)) return [call];
    const instead = fields.filter((field) => late[field] !== undefined && field in before);
    return instead.length === 0
      ? [call]
      : [{ ...call, instead: Object.fromEntries(instead.map((field) => [field, late[field]])) }];
  });
  const own = (calls ?? []).find(
    (call) =>
      call.epoch === epoch &&
      fields.every((field) => call[field] === asks[field]) &&
      now - (parseTime(call.at) ?? 0) < renewsMs,
  );
  const asked = isNothing(asks) ? [] : [own ?? { ...asks, epoch, at: formatTime(now) }];
  return [...earlier.slice(-maxCalls + 1), ...asked];
};
