// Sizes that a leader is about to ask Auto Scaling for, noted before it does. No call of the cloud
// can be fenced: what a leader that stood still sends when it wakes takes effect, and would look
// like the wish of somebody. Pure.
import { type EpochMs, formatTime, parseTime } from '../../api/brand.ts';
import type { SizeCall } from '../../api/nodegroup.ts';
import type { Sizes } from '../../api/plan.ts';
import { isBetween } from './sizes.ts';

/** Longer than a process stands still that is not taken for dead, and goes on. */
const remembersMs = 5 * 60_000;
/** One that is tried again and again is noted anew: it may be the last try that arrives late. */
const renewsMs = 2 * 60_000;
/** One that arrived is remembered until the group is back, which takes a drain. */
const remembersArrivedMs = 60 * 60_000;
/** Each takeover leaves one at most. */
const maxCalls = 5;

const fields = ['minSize', 'maxSize', 'desired'] as const;

export interface GroupSizes {
  /** Of the term in which the question is asked; undefined: nobody else leads, ever. */
  readonly epoch: number | undefined;
  /** The Auto Scaling group now, and as the status told it last. */
  readonly actual: Sizes;
  readonly told: Sizes | undefined;
  /** Instances are being ended with their places, or just were. */
  readonly isShrinking: boolean;
  /** How many have been ended by our calls, their places included, since the status told of it. */
  readonly gone: number;
  readonly now: EpochMs;
}

const isRemembered = ({ at, instead }: SizeCall, now: EpochMs): boolean => {
  const since = parseTime(at);
  const forMs = instead === undefined ? remembersMs : remembersArrivedMs;
  return since !== undefined && now - since < forMs;
};

const isNothing = (sizes: Partial<Sizes>): boolean => Object.keys(sizes).length === 0;

/** Those that are gone had their places then. */
const withoutGone = ({ desired, ...bounds }: Partial<Sizes>, gone: number): Partial<Sizes> =>
  desired === undefined ? bounds : { ...bounds, desired: Math.max(0, desired - gone) };

/** The sizes that would stand where this call's do; nothing where it does not show. */
const sizesBefore = (call: SizeCall, seen: GroupSizes): Partial<Sizes> => {
  const { actual, told, isShrinking, gone } = seen;
  const before: { -readonly [field in keyof Sizes]?: Sizes[field] } = {};
  const stood = withoutGone(call.instead ?? told ?? {}, gone);
  const arrives = fields.every((field) => (call[field] ?? actual[field]) === actual[field]);
  for (const field of fields) {
    const asked = call[field];
    const was = stood[field];
    if (asked === undefined || was === undefined || was === actual[field]) continue;
    // Fewer are what each instance that is ended leaves behind.
    if (field === 'desired' && asked < was && isShrinking) continue;
    // On its way back by drains: each takes one away.
    const shows = call.instead ? isBetween(actual[field], was, asked) : arrives;
    if (shows) before[field] = was;
  }
  return before;
};

/**
 * The sizes that the group would have had not an earlier leader's call arrived after this one took
 * over: what people want is read from those. Nothing where no such call shows.
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
  for (const call of calls) {
    if (call.epoch === epoch || !isRemembered(call, now)) continue;
    const before = sizesBefore(call, seen);
    if (!isNothing(before)) return before;
  }
  return {};
};

/**
 * What to note before this pass' effects: the sizes that it is about to ask for (`asks`), and those
 * of earlier leaders. `late`: what `sizesWithoutLateCall` said, as far as it is not what is wanted
 * anyway.
 */
export const notedCalls = (
  calls: readonly SizeCall[] | undefined,
  seen: GroupSizes,
  { asks, late }: { readonly asks: Partial<Sizes>; readonly late: Partial<Sizes> },
): readonly SizeCall[] => {
  const { epoch, now } = seen;
  if (epoch === undefined) return [];
  // What is too old says nothing: it goes with the next note, which is written anyway.
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
