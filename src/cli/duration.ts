// Durations in the form 30s, 15m, 2h, 1d, 1h30m. Never negative, never without a unit.
import { CommandError, exitCodes } from './context.ts';

const secondsPer: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const pattern = /^(?:\d+(?:\.\d+)?[smhd])+$/;

/** Seconds, or undefined when `text` is not a duration. */
export const parseDuration = (text: string): number | undefined => {
  if (!pattern.test(text)) return undefined;
  let total = 0;
  for (const part of text.matchAll(/(\d+(?:\.\d+)?)([smhd])/g)) {
    total += Number(part[1]) * (secondsPer[part[2] ?? ''] ?? 0);
  }
  return total;
};

/** `75` -> `1m15s`; like kubectl's ages, but with both units. */
export const formatDuration = (seconds: number): string => {
  const whole = Math.max(0, Math.round(seconds));
  const parts: string[] = [];
  let rest = whole;
  for (const [unit, size] of [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ] as const) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return parts.slice(0, 2).join('') || '0s';
};

/** Value of `--timeout` in milliseconds; `0s` means no limit. Throws CommandError. */
export const patienceMs = (text: string): number | undefined => {
  const seconds = parseDuration(text);
  if (seconds !== undefined) return seconds === 0 ? undefined : seconds * 1000;
  throw new CommandError(
    exitCodes.usage,
    `--timeout takes a duration such as 30s or 5m, not ${text}`,
  );
};

/** A `--timeout` that must be finite, in milliseconds. Throws CommandError. */
export const timeoutMs = (text: string): number => {
  const seconds = parseDuration(text);
  if (seconds === undefined || seconds === 0) {
    throw new CommandError(exitCodes.usage, `--timeout takes a duration such as 25m, not ${text}`);
  }
  return seconds * 1000;
};
