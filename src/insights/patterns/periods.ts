// The range that `diff` compares with: as long as the requested one, and before it.

export type DiffPeriod = 'previous' | 'previousDay' | 'previousWeek' | 'previousMonth';

export const diffPeriods = ['previousDay', 'previousWeek', 'previousMonth'] as const;

/** Both ends inclusive, epoch milliseconds. */
export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
}

const dayMs = 86_400_000;

/** The same time of day a month earlier, or on the last day of a shorter month. */
const monthBefore = (ms: number): number => {
  const date = new Date(ms);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return Date.UTC(year, month - 1, Math.min(day, lastDay)) + (((ms % dayMs) + dayMs) % dayMs);
};

export const periodBefore = ({ startMs, endMs }: TimeRange, period: DiffPeriod): TimeRange => {
  const length = endMs - startMs;
  switch (period) {
    case 'previous':
      // An event at the very start belongs only to the requested range.
      return { startMs: startMs - length, endMs: startMs - 1 };
    case 'previousDay':
      return { startMs: startMs - dayMs, endMs: endMs - dayMs };
    case 'previousWeek':
      return { startMs: startMs - 7 * dayMs, endMs: endMs - 7 * dayMs };
    case 'previousMonth': {
      const start = monthBefore(startMs);
      return { startMs: start, endMs: start + length };
    }
  }
};

export const isWithin = ({ startMs, endMs }: TimeRange, ms: number): boolean =>
  ms >= startMs && ms <= endMs;
