// Timestamps in API objects: parses RFC 3339 text, returns the UTC text that the API server stores,
// or Go's error message. Text arithmetic only; never reads a clock.

export type TimeText =
  | { readonly kind: 'ok'; readonly text: string }
  | { readonly kind: 'error'; readonly message: string };

const LAYOUT = '2006-01-02T15:04:05Z07:00';
const MICRO_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';

/** Parts of the layout in order: Go's name for the part, and its pattern. */
const PARTS: readonly (readonly [string, RegExp])[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d{2}/],
  ['-', /^-/],
  ['02', /^\d{2}/],
  ['T', /^T/],
  ['15', /^\d{2}/],
  [':', /^:/],
  ['04', /^\d{2}/],
  [':', /^:/],
  ['05', /^\d{2}/],
];
const FRACTION: readonly [string, RegExp] = ['.000000', /^\.\d{6}(?!\d)/];
const OPTIONAL_FRACTION: readonly [string, RegExp] = ['', /^([.,]\d+)?/];
const ZONE: readonly [string, RegExp] = ['Z07:00', /^(Z|[+-]\d{2}:\d{2})/];

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

function daysIn(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

interface Moment {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** Minutes since midnight. */
  readonly minutes: number;
}

/** Shifts a moment by less than two days. */
function shift(moment: Moment, byMinutes: number): Moment {
  let { year, month, day } = moment;
  let minutes = moment.minutes + byMinutes;
  while (minutes < 0) {
    minutes += 1440;
    day -= 1;
    if (day > 0) continue;
    month -= 1;
    if (month === 0) {
      month = 12;
      year -= 1;
    }
    day = daysIn(year, month);
  }
  while (minutes >= 1440) {
    minutes -= 1440;
    day += 1;
    if (day <= daysIn(year, month)) continue;
    day = 1;
    month += 1;
    if (month === 13) {
      month = 1;
      year += 1;
    }
  }
  return { year, month, day, minutes };
}

const pad = (value: number, width: number): string => String(value).padStart(width, '0');

/** Ranges of parts by layout name; a day's range is checked last. */
const RANGES: Readonly<Record<string, readonly [name: string, least: number, most: number]>> = {
  '01': ['month', 1, 12],
  '15': ['hour', 0, 23],
  '04': ['minute', 0, 59],
  '05': ['second', 0, 59],
};

function outOfRange(part: string, text: string): string | undefined {
  const [name, least, most] = RANGES[part] ?? ['', -Infinity, Infinity];
  const value = Number(text);
  return value < least || value > most ? name : undefined;
}

function zoneMinutes(zone: string): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return zone.startsWith('-') ? -minutes : minutes;
}

const rangeError = (text: string, part: string): TimeText => ({
  kind: 'error',
  message: `parsing time "${text}": ${part} out of range`,
});

/** Fast path for times that the server wrote, on days that every month has: the common case. */
const CANONICAL =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{6})?Z$/;

/** `micro`: a MicroTime, which requires and keeps six fractional digits. */
export function normalizeTime(text: string, micro: boolean): TimeText {
  const canonical = CANONICAL.exec(text);
  if (canonical !== null && micro === (canonical[1] !== undefined)) return { kind: 'ok', text };
  const parts = [...PARTS, micro ? FRACTION : OPTIONAL_FRACTION, ZONE];
  const found: string[] = [];
  let rest = text;
  for (const [name, pattern] of parts) {
    const match = pattern.exec(rest)?.[0];
    if (match === undefined) {
      const layout = micro ? MICRO_LAYOUT : LAYOUT;
      const message = `parsing time "${text}" as "${layout}": cannot parse "${rest}" as "${name}"`;
      return { kind: 'error', message };
    }
    const wrong = outOfRange(name, match);
    if (wrong !== undefined) return rangeError(text, wrong);
    found.push(match);
    rest = rest.slice(match.length);
  }
  if (rest !== '')
    return { kind: 'error', message: `parsing time "${text}": extra text: "${rest}"` };
  const numbers = [0, 2, 4, 6, 8, 10].map((index) => Number(found[index]));
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
  if (day < 1 || day > daysIn(year, month)) return rangeError(text, 'day');
  const fraction = found[11] ?? '';
  const local = { year, month, day, minutes: hour * 60 + minute };
  const utc = shift(local, -zoneMinutes(found[12] ?? 'Z'));
  const date = `${pad(utc.year, 4)}-${pad(utc.month, 2)}-${pad(utc.day, 2)}`;
  const clock = `${pad(Math.floor(utc.minutes / 60), 2)}:${pad(utc.minutes % 60, 2)}`;
  return { kind: 'ok', text: `${date}T${clock}:${pad(second, 2)}${micro ? fraction : ''}Z` };
}

/** Days since 1970-01-01 as a proleptic Gregorian date (Howard Hinnant's civil_from_days). */
function dateOfDay(days: number): Omit<Moment, 'minutes'> {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const leaps = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  const dayOfYear = dayOfEra - (365 * yearOfEra + leaps);
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const day = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** Seconds and nanoseconds since 1970 as the text of a Time, or of a MicroTime. */
export function formatTime(seconds: number, nanos: number, micro: boolean): string {
  const days = Math.floor(seconds / 86_400);
  const inDay = seconds - days * 86_400;
  const { year, month, day } = dateOfDay(days);
  const date = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
  const clock = [Math.floor(inDay / 3600), Math.floor(inDay / 60) % 60, inDay % 60]
    .map((part) => pad(part, 2))
    .join(':');
  return `${date}T${clock}${micro ? `.${pad(Math.floor(nanos / 1000), 6)}` : ''}Z`;
}
