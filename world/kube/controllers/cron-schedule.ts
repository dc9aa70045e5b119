// When a CronJob's schedule falls due: five fields in a time zone, as robfig/cron reads them. Pure:
// times are world microseconds, zones come from the runtime's table. It never says what to start.
import { type Micros, microsPerSecond } from '../../kernel/index.ts';

export interface Schedule {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** A restricted day of the month and of the week are alternatives, as in every cron. */
  readonly anyDay: boolean;
  readonly anyWeekday: boolean;
  /** `@every`: a fixed distance instead of fields. */
  readonly everyMicros: Micros | undefined;
}

const minuteMicros = 60 * microsPerSecond;
/** As upstream: a schedule that names no time within five years names none. */
const searchDays = 366 * 5;

const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const dayNames = 'sun mon tue wed thu fri sat'.split(' ');

const descriptors: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

interface Field {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const numberIn = (text: string, field: Field): number | undefined => {
  const named = field.names?.indexOf(text.toLowerCase()) ?? -1;
  const value = named >= 0 ? named + field.min : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= field.min && value <= field.max ? value : undefined;
};

const fieldSet = (text: string, field: Field): ReadonlySet<number> | undefined => {
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const [range = '', stepText] = part.split('/');
    const step = stepText === undefined ? 1 : Number(stepText);
    if (!Number.isInteger(step) || step < 1) return undefined;
    const whole = range === '*' || range === '?';
    const [fromText = '', toText] = range.split('-');
    const from = whole ? field.min : numberIn(fromText, field);
    // `5/15` runs to the end of the field, `5` is one value.
    const open = stepText === undefined ? from : field.max;
    const to = whole ? field.max : toText === undefined ? open : numberIn(toText, field);
    if (from === undefined || to === undefined || to < from) return undefined;
    for (let value = from; value <= to; value += step) found.add(value);
  }
  return found;
};

const everyOf = (text: string): Micros | undefined => {
  const match = /^@every (?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text);
  if (match === null) return undefined;
  const [, hours = 0, minutes = 0, seconds = 0] = match.map((part) => Number(part ?? 0));
  const total = hours * 3600 + minutes * 60 + seconds;
  return total > 0 ? total * microsPerSecond : undefined;
};

/** Undefined when the text is no schedule. */
export const parseSchedule = (text: string): Schedule | undefined => {
  const trimmed = text.trim();
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...rest] = (
    descriptors[trimmed] ?? (trimmed.startsWith('@every') ? '* * * * *' : trimmed)
  ).split(/\s+/);
  const minutes = fieldSet(minute, { min: 0, max: 59 });
  const hours = fieldSet(hour, { min: 0, max: 23 });
  const days = fieldSet(day, { min: 1, max: 31 });
  const months = fieldSet(month, { min: 1, max: 12, names: monthNames });
  const weekdays = fieldSet(weekday, { min: 0, max: 6, names: dayNames });
  const everyMicros = everyOf(trimmed);
  if (!minutes || !hours || !days || !months || !weekdays || rest.length > 0) return undefined;
  if (trimmed.startsWith('@every') && everyMicros === undefined) return undefined;
  const any = (field: string): boolean => /^[*?]/.test(field);
  return {
    minutes,
    hours,
    days,
    months,
    weekdays,
    anyDay: any(day),
    anyWeekday: any(weekday),
    everyMicros,
  };
};

interface LocalTime {
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
}

/** Broken-down local time of an instant; undefined for a zone that the runtime does not know. */
export const localClock = (timeZone: string): ((at: Micros) => LocalTime) | undefined => {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      month: 'numeric',
      day: 'numeric',
      weekday: 'short',
      hour: 'numeric',
      minute: 'numeric',
    });
  } catch {
    return undefined;
  }
  return (at) => {
    const parts = new Map(
      format.formatToParts(Math.floor(at / 1000)).map(({ type, value }) => [type, value]),
    );
    const number = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type) ?? 0);
    return {
      month: number('month'),
      day: number('day'),
      weekday: dayNames.indexOf((parts.get('weekday') ?? '').toLowerCase()),
      hour: number('hour'),
      minute: number('minute'),
    };
  };
};

const dayMatches = (schedule: Schedule, local: LocalTime): boolean => {
  if (!schedule.months.has(local.month)) return false;
  const day = schedule.days.has(local.day);
  const weekday = schedule.weekdays.has(local.weekday);
  return schedule.anyDay || schedule.anyWeekday ? day && weekday : day || weekday;
};

/** The first time after `after` that the schedule names; undefined when there is none for years. */
export const nextTime = (
  schedule: Schedule,
  after: Micros,
  clock: (at: Micros) => LocalTime,
): Micros | undefined => {
  if (schedule.everyMicros !== undefined) return after + schedule.everyMicros;
  let at = (Math.floor(after / minuteMicros) + 1) * minuteMicros;
  const end = at + searchDays * 24 * 60 * minuteMicros;
  while (at < end) {
    const local = clock(at);
    if (!dayMatches(schedule, local)) {
      // Hours at a time, so that a day whose length a zone changes is not stepped over.
      at += (60 - local.minute) * minuteMicros;
    } else if (!schedule.hours.has(local.hour)) at += (60 - local.minute) * minuteMicros;
    else if (!schedule.minutes.has(local.minute)) at += minuteMicros;
    else return at;
  }
  return undefined;
};
