// Values as short texts: durations, times, shares, names. Names come from the cluster and may
// contain any character: control and direction characters are shown as escapes, as on the command
// line.

/** `42s`, `4m 12s`, `3h 5m`, `2d 4h`. */
export const duration = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [days, hours, minutes] = [86_400, 3_600, 60].map((unit) => Math.floor(seconds / unit));
  if (days === undefined || hours === undefined || minutes === undefined) return '';
  if (days > 0) return hours % 24 === 0 ? `${days}d` : `${days}d ${hours % 24}h`;
  if (hours > 0) return minutes % 60 === 0 ? `${hours}h` : `${hours}h ${minutes % 60}m`;
  if (minutes > 0) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m ${seconds % 60}s`;
  return `${seconds}s`;
};

const two = (value: number): string => String(value).padStart(2, '0');

/** `14:03:09`, in UTC like everything else on the page. */
export const clockTime = (ms: number): string => {
  const at = new Date(ms);
  return `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`;
};

/** `11-27 14:03:09`. */
export const dayAndTime = (ms: number): string => {
  const at = new Date(ms);
  return `${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())} ${clockTime(ms)}`;
};

/** Matches a time in a server's text. `split` by it returns the times at odd positions. */
export const timePattern = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A server's text with its times as times of day. */
export const withClockTimes = (text: string): string =>
  text
    .split(timePattern)
    .map((part, at) => (at % 2 === 1 ? clockTime(Date.parse(part)) : part))
    .join('');

export const percent = (share: number | null): string =>
  share === null ? 'unknown' : `${Math.round(share * 100)} %`;

export const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

/** Control, format and separator characters as escapes: no name moves text or hides. */
export const visible = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, '0')}`;
  });

/** Names differ at both ends, so a long name is shortened in the middle. */
const maxName = 44;
export const cut = (name: string): string =>
  name.length <= maxName ? name : `${name.slice(0, 26)}…${name.slice(-16)}`;

/** EC2's names are equal after the first dot: `ip-192-168-25-149`. */
export const shortNode = (name: string): string =>
  cut(visible(name.replace(/^([^.]+)\.(?:[^.]+\.compute|ec2)\.internal$/, '$1')));

/** The same within a longer text. */
export const shortHosts = (text: string): string =>
  text.replace(/\b(ip-[\d-]+)\.(?:[\w-]+\.compute|ec2)\.internal\b/g, '$1');

/** Mebibytes and gibibytes. */
export const bytes = (value: number): string => {
  const mebi = value / 2 ** 20;
  if (mebi < 1) return value === 0 ? '0' : '< 1 Mi';
  return mebi < 1_024 ? `${Math.round(mebi)} Mi` : `${(mebi / 1_024).toFixed(1)} Gi`;
};

export const cores = (value: number): string =>
  value < 1 ? `${Math.round(value * 1_000)}m` : value.toFixed(1);
