// When a CronJob's schedule is due: five fields in a time zone, as robfig/cron parses them. Pure:
// times are world microseconds, zones come from the runtime's table. Never decides what to start.
import { type Cron, isDayOf, parseCron } from '../../../src/api/crontab.ts';
import { type Micros, microsPerSecond } from '../../kernel/index.ts';

export type Schedule =
  | { readonly kind: 'crontab'; readonly cron: Cron }
  /** `@every`: a fixed interval instead of fields. */
  | { readonly kind: 'every'; readonly micros: Micros };

const minuteMicros = 60 * microsPerSecond;
/** As upstream: a schedule without a match within five years has no next time. */
const searchDays = 366 * 5;

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

const everyOf = (text: string): Micros | undefined => {
  const match = /^@every (?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text);
  if (match === null) return undefined;
  const [, hours = 0, minutes = 0, seconds = 0] = match.map((part) => Number(part ?? 0));
  const total = hours * 3600 + minutes * 60 + seconds;
  return total > 0 ? total * microsPerSecond : undefined;
};

/** Undefined when the text is not a schedule: robfig/cron reads `?` as `*` and rejects day 7. */
export const parseSchedule = (text: string): Schedule | undefined => {
  const trimmed = text.trim();
  if (trimmed.startsWith('@every')) {
    const micros = everyOf(trimmed);
    return micros === undefined ? undefined : { kind: 'every', micros };
  }
  const line = (descriptors[trimmed] ?? trimmed).replaceAll('?', '*');
  if (/(?:^|[,-])7/.test(line.split(/\s+/)[4] ?? '')) return undefined;
  const cron = parseCron(line);
  return typeof cron === 'string' ? undefined : { kind: 'crontab', cron };
};

interface LocalTime {
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
}

/** Local time of an instant, in fields; undefined for a zone that the runtime does not know. */
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

/** The first scheduled time after `after`; undefined when there is none within the search limit. */
export const nextTime = (
  schedule: Schedule,
  after: Micros,
  clock: (at: Micros) => LocalTime,
): Micros | undefined => {
  if (schedule.kind === 'every') return after + schedule.micros;
  const { cron } = schedule;
  let at = (Math.floor(after / minuteMicros) + 1) * minuteMicros;
  const end = at + searchDays * 24 * 60 * minuteMicros;
  while (at < end) {
    const local = clock(at);
    if (!isDayOf(cron, local)) {
      // Steps by hours, so that a day whose length the zone changes is not skipped.
      at += (60 - local.minute) * minuteMicros;
    } else if (!cron.hours.includes(local.hour)) at += (60 - local.minute) * minuteMicros;
    else if (!cron.minutes.includes(local.minute)) at += minuteMicros;
    else return at;
  }
  return undefined;
};
