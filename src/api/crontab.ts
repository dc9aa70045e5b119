// Times of a crontab line with five fields: the rules of POSIX and the common extensions (steps,
// names, 7 for Sunday). Works on wall-clock times, without zones or date arithmetic. Pure.

export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /**
   * The hour field is `*` or a step of it. Such a line also matches in an hour that occurs twice
   * because clocks are set back.
   */
  readonly isEveryHour: boolean;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>;
  /** Both day fields are restricted: a day that matches either counts (POSIX, crontab). */
  readonly isEitherDay: boolean;
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const minute: Field = { name: 'minute', min: 0, max: 59 };
const hour: Field = { name: 'hour', min: 0, max: 23 };
const day: Field = { name: 'day of month', min: 1, max: 31 };
const month: Field = {
  name: 'month',
  min: 1,
  max: 12,
  names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
};
/** 7 is Sunday too, as in all current crontabs. */
const weekday: Field = {
  name: 'day of week',
  min: 0,
  max: 7,
  names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
};
const fields = [minute, hour, day, month, weekday] as const;

const numberOf = ({ min, max, names }: Field, text: string): number | undefined => {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + min;
  if (!/^\d{1,2}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= min && value <= max ? value : undefined;
};

/** One element of a list: `*`, a value or a range, optionally with a step. */
const elementOf = (field: Field, text: string): readonly number[] | undefined => {
  const [range = '', step, ...more] = text.split('/');
  if (more.length > 0 || (step !== undefined && !/^[1-9]\d?$/.test(step))) return undefined;
  const [first = '', last, ...rest] = range.split('-');
  if (rest.length > 0) return undefined;
  const isAll = range === '*';
  const from = isAll ? field.min : numberOf(field, first);
  // `5/10` starts at 5 and continues to the end, as in Kubernetes' CronJob.
  const only = step === undefined ? from : field.max;
  const until = isAll ? field.max : last === undefined ? only : numberOf(field, last);
  if (from === undefined || until === undefined || from > until) return undefined;
  const by = Number(step ?? 1);
  const count = Math.floor((until - from) / by) + 1;
  return Array.from({ length: count }, (_, index) => from + index * by);
};

const fieldOf = (field: Field, text: string): readonly number[] | string => {
  const all = new Set<number>();
  for (const element of text.split(',')) {
    const values = elementOf(field, element);
    if (values === undefined) {
      const names =
        field.names === undefined ? '' : ` or ${field.names[0]} to ${field.names.at(-1)}`;
      return (
        `"${text}" is no ${field.name}: *, a number from ${field.min} to ${field.max}${names}, ` +
        'a range, a list of these, a step behind a /'
      );
    }
    for (const value of values) all.add(value);
  }
  return [...all].toSorted((a, b) => a - b);
};

/** The parsed times, or a sentence that describes the error. */
export const parseCron = (text: string): Cron | string => {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== fields.length) {
    return (
      `"${text}" has ${parts.length} fields: minute, hour, day of month, month and day of ` +
      'week are five'
    );
  }
  const values: (readonly number[])[] = [];
  for (const [index, field] of fields.entries()) {
    const value = fieldOf(field, parts[index] ?? '');
    if (typeof value === 'string') return value;
    values.push(value);
  }
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = values;
  const isRestricted = (index: number): boolean => parts[index]?.startsWith('*') === false;
  return {
    minutes,
    hours,
    isEveryHour: !isRestricted(1),
    days: new Set(days),
    months: new Set(months),
    weekdays: new Set(weekdays.map((value) => value % 7)),
    isEitherDay: isRestricted(2) && isRestricted(4),
  };
};

export interface CivilDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

export const isDayOf = (
  cron: Cron,
  { month: inMonth, day: date, weekday: of }: Omit<CivilDay, 'year'>,
): boolean => {
  if (!cron.months.has(inMonth)) return false;
  const [isDate, isWeekday] = [cron.days.has(date), cron.weekdays.has(of)];
  return cron.isEitherDay ? isDate || isWeekday : isDate && isWeekday;
};
