// Civil time in time zones: what a zone's clock shows at an instant, and the instants at which it
// shows a time. Uses the runtime's zone data (Intl) and reads no clock. Pure.
import { type EpochMs, epochMs } from '../../../api/brand.ts';

/** A civil time encoded as if it were UTC: for arithmetic and comparison, not an instant. */
export type CivilMs = number;

const formats = new Map<string, Intl.DateTimeFormat | undefined>();

const formatOf = (timeZone: string): Intl.DateTimeFormat | undefined => {
  if (formats.has(timeZone)) return formats.get(timeZone);
  let format: Intl.DateTimeFormat | undefined;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    // RangeError: no zone of that name.
  }
  formats.set(timeZone, format);
  return format;
};

export const isTimeZone = (name: string): boolean => formatOf(name) !== undefined;

/** Never throws: an unknown zone counts as UTC. Check isTimeZone first. */
export const civilOf = (timeZone: string, at: number): CivilMs => {
  const parts = formatOf(timeZone)?.formatToParts(at);
  if (parts === undefined) return at;
  const read = (type: string): number =>
    Number(parts.find((part) => part.type === type)?.value ?? 0);
  const whole = Date.UTC(
    read('year'),
    read('month') - 1,
    read('day'),
    read('hour'),
    read('minute'),
    read('second'),
  );
  return whole + (((at % 1000) + 1000) % 1000);
};

const dayMs = 86_400_000;

/**
 * The instants at which the zone's clock shows `civil`, earliest first: two if clocks are set back.
 * If `civil` is skipped, the instant of the clock change.
 */
export const instantsOf = (timeZone: string, civil: CivilMs): readonly EpochMs[] => {
  const offsetAt = (at: number): number => civilOf(timeZone, at) - at;
  const [before, after] = [offsetAt(civil - dayMs), offsetAt(civil + dayMs)];
  const both = [...new Set([civil - before, civil - after])].toSorted((a, b) => a - b);
  const shown = both.filter((at) => civilOf(timeZone, at) === civil);
  if (shown.length > 0) return shown.map(epochMs);
  // Skipped: the first instant at which the clock is past it, to the second.
  let [low, high] = [Math.min(...both), Math.max(...both)];
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2000) * 1000;
    if (civilOf(timeZone, middle) > civil) high = middle;
    else low = middle;
  }
  return [epochMs(high)];
};
