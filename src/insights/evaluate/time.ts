// Periods of the language (`5m`), and times rounded to them.
import { type Instant, Instant as Moment } from './values.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

type Unit =
  | { readonly kind: 'length'; readonly ms: number }
  | { readonly kind: 'months'; readonly months: number };

const length = (ms: number): Unit => ({ kind: 'length', ms });
const months = (count: number): Unit => ({ kind: 'months', months: count });

/** The units in the documentation of `bin` and `datefloor`. */
const units: Readonly<Record<string, Unit>> = {
  ms: length(1),
  msec: length(1),
  millisecond: length(1),
  s: length(second),
  sec: length(second),
  second: length(second),
  m: length(minute),
  min: length(minute),
  minute: length(minute),
  h: length(hour),
  hr: length(hour),
  hour: length(hour),
  d: length(day),
  day: length(day),
  w: length(7 * day),
  week: length(7 * day),
  mo: months(1),
  mon: months(1),
  month: months(1),
  q: months(3),
  qtr: months(3),
  quarter: months(3),
  y: months(12),
  yr: months(12),
  year: months(12),
};

export type Period =
  | { readonly kind: 'length'; readonly ms: number }
  | { readonly kind: 'months'; readonly months: number };

/** Undefined when the text is not a period. */
export const parsePeriod = (text: string): Period | undefined => {
  const match = /^([0-9]{1,9})([A-Za-z]+)$/.exec(text);
  const count = Number(match?.[1]);
  const word = (match?.[2] ?? '').toLowerCase();
  const singular = word.length > 2 ? word.replace(/s$/, '') : word;
  const name = Object.hasOwn(units, word) ? word : singular;
  const unit = Object.hasOwn(units, name) ? units[name] : undefined;
  if (unit === undefined || !(count > 0)) return undefined;
  return unit.kind === 'length'
    ? { kind: 'length', ms: unit.ms * count }
    : { kind: 'months', months: unit.months * count };
};

const monthStart = (index: number): number => Date.UTC(Math.floor(index / 12), index % 12);

/** Weeks start on Thursday, like the epoch: CloudWatch divides and has no calendar weeks. */
export const floorTo = (ms: number, period: Period): Instant => {
  if (period.kind === 'length') return new Moment(Math.floor(ms / period.ms) * period.ms);
  const date = new Date(ms);
  const index = date.getUTCFullYear() * 12 + date.getUTCMonth();
  return new Moment(monthStart(Math.floor(index / period.months) * period.months));
};

export const ceilTo = (ms: number, period: Period): Instant => {
  const floor = floorTo(ms, period);
  if (floor.ms === ms) return floor;
  if (period.kind === 'length') return new Moment(floor.ms + period.ms);
  const date = new Date(floor.ms);
  return new Moment(monthStart(date.getUTCFullYear() * 12 + date.getUTCMonth() + period.months));
};

/** The next bin. */
export const nextAfter = (binMs: number, period: Period): number => ceilTo(binMs + 1, period).ms;
