// Ages as in kubectl's server-side tables, by apimachinery's HumanDuration: two units while the
// first is small, one otherwise.

/** `seconds` may be negative when a clock lags behind. */
export const humanDuration = (seconds: number): string => {
  const whole = Math.trunc(seconds);
  if (whole < -1) return '<invalid>';
  if (whole < 0) return '0s';
  if (whole < 120) return `${whole}s`;
  const minutes = Math.floor(whole / 60);
  const both = (a: number, unitA: string, b: number, unitB: string): string =>
    b === 0 ? `${a}${unitA}` : `${a}${unitA}${b}${unitB}`;
  if (minutes < 10) return both(minutes, 'm', whole % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return both(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return both(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? both(years, 'y', days % 365, 'd') : `${years}y`;
};

/** Age of an RFC 3339 time at `nowMs`; `<unknown>` without one, as kubectl prints. */
export const ageOf = (timestamp: unknown, nowMs: number): string => {
  if (typeof timestamp !== 'string' || timestamp === '') return '<unknown>';
  const at = Date.parse(timestamp);
  return Number.isNaN(at) ? '<unknown>' : humanDuration((nowMs - at) / 1000);
};
