// Whether steps of an update may begin, by maintenance windows and freezes, and when that changes
// next. The group is open if any window is open; a freeze closes all windows. Reads no clock. Pure.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../../api/brand.ts';
import { type CivilDay, type Cron, isDayOf, parseCron } from '../../../api/crontab.ts';
import type { Freeze, MaintenanceWindow, UpdatePacing } from '../../../api/update-pacing.ts';
import { type CivilMs, civilOf, instantsOf, isTimeZone } from './zone.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Around 2100 there is no February 29 for eight years. */
const mostDaysAhead = 8 * 366;
/**
 * Bounds the search through consecutive windows: more than a day of windows of one minute. Longer
 * sequences count as endless.
 */
const mostInARow = 1500;

interface Schedule {
  readonly cron: Cron;
  readonly timeZone: string;
  readonly durationMs: number;
  /** Cached starts by civil day; days with a clock change are expensive to compute. */
  readonly known: Map<CivilMs, readonly number[]>;
}

const scheduleOf = ({
  cron: text,
  timeZone = 'UTC',
  durationSeconds,
}: MaintenanceWindow): Schedule | string => {
  if (!isTimeZone(timeZone)) return `"${timeZone}" is no time zone of the IANA database`;
  const cron = parseCron(text);
  if (typeof cron === 'string') return cron;
  return { cron, timeZone, durationMs: durationSeconds * 1000, known: new Map() };
};

const civilDay = (at: CivilMs): CivilDay => {
  const date = new Date(at);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
  };
};

/** The times of one civil day that match the cron line, in order. */
const timesOf = ({ cron }: Schedule, midnight: CivilMs): readonly CivilMs[] => {
  if (!isDayOf(cron, civilDay(midnight))) return [];
  return cron.hours.flatMap((hour) =>
    cron.minutes.map((minute) => midnight + hour * hourMs + minute * minuteMs),
  );
};

/**
 * The starts of one civil day in order of time. A time that occurs twice counts once, unless the
 * line matches every hour.
 */
const findStarts = (schedule: Schedule, midnight: CivilMs): readonly number[] => {
  const { cron, timeZone } = schedule;
  const times = timesOf(schedule, midnight);
  if (times.length === 0) return [];
  const before = civilOf(timeZone, midnight - dayMs) - (midnight - dayMs);
  const after = civilOf(timeZone, midnight + 2 * dayMs) - (midnight + 2 * dayMs);
  // Fast path for days without a clock change.
  if (before === after) return times.map((time) => time - before);
  const starts = times.flatMap((time) => {
    const all = instantsOf(timeZone, time);
    return cron.isEveryHour ? all : all.slice(0, 1);
  });
  return [...new Set<number>(starts)].toSorted((a, b) => a - b);
};

const startsOf = (schedule: Schedule, midnight: CivilMs): readonly number[] => {
  const known = schedule.known.get(midnight);
  if (known !== undefined) return known;
  const starts = findStarts(schedule, midnight);
  schedule.known.set(midnight, starts);
  return starts;
};

const midnightOf = (civil: CivilMs): CivilMs => Math.floor(civil / dayMs) * dayMs;

/** The latest start at or before `at`, among those whose window could still be open. */
const lastStart = (schedule: Schedule, at: number): number | undefined => {
  const { timeZone, durationMs } = schedule;
  const civil = civilOf(timeZone, at);
  const first = midnightOf(civil - durationMs) - dayMs;
  for (let midnight = midnightOf(civil); midnight >= first; midnight -= dayMs) {
    const start = startsOf(schedule, midnight).findLast((one) => one <= at);
    if (start !== undefined) return start;
  }
  return undefined;
};

/** The earliest start after `at`; undefined if there is none. */
const nextStart = (schedule: Schedule, at: number): number | undefined => {
  // A time skipped at the end of a day starts on the next day, so search from the day before.
  const first = midnightOf(civilOf(schedule.timeZone, at)) - dayMs;
  for (let day = 0; day <= mostDaysAhead; day++) {
    const start = startsOf(schedule, first + day * dayMs).find((one) => one > at);
    if (start !== undefined) return start;
  }
  return undefined;
};

const endOf = (schedule: Schedule, at: number): number =>
  (lastStart(schedule, at) ?? Number.NEGATIVE_INFINITY) + schedule.durationMs;

/** When all windows open at `at`, and those that open meanwhile, have closed. */
const closesAt = (schedules: readonly Schedule[], at: number): number => {
  let until = at;
  for (let times = 0; times < mostInARow; times++) {
    const next = Math.max(until, ...schedules.map((one) => endOf(one, until)));
    if (next === until) return until;
    until = next;
  }
  return Number.POSITIVE_INFINITY;
};

interface Span {
  readonly from: number;
  readonly until: number;
  readonly reason: string | undefined;
}

const spanOf = ({ from, until, reason }: Freeze): Span => ({
  from: parseTime(from) ?? Number.POSITIVE_INFINITY,
  until: parseTime(until) ?? Number.NEGATIVE_INFINITY,
  reason,
});

const frozenAt = (spans: readonly Span[], at: number): Span | undefined =>
  spans
    .filter(({ from, until }) => from <= at && at < until)
    .toSorted((a, b) => b.until - a.until)[0];

export type WindowState =
  /** Open until `until`; absent: for more than a day. */
  | { readonly kind: 'open'; readonly until?: EpochMs }
  /** `until`: when steps may begin again; absent: not foreseeable. */
  | {
      readonly kind: 'closed';
      readonly by: 'Window' | 'Freeze';
      readonly reason: string;
      readonly until?: EpochMs;
    };

interface Calendar {
  readonly schedules: readonly Schedule[];
  readonly faults: readonly string[];
  readonly spans: readonly Span[];
  readonly isRestricted: boolean;
  readonly isClosed: boolean;
}

const calendarOf = ({ windows = [], windowDefault, freezes = [] }: UpdatePacing): Calendar => {
  const all = windows.map(scheduleOf);
  return {
    schedules: all.filter((one) => typeof one !== 'string'),
    faults: all.filter((one) => typeof one === 'string'),
    spans: freezes.map(spanOf),
    isRestricted: windows.length > 0,
    isClosed: windows.length === 0 && windowDefault === 'Closed',
  };
};

const inWindow = ({ schedules, isRestricted, isClosed }: Calendar, at: number): boolean =>
  !isClosed && (!isRestricted || schedules.some((one) => endOf(one, at) > at));

/** Number of consecutive freezes searched for the next opening. */
const mostTries = 100;

/** The earliest time from `at` on that is inside a window and outside every freeze. */
const opensAt = (calendar: Calendar, at: number): EpochMs | undefined => {
  if (calendar.isClosed) return undefined;
  let time = at;
  for (let tries = 0; tries < mostTries; tries++) {
    const frozen = frozenAt(calendar.spans, time);
    if (frozen !== undefined) {
      time = frozen.until;
      continue;
    }
    if (inWindow(calendar, time)) return epochMs(time);
    const starts = calendar.schedules.flatMap((one) => nextStart(one, time) ?? []);
    if (starts.length === 0) return undefined;
    time = Math.min(...starts);
  }
  return undefined;
};

/** Maximum length of a reason that the status accepts. */
const mostTold = 2_000;

const neverOpen = ({ faults }: Calendar): string =>
  faults.length === 0 ? '' : `. Never open: ${faults.join('; ')}`.slice(0, mostTold);

const noWindow =
  'no maintenance window is defined and windowDefault is Closed: add one to ' +
  'spec.updateConfig.windows';

const closedReason = (calendar: Calendar, until: EpochMs | undefined): string => {
  if (calendar.isClosed) return noWindow;
  const next =
    until === undefined ? 'no window opens any more' : `the next opens at ${formatTime(until)}`;
  return `outside the maintenance windows, ${next}${neverOpen(calendar)}`;
};

/** If no window opens after the freeze, the reason says that, too. */
const frozenReason = (
  calendar: Calendar,
  { until, reason }: Span,
  opens: EpochMs | undefined,
): string => {
  const why = reason === undefined ? '' : `: ${reason}`;
  const frozen = `frozen until ${formatTime(epochMs(until))}${why}`;
  if (opens !== undefined) return `${frozen}${neverOpen(calendar)}`;
  const after = calendar.isClosed ? noWindow : `no window opens any more${neverOpen(calendar)}`;
  return `${frozen}; and after that ${after}`;
};

/**
 * Windows that never open because their cron line or time zone is invalid, each with the reason.
 */
export const windowFaults = (pacing: UpdatePacing): readonly string[] => calendarOf(pacing).faults;

const within = (until: EpochMs | undefined): { readonly until?: EpochMs } =>
  until === undefined ? {} : { until };

export const windowState = (pacing: UpdatePacing, now: EpochMs): WindowState => {
  const calendar = calendarOf(pacing);
  const frozen = frozenAt(calendar.spans, now);
  if (frozen !== undefined) {
    const opens = opensAt(calendar, now);
    const reason = frozenReason(calendar, frozen, opens);
    return { kind: 'closed', by: 'Freeze', reason, ...within(opens) };
  }
  if (!inWindow(calendar, now)) {
    const until = opensAt(calendar, now);
    return {
      kind: 'closed',
      by: 'Window',
      reason: closedReason(calendar, until),
      ...within(until),
    };
  }
  const close = calendar.isRestricted
    ? closesAt(calendar.schedules, now)
    : Number.POSITIVE_INFINITY;
  const freeze = calendar.spans.filter(({ from, until }) => from > now && until > from);
  const until = Math.min(close, ...freeze.map(({ from }) => from));
  return { kind: 'open', ...within(Number.isFinite(until) ? epochMs(until) : undefined) };
};
