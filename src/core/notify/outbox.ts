// The outbox is derived: transitions that the objects show and that the cursor does not cover. The
// cursor is the only stored state, so a restart loses and repeats nothing. A process that dies
// between sending and storing sends again, with the same id.
import { type EpochMs, epochMs } from '../../api/brand.ts';
import type { Transition } from './transitions.ts';

export interface Cursor {
  /** Everything up to this time was delivered or given up. */
  readonly through: EpochMs;
  /** Ids after `through` that were delivered or given up. */
  readonly sent: readonly string[];
}

/** A status may be written this long after the time that it contains. */
export const lateByMs = 60_000;
/** At most this many wait for the receiver; the oldest ones are given up. */
export const maxPending = 1_000;
/** Bounds the stored cursor to about 300 KB, below a ConfigMap's 1 MiB. */
const maxSent = 4_000;

const inOrder = (a: Transition, b: Transition): number => a.at - b.at || (a.id < b.id ? -1 : 1);

export interface Outbox {
  /** Oldest first, at most `maxPending`. */
  readonly pending: readonly Transition[];
  /** Transitions given up because there were more than `maxPending`. */
  readonly dropped: readonly Transition[];
}

export const outboxOf = (transitions: readonly Transition[], cursor: Cursor): Outbox => {
  const sent = new Set(cursor.sent);
  const open = transitions
    .filter(({ at, id }) => at > cursor.through && !sent.has(id))
    .toSorted(inOrder);
  const surplus = Math.max(0, open.length - maxPending);
  return { pending: open.slice(surplus), dropped: open.slice(0, surplus) };
};

/** The cursor after `done` were delivered or given up and `open` were not. */
export const advanced = (
  cursor: Cursor,
  more: {
    readonly done: readonly Transition[];
    readonly open: readonly Transition[];
    readonly transitions: readonly Transition[];
    readonly now: EpochMs;
  },
): Cursor => {
  const { done, open, transitions, now } = more;
  const sent = new Set([...cursor.sent, ...done.map(({ id }) => id)]);
  const firstOpen = open.reduce((first, { at }) => Math.min(first, at), Number.POSITIVE_INFINITY);
  const known = transitions.filter(({ id }) => sent.has(id)).toSorted(inOrder);
  const oldestKept = known.at(-maxSent)?.at ?? 0;
  const settled = Math.min(now - lateByMs, firstOpen - 1);
  const through = Math.max(cursor.through, settled, oldestKept - 1);
  return {
    through: epochMs(through),
    sent: known.filter(({ at }) => at > through).map(({ id }) => id),
  };
};
